"""The tools that debates can use."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from debates.serializers import ErrorSerializer
from debates.serializers_books import ToolSerializer
from tools_app import registry
from tools_app.base import Tool


class ToolsView(APIView):
    @extend_schema(
        summary="The tools that debates can use",
        description="Those that are not configured too, each with what it lacks.",
        responses={200: ToolSerializer(many=True), 401: ErrorSerializer},
    )
    def get(self, request: Request) -> Response:
        default = set(registry.default_names())
        return Response([_tool_payload(tool, default=name in default) for name, tool in registry.tools().items()])


def _tool_payload(tool: Tool, *, default: bool) -> dict[str, Any]:
    missing = tool.missing()
    return {
        "name": tool.name,
        "label": tool.label,
        "description": tool.description,
        "permission": tool.permission.value,
        "side_effects": tool.side_effects,
        "parameters": tool.parameters,
        "configured": not missing,
        "missing": missing,
        "default": default,
    }

"""For staff: the MCP servers, and their tools to read, to approve and to withdraw from models."""

import json
from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from tools_app.base import ToolFailure
from tools_app.cleaning import visible
from tools_app.mcp import catalogue, servers
from tools_app.models_mcp import McpServer, McpTool

SERVER_LIST, TOOL_LIST = "admin:tools_app_mcpserver_changelist", "admin:tools_app_mcptool_changelist"


@admin.register(McpServer)
class McpServerAdmin(admin.ModelAdmin[McpServer]):
    list_display = ("key", "place", "enabled")
    list_filter = ("enabled",)
    search_fields = ("key",)
    actions = ("list_tools",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.list_tools_of))
        return [path("<slug:key>/list-tools/", view, name="tools_app_mcpserver_list_tools"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """With the servers that have no row."""
        of_settings = {"of_settings": sorted(servers.of_settings()), "may_list": self.has_change_permission(request)}
        return super().changelist_view(request, of_settings | (extra_context or {}))

    def list_tools_of(self, request: HttpRequest, key: str) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        self._list(request, [key])
        return redirect(TOOL_LIST)

    @admin.action(description="List the tools of the selected servers", permissions=["change"])
    def list_tools(self, request: HttpRequest, queryset: QuerySet[McpServer]) -> None:
        self._list(request, queryset.values_list("key", flat=True))

    @admin.display(description="program or address")
    def place(self, server: McpServer) -> str:
        place = " ".join(server.command) or server.url
        return f"{place} (the setting MCP_SERVERS replaces it)" if server.key in servers.of_settings() else place

    def _list(self, request: HttpRequest, keys: Iterable[str]) -> None:
        for key in keys:
            try:
                refreshed = servers.refresh(key)
            except ToolFailure as failure:
                self.message_user(request, f"{key}: {failure}", messages.ERROR)
                continue
            self.message_user(request, f"{key}: {refreshed}.", messages.SUCCESS)
            for refusal in refreshed.refusals:
                self.message_user(request, f"{key}: {refusal}", messages.WARNING)


@admin.register(McpTool)
class McpToolAdmin(admin.ModelAdmin[McpTool]):
    """The permission alone can be edited. Approving shows everything that a model will read."""

    list_display = ("name", "server", "permission", "approved", "since_then", "listed_at")
    list_filter = ("approved", "changed", "server", "permission")
    search_fields = ("name", "title", "description")
    list_per_page = 50
    fields = (
        *("name", "server", "called_there", "permission", "approved", "since_then", "listed_at"),
        *("full_title", "full_description", "full_schema", "says_of_itself", "digest"),
    )
    readonly_fields = tuple(name for name in fields if name != "permission")
    actions = ("approve", "withdraw")

    class Media:
        css: ClassVar = {"all": ["admin-mcp.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: McpTool, form: Any, change: bool) -> None:
        obj.save(update_fields=["permission"])  # the rest may have become another while the form was open

    @admin.display(description="definition", ordering="changed")
    def since_then(self, tool: McpTool) -> str:
        """In words: the sign for "no" would look like a fault where nothing has changed."""
        return "has changed since it was approved" if tool.changed else "as it was"

    @admin.display(description="name at the server")
    def called_there(self, tool: McpTool) -> str:
        return visible(tool.wire_name)

    @admin.display(description="title")
    def full_title(self, tool: McpTool) -> str:
        return visible(tool.title) or "none"

    @admin.display(description="description")
    def full_description(self, tool: McpTool) -> str:
        return visible(tool.description) or "none"

    @admin.display(description="input schema")
    def full_schema(self, tool: McpTool) -> str:
        return visible(json.dumps(tool.input_schema, indent=2, ensure_ascii=False))

    @admin.display(description="hints")
    def says_of_itself(self, tool: McpTool) -> str:
        told = ", ".join(f"{name}: {'yes' if flag else 'no'}" for name, flag in tool.hints.items())
        return f"The server says of it: {told or 'nothing'}. It may be wrong."

    @admin.action(description="Approve the selected tools", permissions=["change"])
    def approve(self, request: HttpRequest, queryset: QuerySet[McpTool]) -> HttpResponse | None:
        if "seen" not in request.POST:
            return self._shown_for_approval(request, queryset)
        for tool in queryset:
            if catalogue.approve(tool, request.POST.get(f"digest_{tool.pk}", "")):
                self.log_change(request, tool, "Approved.")
                self.message_user(request, f"{tool} is approved as {tool.permission}.", messages.SUCCESS)
            else:
                message = f"{tool} has changed while you read it, and is not approved. Read it again."
                self.message_user(request, message, messages.WARNING)
        return None

    @admin.action(description="Withdraw the approval of the selected tools", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[McpTool]) -> None:
        for tool in queryset.filter(approved=True):
            catalogue.withdraw(tool)
            self.log_change(request, tool, "Approval withdrawn.")
            self.message_user(request, f"{tool} is not offered any more.", messages.SUCCESS)

    def _names(self, tool: McpTool) -> str:
        title = f", “{self.full_title(tool)}”" if tool.title else ""
        return f"Server {tool.server}, tool “{self.called_there(tool)}”{title}."

    def _shown_for_approval(self, request: HttpRequest, queryset: QuerySet[McpTool]) -> HttpResponse:
        shown = [
            (tool, self._names(tool), self.full_description(tool), self.full_schema(tool), self.says_of_itself(tool))
            for tool in queryset
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": "Approve tools of MCP servers",
            "opts": self.opts,
            "media": self.media,
            "shown": shown,
            "action_checkbox_name": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/tools_app/mcptool/approve.html", context)

"""A debate as it happens, for scripts: Server-Sent Events with JSON."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from accounts.authentication import authenticate
from debates import stream
from debates.api_errors import NOT_FOUND, error_body
from debates.heads import off_thread
from debates.models import Conversation


@csrf_exempt  # it changes nothing; without this, other methods would be answered with a page
@require_GET
async def events(request: HttpRequest, pk: uuid.UUID) -> HttpResponseBase:
    """Not a view of REST framework: that would keep a thread for each viewer."""
    refusal = await off_thread(_refusal, request, pk)
    return refusal or stream.event_stream(stream.json_frames(pk, stream.cursor(request)))


def _refusal(request: HttpRequest, pk: uuid.UUID) -> HttpResponse | None:
    user = authenticate(request)
    if user is None:
        told = error_body("not_authenticated", "Send a token: Authorization: Bearer act_...")
        return JsonResponse(told, status=401, headers={"WWW-Authenticate": 'Bearer realm="api"'})
    if not Conversation.objects.owned_by(user).filter(pk=pk).exists():
        return JsonResponse(error_body("not_found", NOT_FOUND), status=404)
    return None


_DESCRIPTION = """Server-Sent Events with JSON data:

| event | data |
| --- | --- |
| `status` | `status`, `end_reason`, `error`, `round`, `max_rounds`, `started_at`, `ended_at`, `totals`, `budget_tokens`, `budget_cost`, `budget_minutes`, `budget_used_up`, `approvals` as in `GET debates/{id}/` |
| `totals` | what was used so far, as `totals` in `GET debates/{id}/`: after each message, and when a turn begins anew: `prompt_tokens`, `completion_tokens`, `tokens`, `estimated`, `cost`, `cost_unknown`, `unpriced`, `requests`, `failed`, `minutes`, `seconds` |
| `turn` | `round`, `sender`, `model`, `waiting_s`, `thinking`, while no words come; `note`: why the turn begins anew or what the server does; `retry_in_s`: when a model that failed is asked again, else null |
| `text` | `round`, `sender`, `text`: all of the turn so far |
| `tool` | `round`, `sender`, `tool`, `arguments` in short, `phase` (`called`, `returned`, `failed`, `not asked` or `waiting for approval`), `ms` (null when called), `summary`; what was said in the turn before it does not count; who comes in the middle of a turn is told its calls again |
| `message` | as in `messages/`; it is saved, and the event's `id` is its position |
| `end` | `status`, `end_reason`, `error`; the stream closes |
"""  # noqa: E501
_EVENTS: dict[str, Any] = {
    "get": {
        "operationId": "debates_events_retrieve",
        "summary": "A debate as it happens",
        "description": _DESCRIPTION,
        "tags": ["debates"],
        "security": [{"token": []}, {"cookieAuth": []}],
        "parameters": [
            {"in": "path", "name": "id", "required": True, "schema": {"type": "string", "format": "uuid"}},
            {
                "in": "query",
                "name": "after",
                "description": "Only messages after this position; the header `Last-Event-ID` says the same.",
                "schema": {"type": "integer", "minimum": 0},
            },
        ],
        "responses": {
            "200": {"description": "", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "401": {"description": "Not signed in."},
            "404": {"description": "No such debate of yours."},
        },
    }
}


def document_events(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """For `POSTPROCESSING_HOOKS` of drf-spectacular, which sees its own framework's views alone."""
    result["paths"]["/api/v1/debates/{id}/events/"] = _EVENTS
    return result

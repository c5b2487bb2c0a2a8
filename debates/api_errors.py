"""Every error of the API in one shape: {"error": {"code", "message", "fields"}}."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from debates.cleaning import clean_line
from debates.errors import (
    AgentsDisabled,
    AnsweredBefore,
    BudgetSpent,
    DebateError,
    Gone,
    InvalidDebate,
    KeyReused,
    NoSuchApproval,
    NotPermitted,
    WrongStatus,
)

logger = logging.getLogger(__name__)

STATUS_OF = {
    InvalidDebate: status.HTTP_400_BAD_REQUEST,
    AgentsDisabled: status.HTTP_503_SERVICE_UNAVAILABLE,
    Gone: status.HTTP_404_NOT_FOUND,
    WrongStatus: status.HTTP_409_CONFLICT,
    BudgetSpent: status.HTTP_409_CONFLICT,
    KeyReused: status.HTTP_409_CONFLICT,
    NoSuchApproval: status.HTTP_404_NOT_FOUND,
    AnsweredBefore: status.HTTP_409_CONFLICT,
    NotPermitted: status.HTTP_403_FORBIDDEN,
}
NOT_FOUND = (
    "There is nothing here. Addresses end with a slash, what was deleted is gone, and other people's things are not "
    "shown."
)
DATABASE_AWAY = "The database does not answer or cannot be written to, so nothing was changed. Try again in a moment."
_WHOLE_BODY = "body"


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def error_body(code: str, message: str, fields: Mapping[str, list[str]] | None = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "fields": dict(fields or {})}}


def error_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """For `EXCEPTION_HANDLER`. What nobody foresaw stays an exception, so that it is logged as one."""
    if isinstance(error, InvalidDebate):
        return Response(_invalid(error.fields), STATUS_OF[InvalidDebate])
    if isinstance(error, DebateError):
        return Response(error_body(error.code, str(error)), STATUS_OF[type(error)])
    if isinstance(error, OperationalError | InterfaceError):
        logger.error("The database failed at %s: %s", context["request"].path, error)
        return Response(error_body("database_away", DATABASE_AWAY), status.HTTP_503_SERVICE_UNAVAILABLE)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        response.data = _invalid(dict(_flat(error.detail)))
    elif isinstance(error, Http404):
        response.data = error_body("not_found", NOT_FOUND)
    else:
        detail = response.data["detail"]
        response.data = error_body("malformed" if detail.code == "parse_error" else detail.code, str(detail))
    return response


def _invalid(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    message = " ".join(f"{name}: {' '.join(sentences)}" for name, sentences in fields.items())
    return error_body(InvalidDebate.code, message, fields)


def _flat(detail: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested errors under dotted names: {"agent_a": {"model": [...]}} becomes "agent_a.model"."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            # Keys that a client chose may hold what no answer can be written with.
            inner = name if key == "non_field_errors" else f"{name}.{clean_line(str(key))[:60]}".strip(".")
            yield from _flat(value, inner)
    elif detail:
        yield name or _WHOLE_BODY, [str(sentence) for sentence in detail]


def server_error(request: HttpRequest) -> HttpResponse:
    """For `handler500`: scripts are answered in the one shape, people get the page."""
    if request.path.startswith("/api/"):
        return JsonResponse(error_body("server_error", "Something broke here, and it was logged."), status=500)
    return defaults.server_error(request)


class NothingHere(APIView):
    """Every address that leads nowhere, so that this too is answered in the one shape."""

    schema = None
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise Http404

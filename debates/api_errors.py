"""Every error of the API in one shape: {"error": {"code", "message", "fields"}}."""

from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from debates.errors import AgentsDisabled, DebateError, InvalidDebate, KeyReused, WrongStatus

STATUS_OF = {
    InvalidDebate: status.HTTP_400_BAD_REQUEST,
    AgentsDisabled: status.HTTP_503_SERVICE_UNAVAILABLE,
    WrongStatus: status.HTTP_409_CONFLICT,
    KeyReused: status.HTTP_409_CONFLICT,
}
NOT_FOUND = "There is nothing here. Addresses end with a slash, and other people's things are not shown."
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
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        response.data = _invalid(dict(_flat(error.detail)))
    else:
        response.data = _other(response)
    return response


def _invalid(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    message = " ".join(f"{name}: {' '.join(sentences)}" for name, sentences in fields.items())
    return error_body(InvalidDebate.code, message, fields)


def _other(response: Response) -> dict[str, Any]:
    if response.status_code == status.HTTP_404_NOT_FOUND:
        return error_body("not_found", NOT_FOUND)
    detail = response.data["detail"]
    return error_body("malformed" if detail.code == "parse_error" else detail.code, str(detail))


def _flat(detail: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested errors under dotted names: {"agent_a": {"model": [...]}} becomes "agent_a.model"."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            inner = name if key == "non_field_errors" else f"{name}.{key}".lstrip(".")
            yield from _flat(value, inner)
    elif detail:
        yield name or _WHOLE_BODY, [str(sentence) for sentence in detail]

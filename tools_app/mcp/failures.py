"""The many ways in which the mcp package tells of a failure, as one `ToolFailure` each."""

import logging

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_TIMEOUT

from tools_app.base import FailureKind, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.mcp.places import Program, Server
from tools_app.secrets import redact

logger = logging.getLogger(__name__)

LONGEST_SAID = 500


def failure_of(server: Server, error: BaseException, status: int) -> ToolFailure:
    """`status` of the last HTTP answer, 0 without one. Raises what is no failure of the server, such as Ctrl-C."""
    error = _leaf(error)
    match error:
        case ToolFailure():
            return error
        case KeyboardInterrupt() | SystemExit():
            raise error
        case TimeoutError() | httpx2.TimeoutException():
            return ToolFailure(FailureKind.TIMEOUT, f"{server.label} gave no answer in time.")
        case MCPError():
            return _refusal(server, error, status)
        case OSError() | httpx2.ConnectError() | httpx2.UnsupportedProtocol():
            return ToolFailure(FailureKind.UPSTREAM, _unreachable(server, error))
        case httpx2.TransportError():
            return ToolFailure(FailureKind.UPSTREAM, f"{server.label} broke off the connection.")
        case RuntimeError() if "structured content" in str(error):
            message = f"{server.label} answered in another shape than it announces."
            return ToolFailure(FailureKind.UPSTREAM, message)
    # The text of the error is left out: it may quote anything.
    logger.warning("%s sent something that is not the protocol: %s", server.label, type(error).__name__)
    return ToolFailure(FailureKind.UPSTREAM, f"{server.label} sent something that is not the protocol.")


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _refusal(server: Server, error: MCPError, status: int) -> ToolFailure:
    said = redact(cut(clean_line(error.message), LONGEST_SAID), server.secrets())
    if error.code == REQUEST_TIMEOUT:
        return ToolFailure(FailureKind.TIMEOUT, f"{server.label} gave no answer in time.")
    if error.code == CONNECTION_CLOSED:
        return ToolFailure(FailureKind.UPSTREAM, f"{server.label} ended the connection.")
    if error.code == INVALID_PARAMS:
        kind = FailureKind.NOT_FOUND if "unknown tool" in said.lower() else FailureKind.BAD_ARGUMENTS
        return ToolFailure(kind, f"{server.label} refuses the call: {said}")
    if status >= 400:
        return _http_refusal(server, status)
    if error.code == METHOD_NOT_FOUND:
        return ToolFailure(FailureKind.UPSTREAM, f"{server.label} has no tools.")
    return ToolFailure(FailureKind.UPSTREAM, f"{server.label} failed: {said}")


def _http_refusal(server: Server, status: int) -> ToolFailure:
    match status:
        case 401 | 403:
            return ToolFailure(FailureKind.AUTH, f"{server.label} refused the key (HTTP {status}). Check its headers.")
        case 404:
            return ToolFailure(FailureKind.UPSTREAM, f"{server.label} is not at its address (HTTP 404). Check it.")
        case 429:
            return ToolFailure(FailureKind.RATE, f"{server.label} was asked too often (HTTP 429). Try again later.")
    return ToolFailure(FailureKind.UPSTREAM, f"{server.label} answered with an error (HTTP {status}).")


def _unreachable(server: Server, error: BaseException) -> str:
    if not isinstance(server.target, Program):
        return f"{server.label} cannot be reached. Check its address."
    program = server.target.command[0]
    if isinstance(error, FileNotFoundError):
        return f"{server.label} cannot be started: there is no program {program}. Install it or give its whole path."
    return f"{server.label} cannot be started: {program} is no program that may be run here."

"""What the actions say of arguments that no schema can tell from good ones."""

from tools_app.base import FailureKind, ToolFailure


def unfit(what: str) -> ToolFailure:
    return ToolFailure(FailureKind.BAD_ARGUMENTS, f"The arguments do not fit: {what}.")

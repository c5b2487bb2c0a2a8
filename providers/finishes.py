"""What a server says at the end of a reply."""

from dataclasses import replace

from providers.base import Finish
from providers.redaction import redacted


def without_key(finish: Finish, asked: str, key: str) -> Finish:
    """Servers may send the key back anywhere. The name that was `asked` for is none, however much of the key it has."""
    model = finish.model if finish.model == asked else redacted(finish.model, key)
    return replace(finish, model=model, finish_reason=redacted(finish.finish_reason, key))

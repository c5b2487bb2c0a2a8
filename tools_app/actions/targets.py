"""The web address that a model names, taken apart once: what is shown, looked up and asked cannot differ."""

from dataclasses import dataclass

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from tools_app.actions.addresses import refuse_numbers_inside
from tools_app.actions.refusals import unfit
from tools_app.cleaning import without_hidden

_URL_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Target:
    """`host` is in ASCII, whatever its script; `path` has the query and is percent-encoded."""

    host: str
    port: int
    path: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}{'' if self.port == 443 else f':{self.port}'}{self.path}"


def target_of(url: str) -> Target:
    """Raises `ToolFailure` for what is never asked: BAD_ARGUMENTS, NOT_ALLOWED for an address inside written out."""
    if len(url) > _URL_CHARS or " " in url or not url.isprintable() or url != without_hidden(url):
        raise unfit(f"url is longer than {_URL_CHARS} characters or holds spaces or characters that cannot be seen")
    try:
        parts = parse_url(url)
    except LocationParseError:
        raise unfit("url is no web address; give one such as https://example.org/hook") from None
    host, port = (parts.host or "").strip("[]").rstrip("."), 443 if parts.port is None else parts.port
    if parts.scheme != "https" or not host:
        raise unfit("url must begin with https:// and a host")
    if parts.auth is not None:
        raise unfit("url must not hold a user or a password")
    if port != 443 and port < 1024:
        # The others below belong to services that are no web servers, such as mail.
        raise unfit(f"url names port {port}; only 443 and those from 1024 on are allowed")
    refuse_numbers_inside(host)
    return Target(host, port, parts.request_uri)

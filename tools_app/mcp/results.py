"""What a tool gave back, as the text that a model can read."""

import json

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tools_app.base import FailureKind, Found, Item, Nothing, ToolFailure
from tools_app.cleaning import clean_line, cut
from tools_app.mcp.places import Server
from tools_app.secrets import redact

LONGEST_TEXT = 20_000
LONGEST_ERROR = 1000


def read(server: Server, wire_name: str, result: CallToolResult) -> Found | Nothing:
    """Raises `ToolFailure` when the result is an error."""
    text = redact("\n\n".join(filter(None, map(_text, result.content))).strip(), server.secrets())
    if result.is_error:
        raise _failure(server, text)
    if not text and result.structured_content:
        text = redact(json.dumps(result.structured_content, ensure_ascii=False), server.secrets())
    if not text:
        return Nothing("The tool did run and gave back no content.")
    return Found((Item(f"{server.key}: {wire_name}", cut(text, LONGEST_TEXT)),))


def _failure(server: Server, text: str) -> ToolFailure:
    said = cut(clean_line(text), LONGEST_ERROR) or "no word on what went wrong"
    kind = FailureKind.NOT_FOUND if said.lower().startswith("unknown tool") else FailureKind.BAD_QUERY
    return ToolFailure(kind, f"{server.label} reports an error: {said}")


def _text(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(mime_type=kind, data=data) | AudioContent(mime_type=kind, data=data):
            return _placeholder(block.type, kind, data)
        case ResourceLink(name=name, uri=uri):
            return f"[link] {name}: {uri}"
        case EmbeddedResource(resource=TextResourceContents(uri=uri, text=text)):
            return f"{uri}\n{text}"
        case EmbeddedResource(resource=resource):
            return _placeholder(f"file {resource.uri}", resource.mime_type, getattr(resource, "blob", ""))
    return ""


def _placeholder(what: str, kind: str | None, base64: str) -> str:
    return f"[{what} {kind or 'of unknown kind'}, {max(1, len(base64) * 3 // 4 // 1000)} kB]"

"""Reading what clients send: JSON in UTF-8, of a size that a person could mean."""

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from debates.api_errors import TooLarge
from debates.errors import InvalidDebate

KEY_HEADER, KEY_LIMIT = "Idempotency-Key", 200


class JSONParser(BaseParser):
    """REST framework's own parser takes a body of any size and fails on one that is nested too deep."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"The body is larger than {limit:,} bytes.")
        try:
            return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse)
        except UnicodeDecodeError:
            raise ParseError("The body is not text in UTF-8.") from None
        except RecursionError:
            raise ParseError("The body is nested too deep.") from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON.")


def idempotency_key(request: Request) -> str:
    key = request.headers.get(KEY_HEADER, "").strip()
    if len(key) > KEY_LIMIT or not key.isascii() or not (key.isprintable() or not key):
        raise InvalidDebate({KEY_HEADER: [f"Give at most {KEY_LIMIT} printable ASCII characters."]})
    return key

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from tools_app.models_mcp import McpServer

PROGRAM = {"command": ["uvx", "mcp-server-time"]}
ADDRESS = {"url": "https://example.org/mcp"}

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "values",
    [
        PROGRAM,
        PROGRAM | {"env": {"API_KEY": "${MY_KEY}", "FLAVOUR": "mint"}},
        ADDRESS,
        ADDRESS | {"headers": {"Authorization": "Bearer ${MY_TOKEN}", "X-Flavour": "mint"}},
        {"url": "http://127.0.0.1:8080/mcp", "command": None, "env": None, "headers": None},
    ],
)
def test_a_program_or_an_address_is_taken(values: dict[str, Any]) -> None:
    server = McpServer(key="time", **values)
    server.full_clean()
    server.save()


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({}, "__all__", "either a command or an address"),
        (PROGRAM | ADDRESS, "__all__", "either a command or an address"),
        (PROGRAM | {"key": "Time"}, "key", "Use a-z, 0-9 and -"),
        (PROGRAM | {"key": "my_time"}, "key", "Use a-z, 0-9 and -"),
        (PROGRAM | {"key": "x" * 31}, "key", "Use a-z"),
        ({"command": "uvx mcp-server-time"}, "command", "a list of strings"),
        ({"command": ["uvx", 1]}, "command", "a list of strings"),
        ({"command": [" "]}, "command", "no name"),
        ({"url": "ftp://example.org"}, "url", "Give an address"),
        ({"url": "https://example.org:0/mcp"}, "url", "Give an address"),
        ({"url": "https://[bad/mcp"}, "url", "Give an address"),
        ({"url": "https://me:word@example.org/mcp"}, "url", "out of the address"),
        ({"url": "https://example.org/mcp?api_key=abc"}, "url", "out of the address"),
        (PROGRAM | {"env": ["A"]}, "env", "an object of strings"),
        (PROGRAM | {"env": {"A": 1}}, "env", "an object of strings"),
        (PROGRAM | {"env": {"A=B": "c"}}, "env", "no name may have"),
        (PROGRAM | {"headers": {"X": "y"}}, "headers", "environment"),
        (ADDRESS | {"env": {"X": "y"}}, "env", "headers"),
        (ADDRESS | {"headers": {"X Y": "z"}}, "headers", "no name may have"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(values: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        McpServer(**{"key": "time", **values}).full_clean()
    assert words in str(refused.value.message_dict[field])


@pytest.mark.parametrize("name", ["Authorization", "COOKIE", "x-api-key", "X-Auth-Token", "Client-Secret"])
def test_a_secret_is_not_stored(name: str) -> None:
    for kind, table in ((ADDRESS, "headers"), (PROGRAM, "env")):
        if table == "env":
            name = name.replace("-", "_")
        with pytest.raises(ValidationError) as refused:
            McpServer(key="web", **kind, **{table: {name: "hunter2-hunter2"}}).full_clean()
        assert "${VARIABLE}" in str(refused.value)
        assert "hunter2" not in str(refused.value)

"""The web process starts without the client libraries; each is loaded on first use."""

import os
import subprocess
import sys
from pathlib import Path

from agentchat.environment import BASE_DIR
from tests.agentchat.processes import UNSET

STARTED = """
import sys

import django

django.setup()

import agentchat.asgi
from django.urls import get_resolver

get_resolver().url_patterns
print(*sorted({"aiohttp", "httpx", "httpx2", "mcp", "ollama", "openai"} & set(sys.modules)))
"""


def test_the_web_process_starts_without_them(tmp_path: Path) -> None:
    environment = {**os.environ, **UNSET, "DJANGO_SETTINGS_MODULE": "agentchat.settings", "VAR_DIR": str(tmp_path)}
    process = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=110
    )
    assert (process.stdout.split(), process.stderr) == ([], "")

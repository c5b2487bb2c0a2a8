from pathlib import Path

import pytest
from django.core.checks import Error, run_checks
from pytest_django import Settings

from providers import checks


def _ids() -> set[str | None]:
    found = [message for message in run_checks() if (message.id or "").startswith("providers.")]
    assert all(isinstance(message, Error) for message in found)
    return {message.id for message in found}


def test_nothing_is_missing_by_default() -> None:
    assert _ids() == set()


@pytest.mark.parametrize(
    ("base_url", "key", "expected"),
    [
        ("https://openrouter.ai/api/v1", "", {"providers.E001"}),
        ("https://api.openai.com/v1", "", {"providers.E001"}),
        ("https://openrouter.ai/api/v1", "sk-1", set()),
        ("http://127.0.0.1:8000/v1", "", set()),
    ],
)
def test_a_missing_key_is_told(settings: Settings, base_url: str, key: str, expected: set[str]) -> None:
    settings.AI_PROFILE, settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "openai", base_url, key
    assert _ids() == expected


def test_a_model_file_that_is_not_there_is_told(settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDED_MODEL_PATH = str(tmp_path / "model.gguf")
    assert _ids() == {"providers.E002"}
    (tmp_path / "model.gguf").touch()
    assert _ids() == set()


def test_a_model_file_may_lie_at_home(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model.gguf").touch()
    settings.EMBEDDED_MODEL_PATH = "~/model.gguf"
    assert _ids() == set()


def test_missing_packages_of_the_embedded_model_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    assert _ids() == {"providers.E003"}
    settings.AI_PROFILE = settings.UTILITY_PROFILE = "ollama"
    assert _ids() == set()

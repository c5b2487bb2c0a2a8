"""What was learned is known here and elsewhere, for a while."""

import pytest
from pytest_django import Settings

from providers import memory
from providers.memory import Memory


def test_it_is_known_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [0.0]
    monkeypatch.setattr(memory, "clock", lambda: times[-1])
    learned = Memory("test", 60)
    assert learned.get("here", "m") is None
    learned.put("here", "m", {"a": 1})
    times.append(59.9)
    assert learned.get("here", "m") == {"a": 1}
    assert learned.get("there", "m") is None
    times.append(60)
    assert learned.get("here", "m") is None


def test_others_know_it_too_and_no_password_is_in_the_cache(valkey_url: str, settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": valkey_url}}
    Memory("test").put("http://me:pa55word@host", "a model", 7)
    assert Memory("test").get("http://me:pa55word@host", "a model") == 7
    assert "pa55word" not in Memory("test")._key("http://me:pa55word@host", "m")


def test_without_a_cache_this_process_knows(settings: Settings) -> None:
    location = "redis://127.0.0.1:1"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": location}}
    learned = Memory("test")
    learned.put("here", "m", 7)
    assert learned.get("here", "m") == 7

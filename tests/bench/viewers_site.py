"""What `viewers` does inside the application: debates to watch, and words as a worker publishes them."""

import json
import sys
import time
import uuid

import django

# What an agent says, word by word, up to about 1,500 characters.
WORDS = ["They", "build", "what", "no", "state", "would", "dare", "to", "build."]


def prepare(debates: int) -> None:
    from django.contrib.auth.models import User  # noqa: PLC0415  needs the settings
    from django.core.management import call_command  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415

    from accounts import tokens  # noqa: PLC0415
    from tests.debates.page_rows import make_debate  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    owner = User.objects.create_user("bench")
    made = [str(make_debate(owner, messages=4).pk) for _ in range(debates)]
    client = Client()
    client.force_login(owner)
    _, token = tokens.make(owner, "bench")
    print(json.dumps({"debates": made, "session": client.cookies["sessionid"].value, "token": token}))


def start(debates: int, turns: int) -> None:
    from tests.bench.drive import make  # noqa: PLC0415  needs the settings

    print(json.dumps([str(pk) for pk in make(debates, turns, start=True)]))


def speak(debate: uuid.UUID, events: int, per_second: int) -> None:
    """Each text begins with the moment of its sending; that clock is the same for all processes of a machine."""
    from debates import live  # noqa: PLC0415  needs the settings

    started = time.monotonic()
    for number in range(events):
        time.sleep(max(0.0, started + number / per_second - time.monotonic()))
        said = " ".join(WORDS[word % len(WORDS)] for word in range(number + 1))
        text = f"@{time.monotonic_ns()}@ {said}"
        live.publish(debate, live.Notice("text", {"round": 3, "sender": "AGENT_A", "text": text}))


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "prepare":
        prepare(int(sys.argv[2]))
    elif sys.argv[1] == "start":
        start(int(sys.argv[2]), int(sys.argv[3]))
    else:
        speak(uuid.UUID(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))

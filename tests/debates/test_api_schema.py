import json
import re
from io import StringIO

from django.core.management import call_command
from django.test import Client

from debates.api_events import document_events
from debates.events import Sender, TextDelta, TurnStarted
from debates.models import Conversation
from debates.narrator import Narrator
from debates.payloads import status_payload, totals_payload
from providers.used import Used
from tools_app.base import CallStarted
from tools_app.models import Approval


def test_the_schema_is_valid_and_complete() -> None:
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, format="openapi-json", stdout=out)
    schema = json.loads(out.getvalue())
    debates = "/api/v1/debates/"
    wanted = {
        f"{debates}": {"get", "post"},
        f"{debates}{{id}}/": {"get", "delete"},
        f"{debates}{{id}}/messages/": {"get"},
        f"{debates}{{id}}/tool-calls/": {"get"},
        f"{debates}{{id}}/model-calls/": {"get"},
        f"{debates}{{id}}/sources/": {"get"},
        f"{debates}{{id}}/approvals/": {"get"},
        f"{debates}{{id}}/approvals/{{approval_id}}/approve/": {"post"},
        f"{debates}{{id}}/approvals/{{approval_id}}/refuse/": {"post"},
        f"{debates}{{id}}/stop/": {"post"},
        f"{debates}{{id}}/pause/": {"post"},
        f"{debates}{{id}}/resume/": {"post"},
        "/api/v1/models/": {"get"},
        "/api/v1/tools/": {"get"},
        "/api/v1/personas/": {"get", "post"},
        "/api/v1/personas/{id}/": {"get", "put", "patch", "delete"},
    }
    assert {path: set(schema["paths"][path]) for path in wanted} == wanted
    assert {"Debate", "CreatedDebate", "Message", "Persona", "Error"} <= set(schema["components"]["schemas"])
    assert all(
        operation["summary"]
        for path, operations in schema["paths"].items()
        for operation in operations.values()
        if path in wanted
    )


def test_what_debates_look_up_is_told_with_its_types() -> None:
    out = StringIO()
    call_command("spectacular", format="openapi-json", stdout=out)
    schemas = json.loads(out.getvalue())["components"]["schemas"]
    lists = {
        ("Message", "citations"): "Citation",
        ("Debate", "approvals"): "Approval",
        ("CreatedDebate", "approvals"): "Approval",
        ("CallPage", "results"): "Call",
        ("ModelCallPage", "results"): "ModelCall",
        ("SourcePage", "results"): "Source",
        ("ApprovalPage", "results"): "Approval",
    }
    told = {(name, field): schemas[name]["properties"][field]["items"] for name, field in lists}
    assert told == {place: {"$ref": f"#/components/schemas/{kind}"} for place, kind in lists.items()}
    assert schemas["Debate"]["properties"]["tools"]["items"] == {"type": "string"}
    assert schemas["StatusEnum"]["enum"] == Conversation.Status.values
    assert schemas["ApprovalStatusEnum"]["enum"] == Approval.Status.values


def test_the_event_stream_is_documented(db: None) -> None:
    documented = document_events({"paths": {}})["paths"]["/api/v1/debates/{id}/events/"]["get"]
    assert "text/event-stream" in documented["responses"]["200"]["content"]
    lines = documented["description"].splitlines()
    told = {re.findall(r"`(\w+)`", line)[0]: set(re.findall(r"`(\w+)`", line)[1:]) for line in lines if "| `" in line}
    assert list(told) == ["status", "totals", "turn", "text", "tool", "message", "end"]
    assert told["status"] >= set(status_payload(Conversation()))
    assert told["totals"] >= set(totals_payload(Used()))
    narrator = Narrator(lambda: 0)
    events = (TurnStarted(1, Sender.AGENT_A, "m"), CallStarted("look", ""), TextDelta("Well"))
    for notice in (notice for event in events for notice in narrator.tell(event)):
        assert told[notice.event] >= set(notice.data)


def test_the_schema_is_served(client: Client, db: None) -> None:
    assert b"/api/v1/debates/" in client.get("/api/schema/").content


def test_the_docs_page_needs_nothing_from_elsewhere(client: Client, db: None) -> None:
    response = client.get("/api/docs/")
    page = response.content.decode()
    assert response.status_code == 200
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(addresses) >= 4
    assert all(address.startswith(("/static/", "/api/docs/")) for address in addresses)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page), "its scripts are files"


def test_the_docs_page_alone_may_bring_a_style(client: Client, db: None) -> None:
    policy = client.get("/api/docs/")["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src" not in policy, "scripts stay with default-src 'self'"
    assert "unsafe-inline" not in client.get("/accounts/sign-in/")["Content-Security-Policy"]

import email
import email.policy
import traceback
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from django.core.mail import utils
from pytest_django import Settings

from tests.fakes.mail_server import MailServer, mail_server
from tests.tools_app.support import a_call
from tools_app.actions.send_email import TOOL
from tools_app.arguments import read
from tools_app.base import FailureKind, Found, Item, Permission, ToolFailure

PASSWORD = "hidden-password"
MAIL = {"to": "ann@example.test", "subject": "The debate", "body": "It is over.\n\nGreetings"}


@pytest.fixture
def server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[MailServer]:
    """The one that EMAIL_URL names."""
    monkeypatch.setattr(utils.DNS_NAME, "_fqdn", "sender.test", raising=False)
    with mail_server() as started:
        settings.EMAIL_CONFIGURED = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", started.port
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "agents", PASSWORD
        settings.DEFAULT_FROM_EMAIL = "agents@sender.test"
        yield started


def send(**changes: str) -> Item:
    found = TOOL.run({**MAIL, **changes}, a_call())
    assert isinstance(found, Found)
    return found.items[0]


def refusal(**changes: str) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        send(**changes)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))
    return caught.value


def shown(**changes: str) -> str:
    assert TOOL.preview
    return TOOL.preview({**MAIL, **changes}, a_call())


def arrived(server: MailServer) -> EmailMessage:
    message = email.message_from_string(server.mails[0].replace("\r\n", "\n"), policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def test_it_sends_what_was_asked(server: MailServer) -> None:
    assert send() == Item("E-mail sent", "The mail server took the e-mail to ann@example.test.")
    message = arrived(server)
    assert (message["From"], message["To"]) == ("agents@sender.test", "ann@example.test")
    assert message["Subject"] == "The debate"
    assert message.get_content().strip() == "It is over.\n\nGreetings"


def test_the_preview_is_all_that_is_sent(server: MailServer) -> None:
    hidden = {"subject": "Об\u202eэтом\u200b", "body": "One\u2066 two\U000e0041\x00\r\nthree"}
    assert shown(**hidden) == (
        "From: agents@sender.test\nTo: ann@example.test\nSubject: Обэтом\n"
        "This is the whole text (13 characters):\n\nOne two\nthree"
    )
    send(**hidden)
    assert arrived(server)["Subject"] == "Обэтом"
    assert arrived(server).get_content().strip() == "One two\nthree"


def test_the_preview_writes_out_what_is_sent_and_cannot_be_seen(server: MailServer) -> None:
    hidden = {"subject": "Hi\u2800", "body": "One\ufe00\u2800 two"}
    assert "Subject: Hi⟨U+2800⟩\n" in shown(**hidden) and shown(**hidden).endswith("One⟨U+FE00⟩⟨U+2800⟩ two")


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ann",
        "ann@",
        "ann@example.test, bob@example.test",
        "ann@example.test;bob@example.test",
        "Ann <ann@example.test>",
        '"ann smith"@example.test',
        "ann@example.test\nBcc: bob@example.test",
        "ann@example.test\r\n",
        "ann@example.test\u202e",
        "аnn@example.test",
        "ann@exаmple.test",
        " ann@example.test",
    ],
)
def test_anything_but_one_plain_address_is_refused_before_a_person_is_asked(to: str) -> None:
    for ask in (shown, send):
        with pytest.raises(ToolFailure, match="to must be one e-mail address such as") as caught:
            ask(to=to)
        assert caught.value.kind == FailureKind.BAD_ARGUMENTS


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028"])
def test_a_subject_that_would_add_a_header_is_refused(end: str) -> None:
    with pytest.raises(ToolFailure, match="subject must be one line"):
        shown(subject=f"Hello{end}Bcc: bob@example.test")


@pytest.mark.parametrize("changes", [{"subject": "\u200b "}, {"body": "\u202e\n"}])
def test_an_empty_e_mail_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ToolFailure, match="subject and body must say something"):
        shown(**changes)


@pytest.mark.parametrize("changes", [{"subject": "x" * 201}, {"body": "x" * 10_001}])
def test_what_is_too_long_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ToolFailure, match="subject may be 200 characters long and body 10000"):
        shown(**changes)
    with pytest.raises(ToolFailure, match="must be at most"):
        read(str({**MAIL, **changes}).replace("'", '"').replace("\n", " "), TOOL.parameters)


@pytest.mark.parametrize(
    ("command", "answer", "kind", "said"),
    [
        (
            "AUTH",
            f"535 wrong password {PASSWORD}",
            FailureKind.AUTH,
            "does not accept the user and password in EMAIL_URL.",
        ),
        ("RCPT", "550 no such user", FailureKind.NOT_FOUND, "does not take mail for this address. Nothing was sent."),
        ("MAIL", "550 not you", FailureKind.CONFIG, "does not accept the sender. Set DEFAULT_FROM_EMAIL."),
        ("EHLO", "250 mail.test", FailureKind.CONFIG, "cannot be used in the way that EMAIL_URL says."),
        ("", "554 go away", FailureKind.UPSTREAM, "refused the e-mail (code 554)."),
        (".", f"554 spam {PASSWORD}", FailureKind.UPSTREAM, "refused the e-mail (code 554)."),
    ],
)
def test_a_refusal_of_the_mail_server_says_what_to_do(
    server: MailServer, command: str, answer: str, kind: FailureKind, said: str
) -> None:
    server.says[command] = answer
    failure = refusal()
    assert failure.kind == kind
    assert str(failure) == f"The mail server {said}"


@pytest.mark.parametrize(
    ("command", "after"),
    [("EHLO", "Nothing was sent."), ("DATA", "It may have been sent all the same; do not send it again.")],
)
def test_a_silent_mail_server_is_waited_for_as_long_as_there_is_time(
    server: MailServer, monkeypatch: pytest.MonkeyPatch, command: str, after: str
) -> None:
    server.silent_at = command
    monkeypatch.setattr("tools_app.actions.send_email._STEP_S", 1.0)
    failure = refusal()
    assert failure.kind == FailureKind.TIMEOUT
    assert str(failure) == f"The mail server did not answer in time. {after}"


def test_without_time_nothing_is_sent(server: MailServer) -> None:
    with pytest.raises(ToolFailure) as caught:
        TOOL.run(MAIL, a_call(left_s=0))
    assert caught.value.kind == FailureKind.TIMEOUT
    assert server.mails == []


def test_a_mail_server_that_is_not_there_is_a_failure(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    failure = refusal()
    assert failure.kind == FailureKind.UPSTREAM
    assert str(failure) == "The mail server cannot be reached or broke off. Nothing was sent."


def test_a_password_that_cannot_be_sent_is_not_named(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_HOST_PASSWORD = f"{PASSWORD}-é"
    assert refusal().kind == FailureKind.CONFIG


def test_contradicting_settings_are_named_as_such(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = True
    assert str(refusal()) == "The mail server cannot be used in the way that EMAIL_URL says."


def test_without_a_mail_server_it_says_what_is_missing(settings: Settings) -> None:
    settings.EMAIL_CONFIGURED = False
    assert TOOL.missing() == "There is no mail server. Set EMAIL_URL."
    settings.EMAIL_CONFIGURED = True
    assert TOOL.missing() == ""


def test_on_an_installation_without_a_mail_server_it_can_be_tried_on_the_screen(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    send()
    assert "To: ann@example.test" in capsys.readouterr().out


def test_it_acts_only_when_a_person_allows_it() -> None:
    assert TOOL.name == "send_email"
    assert TOOL.permission is Permission.EXEC
    assert TOOL.side_effects
    assert "a person must allow" in TOOL.description

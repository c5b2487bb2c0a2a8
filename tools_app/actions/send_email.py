"""Sends an e-mail through the installation's mail server, once a person has allowed it."""

import smtplib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.validators import validate_email

from tools_app.actions.refusals import unfit
from tools_app.base import Call, FailureKind, Found, Item, Permission, Tool, ToolFailure
from tools_app.cleaning import clean_line, clean_text, visible

SUBJECT_CHARS = 200
BODY_CHARS = 10_000
# For each step of the conversation with the mail server, of which there are about eight.
_STEP_S = 5.0


def missing() -> str:
    return "" if settings.EMAIL_CONFIGURED else "There is no mail server. Set EMAIL_URL."


def run(arguments: Mapping[str, Any], call: Call) -> Found:
    message, left_s = _message(arguments), call.left_s()
    if left_s <= 0:
        raise _failure(FailureKind.TIMEOUT, "was not asked, there was no time left. Nothing was sent.")
    with _translated("Nothing was sent."):
        message.connection = get_connection(timeout=min(_STEP_S, left_s))
    with _closed_after(message.connection):
        with _translated("Nothing was sent."):
            message.connection.open()
        with _translated("It may have been sent all the same; do not send it again."):
            message.send()
    return Found((Item("E-mail sent", f"The mail server took the e-mail to {message.to[0]}."),))


def preview(arguments: Mapping[str, Any], _call: Call) -> str:
    message = _message(arguments)
    return (
        f"From: {message.from_email}\nTo: {message.to[0]}\nSubject: {visible(str(message.subject))}\n"
        f"This is the whole text ({len(message.body)} characters):\n\n{visible(str(message.body))}"
    )


def _message(arguments: Mapping[str, Any]) -> EmailMessage:
    """What cannot be seen is taken out of subject and body, so that a person is shown all that is sent."""
    to, subject, body = arguments["to"], arguments["subject"], arguments["body"]
    if not to.isascii() or not _is_address(to):
        raise unfit("to must be one e-mail address such as name@example.org, without a name beside it")
    if len(subject.splitlines()) > 1:
        raise unfit("subject must be one line")
    subject, body = clean_line(subject), clean_text(body)
    if not subject or not body:
        raise unfit("subject and body must say something")
    if len(subject) > SUBJECT_CHARS or len(body) > BODY_CHARS:
        raise unfit(f"subject may be {SUBJECT_CHARS} characters long and body {BODY_CHARS}")
    return EmailMessage(subject, body, settings.DEFAULT_FROM_EMAIL, [to])


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return text.isprintable() and not set(text) & set('",;<>() ')


@contextmanager
def _closed_after(connection: BaseEmailBackend) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):  # what became of the e-mail is known already
            connection.close()


@contextmanager
def _translated(after: str) -> Iterator[None]:
    """What the mail server or the library says may hold the password, so none of it is passed on."""
    try:
        yield
    except smtplib.SMTPAuthenticationError:
        raise _failure(FailureKind.AUTH, "does not accept the user and password in EMAIL_URL.") from None
    except smtplib.SMTPRecipientsRefused:
        raise _failure(FailureKind.NOT_FOUND, "does not take mail for this address. Nothing was sent.") from None
    except smtplib.SMTPSenderRefused:
        raise _failure(FailureKind.CONFIG, "does not accept the sender. Set DEFAULT_FROM_EMAIL.") from None
    except (smtplib.SMTPNotSupportedError, ValueError):
        raise _failure(FailureKind.CONFIG, "cannot be used in the way that EMAIL_URL says.") from None
    except smtplib.SMTPResponseException as error:
        raise _failure(FailureKind.UPSTREAM, f"refused the e-mail (code {error.smtp_code}).") from None
    except OSError as error:
        if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):  # smtplib wraps it
            raise _failure(FailureKind.TIMEOUT, f"did not answer in time. {after}") from None
        raise _failure(FailureKind.UPSTREAM, f"cannot be reached or broke off. {after}") from None


def _failure(kind: FailureKind, what: str) -> ToolFailure:
    return ToolFailure(kind, f"The mail server {what}")


TOOL = Tool(
    name="send_email",
    label="E-mail",
    description=(
        "Sends one plain-text e-mail to one address. Use it only when the debate calls for telling somebody something. "
        "It acts outside this program, so a person must allow each call first and may refuse it."
    ),
    parameters={
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "One address, such as name@example.org.", "maxLength": 254},
            "subject": {"type": "string", "description": "One line.", "minLength": 1, "maxLength": SUBJECT_CHARS},
            "body": {"type": "string", "description": "Plain text.", "minLength": 1, "maxLength": BODY_CHARS},
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": False,
    },
    run=run,
    permission=Permission.EXEC,
    side_effects="Sends the shown e-mail to the shown address in this installation's name. It cannot be called back.",
    missing=missing,
    preview=preview,
)

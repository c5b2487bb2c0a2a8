"""The books of the tools hold a debate's id and no key to it: no cascade reaches them when its owner is deleted."""

from typing import Any

from django.db.models.signals import post_delete
from django.dispatch import receiver

from debates.models import Conversation
from tools_app import audit


@receiver(post_delete, sender=Conversation)
def forget(instance: Conversation, **_: Any) -> None:
    audit.forget(instance.pk)

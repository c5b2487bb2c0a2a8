"""
DebateError              a wish that cannot be granted, with a sentence for the person
  InvalidDebate          fields are wrong; `fields` maps each to its sentences
  AgentsDisabled         the master switch is off
  WrongStatus            the debate is not in a state that allows this
  BudgetSpent            the debate has used all that it may
  Gone                   the debate was deleted in the meantime
  KeyReused              the idempotency key belongs to another request
  NoSuchApproval         the debate has no such request for a person's word
  AnsweredBefore         that word was given before, or too late
  NotPermitted           this person may not give it
"""

from collections.abc import Mapping


class DebateError(Exception):
    code = "debate_error"


class InvalidDebate(DebateError):
    """`fields` is keyed by dotted names: "topic", "max_rounds", "agent_a.system_prompt", "agent_b.model" ..."""

    code = "invalid"

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        super().__init__(" ".join(sentence for sentences in fields.values() for sentence in sentences))
        self.fields = fields


class AgentsDisabled(DebateError):
    code = "agents_disabled"

    def __init__(self) -> None:
        super().__init__("Agents are switched off here. Set AGENTS_ENABLED=1 and restart to start debates.")


class WrongStatus(DebateError):
    code = "wrong_status"


class BudgetSpent(DebateError):
    code = "budget_spent"


class Gone(DebateError):
    code = "not_found"

    def __init__(self) -> None:
        super().__init__("This debate was deleted in the meantime.")


class KeyReused(DebateError):
    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used for another debate. Send a new key.")


class NoSuchApproval(DebateError):
    code = "not_found"

    def __init__(self) -> None:
        super().__init__("This debate asks for no such approval.")


class AnsweredBefore(DebateError):
    code = "answered_before"


class NotPermitted(DebateError):
    code = "not_permitted"

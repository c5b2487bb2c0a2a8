"""What requests to models cost in time and tokens, counted in this process."""

from typing import Any

from prometheus_client import Counter, Histogram

MODEL_CALLS = Counter(
    "agentchat_model_calls_total", "Requests to model servers, by what came of them.", ["profile", "outcome", "failure"]
)
TOKENS = Counter("agentchat_tokens_total", "Tokens, counted by the servers or estimated.", ["profile", "kind"])
FIRST_TOKEN_SECONDS = Histogram(
    "agentchat_first_token_seconds",
    "From a request to the first piece of its reply.",
    ["profile"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300),
)


def count(
    profile: str,
    outcome: str,
    first_token_ms: int | None,
    *,
    failure: str = "",
    prompt_tokens: int | None = None,
    completion_tokens: int | None = None,
    **_: Any,
) -> None:
    """One request that has ended."""
    MODEL_CALLS.labels(profile, outcome, failure).inc()
    TOKENS.labels(profile, "prompt").inc(prompt_tokens or 0)
    TOKENS.labels(profile, "completion").inc(completion_tokens or 0)
    if first_token_ms is not None:
        FIRST_TOKEN_SECONDS.labels(profile).observe(first_token_ms / 1000)

"""What requests to models cost in time and tokens, counted in this process."""

from prometheus_client import Counter, Histogram

from providers.models import ModelCall

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


def count(call: ModelCall) -> None:
    """One request that has ended."""
    MODEL_CALLS.labels(call.profile, call.outcome, call.failure).inc()
    TOKENS.labels(call.profile, "prompt").inc(call.prompt_tokens or 0)
    TOKENS.labels(call.profile, "completion").inc(call.completion_tokens or 0)
    if call.first_token_ms is not None:
        FIRST_TOKEN_SECONDS.labels(call.profile).observe(call.first_token_ms / 1000)

"""How debates get on, counted in this process."""

from prometheus_client import Counter, Gauge, Histogram

TURN_SECONDS = Histogram(
    "agentchat_turn_seconds",
    "How long turns took that were spoken to their end.",
    buckets=(0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600),
)
QUEUE_WAIT_SECONDS = Histogram(
    "agentchat_queue_wait_seconds",
    "How long debates waited for a worker: from their making, later from the last call for one.",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600),
)
LEASE_LOSSES = Counter("agentchat_lease_losses_total", "Debates that another worker took over while they ran here.")
VIEWERS = Gauge("agentchat_viewers", "Open live streams.")

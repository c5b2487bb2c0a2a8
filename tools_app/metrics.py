"""What came of tool calls, counted in this process. Not by tool: a model can make up any name."""

from prometheus_client import Counter

TOOL_CALLS = Counter("agentchat_tool_calls_total", "Tool calls, by what came of them.", ["outcome", "failure"])

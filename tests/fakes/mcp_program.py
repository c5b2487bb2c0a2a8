"""An MCP server as a program, with tools that misbehave. `--at-start WHAT`: exit, hang or chatter instead of serving;
`--stay FILE`: notes its process id there and does not end when its input does."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server = MCPServer("program")


@server.tool()
def environment() -> dict[str, str]:
    return dict(os.environ)


@server.tool()
def directory() -> str:
    return f"{Path.cwd()} holds {sorted(path.name for path in Path.cwd().iterdir())}"


@server.tool()
def crash() -> str:
    os._exit(3)


@server.tool()
def sleep() -> str:
    time.sleep(60)
    return "awake"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-start", choices=["exit", "hang", "chatter"])
    parser.add_argument("--stay", type=Path)
    chosen = parser.parse_args()
    print("a word on the error output", file=sys.stderr, flush=True)
    if chosen.stay:
        chosen.stay.write_text(str(os.getpid()))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    match chosen.at_start:
        case "exit":
            sys.exit(1)
        case "hang":
            time.sleep(60)
        case "chatter":
            print("Welcome!", flush=True)
    server.run()
    if chosen.stay:
        time.sleep(60)


if __name__ == "__main__":
    main()

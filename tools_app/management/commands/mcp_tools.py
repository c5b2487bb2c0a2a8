import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tools_app.base import Permission, ToolFailure
from tools_app.cleaning import visible
from tools_app.mcp import catalogue, servers
from tools_app.models_mcp import McpTool


class Command(BaseCommand):
    help = (
        "Asks MCP servers for their tools and prints each with all that a model would read of it, its permission and "
        "whether it is approved."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("server", nargs="?", default="", metavar="SERVER", help="its key; default: all of them")
        parser.add_argument(
            "--approve", action="append", default=[], metavar="NAME", help="offer this tool to models; may be repeated"
        )
        parser.add_argument(
            "--permission",
            choices=[level.value for level in Permission],
            help="of the tools that are approved: READ runs at once, WRITE and EXEC wait for a person's word each time",
        )

    def handle(self, *args: Any, server: str, approve: Sequence[str], permission: str | None, **options: Any) -> None:
        if permission and not approve:
            raise CommandError("--permission is for the tools that --approve names. Name one.")
        keys = [server] if server else sorted(servers.known())
        if not keys:
            raise CommandError("There is no MCP server. Set MCP_SERVERS or add one in the admin.")
        changed, failed = self._refresh(keys)
        tools = {tool.name: tool for tool in McpTool.objects.filter(server__in=keys)}
        for tool in tools.values():
            self._show(tool)
        for name in approve:
            self._approve(name, tools, changed, permission)
        if not approve and not all(tool.approved for tool in tools.values()):
            self.stdout.write("\n--approve NAME offers one to models; with --permission READ it runs without asking.")
        if failed:
            raise CommandError(f"Not listed: {', '.join(failed)}.")

    def _refresh(self, keys: Iterable[str]) -> tuple[set[str], list[str]]:
        """The names of the tools that have changed, and the keys of the servers that did not answer."""
        changed, failed = set[str](), []
        for key in keys:
            try:
                refreshed = servers.refresh(key)
            except ToolFailure as failure:
                self.stderr.write(str(failure))
                failed.append(key)
                continue
            changed |= set(refreshed.changed)
            self.stdout.write(f"{key}: {refreshed}")
            for refusal in refreshed.refusals:
                self.stderr.write(f"{key}: {refusal}")
        return changed, failed

    def _show(self, tool: McpTool) -> None:
        """Its words are indented, so that none of them passes for a line of this command."""
        schema = json.dumps(tool.input_schema, indent=2, ensure_ascii=False)
        self.stdout.write(f"\n{tool.name}  {tool.permission}  {tool.state}")
        for what, text in (("title", tool.title), ("description", tool.description), ("parameters", schema)):
            self.stdout.write(f"  {what}:\n{indent(visible(text) or 'none', ' ' * 4)}")

    def _approve(self, name: str, tools: Mapping[str, McpTool], changed: set[str], permission: str | None) -> None:
        tool = tools.get(name)
        if tool is None:
            raise CommandError(f"There is no tool {name!r}. There are: {', '.join(tools) or 'none'}.")
        if name in changed or not catalogue.approve(tool, tool.digest, permission):
            raise CommandError(f"{name} has changed just now. Read it, then approve it.")
        self.stdout.write(f"\n{name} is approved as {permission or tool.permission}, as it is shown above.")

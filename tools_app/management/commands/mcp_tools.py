from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tools_app.base import Permission, ToolFailure
from tools_app.mcp import catalogue, servers
from tools_app.models_mcp import McpTool


class Command(BaseCommand):
    help = "Asks MCP servers for their tools and prints each with its permission and whether it is approved."

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
        for name in approve:
            self._approve(name, changed, permission)
        for tool in McpTool.objects.filter(server__in=keys):
            self.stdout.write(f"{tool.name}  {tool.permission}  {tool.state}")
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

    def _approve(self, name: str, changed: set[str], permission: str | None) -> None:
        if name in changed:
            raise CommandError(f"{name} has changed just now. Read it in the admin, then approve it.")
        tool = McpTool.objects.filter(name=name).first()
        if tool is None or not catalogue.approve(tool, tool.digest, permission):
            raise CommandError(f"There is no tool {name!r}. Run this command without --approve to see their names.")

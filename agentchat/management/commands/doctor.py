"""`manage.py doctor`: what is wrong with this installation, and what to do about it."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from agentchat.doctor.findings import Finding, State
from agentchat.doctor.table import examine


class Command(BaseCommand):
    help = "Checks everything that an installation needs. Ends with 1 when there is a problem."
    requires_system_checks = ()  # they are among what is looked at

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON list instead of lines")

    def handle(self, *args: Any, **options: Any) -> None:
        found: list[tuple[str, Finding]] = []
        for name, finding in examine():
            found.append((name, finding))
            if not options["json"]:
                self._print(name, finding)
        if options["json"]:
            rows = [
                {"check": name, "state": finding.state, "says": finding.says, "remedy": finding.remedy}
                for name, finding in found
            ]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        if any(finding.state is State.PROBLEM for _, finding in found):
            sys.exit(1)

    def _print(self, name: str, finding: Finding) -> None:
        line = f"{finding.state:8} {name:13} {finding.says} {finding.remedy}".rstrip()
        colours = {State.WARNING: self.style.WARNING, State.PROBLEM: self.style.ERROR}
        self.stdout.write(line, colours.get(finding.state))
        self.stdout.flush()

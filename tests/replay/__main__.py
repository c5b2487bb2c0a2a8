"""`python -m tests.replay [CASE ...]`: the recorded failures as one table of id, kind, outcome expected and seen."""

import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.replay.cases import CASES


class Outcomes:
    """Collects what the tests recorded."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        case_id = report.nodeid.partition("[")[2].rstrip("]")
        if case_id in CASES and (report.when == "call" or report.failed):
            self.rows[case_id] = {"problems": [], **dict(report.user_properties), "passed": report.passed}


def table_of(rows: dict[str, dict[str, Any]]) -> Table:
    table = Table("id", "kind", "expected", "seen", "", title="Recorded failures of model servers")
    for case_id, row in sorted(rows.items()):
        case = CASES[case_id]
        kind = f"{case['provider']} {case['request_kind']}"
        seen = "\n".join([row.get("seen", "it broke"), *(f"- {problem}" for problem in row["problems"])])
        table.add_row(case_id, kind, row.get("expected", ""), escape(seen), "passed" if row["passed"] else "FAILED")
    return table


def main(chosen: list[str]) -> int:
    outcomes = Outcomes()
    tests = str(Path(__file__).with_name("test_replay.py"))
    wanted = ["-k", " or ".join(chosen)] if chosen else []
    code = pytest.main([tests, "-q", "--no-header", "--tb=no", "-rN", *wanted], plugins=[outcomes])
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(table_of(outcomes.rows))
    console.print(f"{sum(row['passed'] for row in outcomes.rows.values())} of {len(outcomes.rows)} passed")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

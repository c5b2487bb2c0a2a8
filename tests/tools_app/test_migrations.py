from pathlib import Path

import pytest

from agentchat.environment import BASE_DIR

MIGRATIONS = sorted((BASE_DIR / "tools_app" / "migrations").glob("0*.py"))


@pytest.mark.parametrize("migration", MIGRATIONS, ids=lambda path: path.stem)
def test_a_migration_holds_values_and_no_code_that_may_change(migration: Path) -> None:
    imports = [line for line in migration.read_text().splitlines() if line.startswith(("import ", "from "))]
    assert [line for line in imports if not line.split()[1].startswith(("django", "uuid"))] == []

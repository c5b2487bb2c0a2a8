"""The recorded failures, by id."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CASES: Mapping[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads(Path(__file__).with_name("cases.json").read_text())
}

"""The names that this program must have (`names.toml`), and the tests of each of them.

Every group of names has a table: name → function. `check_table` fails if a name has no function.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAMES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))


def list_names(source: str, group: str) -> list[str]:
    """Return the names of a group."""
    return list(NAMES[source][group])


TABLES: dict[tuple[str, str], Mapping[str, Any]] = {}
"""The source and the group → the table of its tests."""


def require_complete_table(source: str, group: str, tests: Mapping[str, Any]) -> list[str]:
    """Note the table of a group, and return its names as the parameters of a test. Fail if a name has no test."""
    missing, unknown = set(list_names(source, group)) - tests.keys(), tests.keys() - set(list_names(source, group))
    assert not missing, f"{source}.{group}: no test for {', '.join(sorted(missing))}"
    assert not unknown, f"{source}.{group}: {', '.join(sorted(unknown))} is no name of it"
    TABLES[source, group] = tests
    return list_names(source, group)

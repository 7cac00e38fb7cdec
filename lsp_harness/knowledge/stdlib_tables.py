"""The names of each language and its standard library, read once from the tables in `standard/`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lsp_harness.languages.language_table import find_language

TABLES = Path(__file__).with_name("standard")
"""The folder with a table for each language, and the list of common words."""


@dataclass(frozen=True, slots=True)
class StandardNames:
    """The names that a language has without a package.

    `statics` are the members of known values (`Math`, `console`), `modules` the exports of modules (`fs`, `strings`,
    `java.util`), `aliases` the usual local names of modules.
    """

    globals: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    statics: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    modules: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    def find_exporting_modules(self, name: str) -> list[str]:
        """Return the modules that export a name."""
        return [module for module, names in self.modules.items() if name in names]

    def find_exports(self, module: str) -> frozenset[str]:
        """Return the exports of a module; empty if it is not known."""
        return self.modules.get(module) or self.modules.get(module.removeprefix("node:")) or frozenset()


@cache
def load_standard(language: str) -> StandardNames:
    """Return the names of a language; empty for a language without a table."""
    parent = find_language(language).parent
    base = load_standard(parent) if parent else StandardNames()
    file = TABLES / f"{language}.toml"
    if not file.is_file():
        return base
    tables_file: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    word_sets = {key: frozenset(value.split()) for key, value in tables_file.items() if isinstance(value, str)}
    tables: dict[str, dict[str, str]] = {key: value for key, value in tables_file.items() if isinstance(value, dict)}
    nested_sets = {
        table: {key: frozenset(names.split()) for key, names in tables.get(table, {}).items()}
        for table in ("statics", "modules")
    }
    return StandardNames(
        globals=base.globals | word_sets.get("globals", frozenset()),
        types=base.types | word_sets.get("types", frozenset()),
        keywords=base.keywords | word_sets.get("keywords", frozenset()),
        members=base.members | word_sets.get("members", frozenset()),
        statics={**base.statics, **nested_sets["statics"]},
        modules={**base.modules, **nested_sets["modules"]},
        aliases=tables.get("aliases", {}),
    )


@cache
def common_words() -> frozenset[str]:
    """Return words that names often consist of. A name of such words alone is rarely misspelt."""
    return frozenset((TABLES / "words.txt").read_text("utf-8").split())

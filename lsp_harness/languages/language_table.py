"""The table of all languages, in which a language is found by its name or by that of a file.

The modules with the languages are imported at the first look-up, not at the start of the program.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import PurePosixPath
from urllib.parse import unquote

from lsp_harness.languages.language_spec import LanguageSpec

UNKNOWN_LANGUAGE = LanguageSpec("")
"""The language of a text whose language is not in the table. All its traits have their defaults."""


class LanguageTable:
    """Languages by id, by LSP identifier and by file name."""

    def __init__(self, specs: Iterable[LanguageSpec]) -> None:
        self.by_id: Mapping[str, LanguageSpec] = {spec.id: spec for spec in specs}
        specs = self.by_id.values()
        self.by_lsp_id = {name: spec for spec in specs for name in (*spec.lsp_ids, spec.id)}
        self.by_extension = {extension: spec for spec in specs for extension in spec.extensions}
        self.by_file_name = {name: spec for spec in specs for name in spec.file_names}


def language_table() -> LanguageTable:
    """Return the table of all languages."""
    return load_table()


@cache
def load_table() -> LanguageTable:
    """Import the modules with the languages. This takes some milliseconds, once for each process."""
    from lsp_harness.languages import compiled, documents, further_languages, scripting

    return LanguageTable(
        language for module in (compiled, documents, scripting, further_languages) for language in module.LANGUAGES
    )


def find_language(name: str) -> LanguageSpec:
    """Return the language with an id or an LSP identifier, or `UNKNOWN_LANGUAGE`."""
    table = language_table()
    return table.by_id.get(name) or table.by_lsp_id.get(name.lower(), UNKNOWN_LANGUAGE)


def shipped_languages() -> tuple[LanguageSpec, ...]:
    """Return the languages whose grammars are dependencies of this package."""
    return tuple(spec for spec in language_table().by_id.values() if spec.has_shipped_grammar)


def optional_languages() -> Mapping[str, LanguageSpec]:
    """Return the languages whose grammars are used if they are installed, by their id.

    The extra `lsp-harness[languages]` installs those whose tag query fits the grammar.
    """
    return {id_: spec for id_, spec in language_table().by_id.items() if spec.is_optional}


def find_language_of_file(path: str) -> LanguageSpec | None:
    """Return the language that the name of a file tells, or None. `path` may be a URI."""
    name = base_name(path)
    table = language_table()
    return table.by_file_name.get(name) or table.by_extension.get(name.rpartition(".")[2] if "." in name else "")


def base_name(path: str) -> str:
    """Return the last part of a path or URI in lower case."""
    return PurePosixPath(unquote(path).replace("\\", "/")).name.lower()

"""The coverage of each language in an index: declarations and imports, declarations only, or only lines."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lsp_harness.index.index_query import open_index
from lsp_harness.languages.language_table import optional_languages
from lsp_harness.project.index_status import IndexStatus
from lsp_harness.syntax.grammars import detect_language_name, language_named
from lsp_harness.syntax.symbols.tag_queries import declaration_source


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """Numbers of files by language, the most frequent language first.

    Attributes:
        with_imports: Files whose declarations and imports are known.
        with_declarations: Files whose declarations are known, but not their imports.
        lines_only: Files of which only the lines are known.
        unfit_grammars: Languages of `lines_only` whose installed grammar does not fit its tags.
        installable: Languages of `lines_only` whose grammar can be installed with the extra `languages`.
    """

    with_imports: Mapping[str, int]
    with_declarations: Mapping[str, int]
    lines_only: Mapping[str, int]
    unfit_grammars: tuple[str, ...]
    installable: tuple[str, ...]


async def read_language_coverage(status: IndexStatus) -> LanguageCoverage:
    """Return the coverage of an index.

    Raises:
        StoreError: The index is damaged.
    """
    with_imports, with_declarations, lines_only = Counter[str](), Counter[str](), Counter[str]()
    counters = {"queries": with_imports, "tags": with_declarations, "lines": lines_only}
    for name, count in status.contents.languages.items():
        if language := language_named(name):
            counters[declaration_source(language)][name] += count
    optional = optional_languages()
    unfit_grammars = sorted(name for name in lines_only if name in optional)
    unparsed = await _count_unparsed_files(status)
    lines_only += unparsed
    installable = sorted(name for name in unparsed if name in optional and optional[name].has_fitting_tags)
    return LanguageCoverage(
        dict(with_imports.most_common()),
        dict(with_declarations.most_common()),
        dict(lines_only.most_common()),
        tuple(unfit_grammars),
        tuple(installable),
    )


async def _count_unparsed_files(status: IndexStatus) -> Counter[str]:
    """Return the number of files without a grammar, by the language that their names suggest."""
    with open_index(status.place.database) as index:
        paths = await index.unparsed_paths(status.place.root.as_uri())
    return Counter(detect_language_name(path) or "text" for path in paths)

"""What a text declares and what the workspace does, for editors. Open texts count as they are, not as they are on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.files.folders import is_same_file, path_inside
from lsp_harness.text.position import Span, decode
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.index.query.symbol_lookup import Rank
    from lsp_harness.index.symbol_table import Symbol
    from lsp_harness.store.database import Reader
    from lsp_harness.syntax.symbols.declarations import Declaration


@dataclass(frozen=True, slots=True)
class Spot:
    """A symbol where it is declared: `before` is what is left of its name on that line; `within` what it is in. `uri` is that of the
    file, as the client has it where the file is open."""

    uri: str
    file: Path
    line: int
    before: str
    name: str
    kind: str
    within: str


async def in_workspace(harness: "Harness", query: str) -> list[Spot]:
    """The symbols of all workspace folders whose names fit what was typed, the best first."""
    from lsp_harness.index.index_view import IndexView
    from lsp_harness.index.query.symbol_lookup import MAX_SYMBOLS, find_symbols

    found = _in_open_texts(harness, query)
    folders = harness.services.indexes.folders
    for n, folder in enumerate(folders):
        if any(is_same_file(folder.root, earlier.root) for earlier in folders[:n]):
            # one folder that is open by two names
            continue
        open_paths = {snapshot.path for snapshot in open_texts(harness) if snapshot.root == folder.root}

        # a folder within this one has an index of its own
        inner = [path for root in harness.workspace.roots if (path := path_inside(root, folder.root)) and path.parts]

        def read(
            reader: "Reader", root: Path = folder.root, without: set[str] = open_paths, inner: list[Path] = inner
        ) -> "list[tuple[Rank, Spot]]":
            view = IndexView(reader)
            return [
                (match.rank, _listed(root / match.symbol.path, match.symbol, match.text_before))
                for match in find_symbols(view, query, without)
                if not any(match.symbol.path.startswith(f"{folder}/") for folder in inner)
            ]

        found += await folder.ask(read, [], slow=True)
    found.sort(key=lambda each: (each[0], each[1].file, each[1].line))
    return [spot for _, spot in found[:MAX_SYMBOLS]]


def _in_open_texts(harness: "Harness", query: str) -> "list[tuple[Rank, Spot]]":
    from lsp_harness.index.query.symbol_lookup import rank_symbol
    from lsp_harness.syntax.symbols.declarations import qualified_name

    found: list[tuple[Rank, Spot]] = []
    for snapshot in open_texts(harness):
        declared = harness.declarations(snapshot)
        for one in declared:
            name = qualified_name(declared, one)
            if (fit := rank_symbol(query, one.name, name, one.kind)) and snapshot.file:
                found.append((fit, _spot(snapshot, snapshot.file, one, _around(name))))
    return found


def open_texts(harness: "Harness") -> list[Snapshot]:
    """The open texts that are files of the workspace."""
    snapshots = [harness.workspace.snapshot(opened.text) for opened in harness.documents]
    return [one for one in snapshots if one.root and not one.document.is_binary]


def _spot(snapshot: Snapshot, file: Path, one: "Declaration", within: str) -> Spot:
    document = snapshot.document
    span = Span(document.line_starts[document.line_of(one.name_start)], one.name_start)
    return Spot(
        document.uri,
        file,
        document.line_of(one.name_start),
        decode(document.data[slice(*span)]),
        one.name,
        one.kind,
        within,
    )


def _listed(file: Path, one: "Symbol", before: str) -> Spot:
    return Spot(file.as_uri(), file, one.line, before, one.name, one.kind, _around(one.qualified))


def _around(qualified: str) -> str:
    return qualified.rpartition(".")[0]

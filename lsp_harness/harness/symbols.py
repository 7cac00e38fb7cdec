"""What a text declares and what the workspace does, for editors. Open texts count as they are, not as they are on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.text.position import Span, decode

if TYPE_CHECKING:
    from lsp_harness.harness.harness import Harness
    from lsp_harness.index.lookup import Rank
    from lsp_harness.store.database import Reader
    from lsp_harness.syntax.declarations import Declaration


@dataclass(frozen=True, slots=True)
class Spot:
    """A symbol where it is declared: `before` is what is left of its name on that line; `within` what it is in."""

    file: Path
    line: int
    before: str
    name: str
    kind: str
    within: str


async def in_workspace(harness: "Harness", query: str) -> list[Spot]:
    """The symbols of all workspace folders whose names fit what was typed, the best first."""
    from lsp_harness.index.lookup import LIMIT, called
    from lsp_harness.index.view import View

    found = _in_open_texts(harness, query)
    for folder in harness.indexes.folders:
        open_paths = {snapshot.path for snapshot in open_texts(harness) if snapshot.root == folder.root}

        def read(
            reader: "Reader", root: Path = folder.root, without: set[str] = open_paths
        ) -> "list[tuple[Rank, Spot]]":
            view = View(reader)
            return [
                (rank, Spot(root / one.path, one.line, view.before(one), one.name, one.kind, _around(one.qualified)))
                for rank, one in called(reader, query, without)
            ]

        inner = [root for root in harness.roots if root != folder.root and root.is_relative_to(folder.root)]
        listed = await folder.ask(read, [], slow=True)
        # a folder within this one has an index of its own
        found += [each for each in listed if not any(each[1].file.is_relative_to(root) for root in inner)]
    found.sort(key=lambda each: (each[0], each[1].file, each[1].line))
    return [spot for _, spot in found[:LIMIT]]


def _in_open_texts(harness: "Harness", query: str) -> "list[tuple[Rank, Spot]]":
    from lsp_harness.index.lookup import rank
    from lsp_harness.syntax.declarations import qualified

    found: list[tuple[Rank, Spot]] = []
    for snapshot in open_texts(harness):
        declared = harness.declarations(snapshot)
        for one in declared:
            name = qualified(declared, one)
            if (fit := rank(query, one.name, name, one.kind)) and snapshot.file:
                found.append((fit, _spot(snapshot, snapshot.file, one, _around(name))))
    return found


def open_texts(harness: "Harness") -> list[Snapshot]:
    """The open texts that are files of the workspace."""
    snapshots = [harness.snapshot_of(document) for document in harness.documents]
    return [one for one in snapshots if one.root and not one.document.binary]


def _spot(snapshot: Snapshot, file: Path, one: "Declaration", within: str) -> Spot:
    document = snapshot.document
    span = Span(document.starts[document.line_of(one.named)], one.named)
    return Spot(file, document.line_of(one.named), decode(document.data[slice(*span)]), one.name, one.kind, within)


def _around(qualified: str) -> str:
    return qualified.rpartition(".")[0]

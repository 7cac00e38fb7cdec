"""Symbols of the workspace as they are in the present texts of the files.

The index only says in which files a name is declared. What it says about places may be older than the last edit.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.workspace_paths import NamedFile, WorkspacePaths
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.process.offload import offload
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.symbols.declarations import Declaration, find_declarations, qualified_names
from lsp_harness.syntax.tree import SyntaxTree, no_tree_reason, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode

Report = Callable[[str], None]
MAX_SCANNED_FILES = 2_000
"""Most files that are searched for a name without an index."""
MAX_PARSED_FILES = 20
"""Most files with a name that are parsed."""
MAX_NEAR_NAMES = 5
MAX_LISTED_NAMES = 20


def ignore(text: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class SymbolFile:
    """A parsed file with its symbols.

    Attributes:
        file: The file.
        tree: The tree of its present text.
        declarations: The symbols, in the order of the text.
        names: The qualified name of each symbol.
    """

    file: NamedFile
    tree: SyntaxTree
    declarations: Sequence[Declaration]
    names: Sequence[str]

    @property
    def document(self) -> Document:
        """The text."""
        return self.tree.document


@dataclass(frozen=True, slots=True)
class PresentSymbol:
    """A symbol in the present text of its file."""

    source: SymbolFile
    declaration: Declaration
    qualified: str

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line, from 1."""
        document, declaration = self.source.document, self.declaration
        return document.line_of(declaration.start) + 1, document.line_of(
            max(declaration.start, declaration.end - 1)
        ) + 1

    @property
    def title(self) -> str:
        """The place, the kind and the name, such as `src/cart.py:3-9 method Cart.total`."""
        first, last = self.lines
        return f"{self.source.file.name}:{first}-{last} {self.declaration.kind} {self.qualified}"


class PresentSymbols:
    """The search for symbols by their name paths, such as `Cart/total` or `total`, for one tool."""

    def __init__(self, environment: ToolEnvironment, tool: str) -> None:
        self._index = environment.index
        self._paths = WorkspacePaths(environment, tool)

    async def parse(self, path: str) -> SymbolFile:
        """Return the symbols of a file. Raise UsageError if it cannot be parsed, and FileError if there is none."""
        return await self._parse(self._paths.locate(path))

    async def find(self, name: str, path: str = "", report: Report = ignore) -> list[PresentSymbol]:
        """Return the symbols with a name, in one file or in all. Raise UsageError if there is none.

        Args:
            name: The name path.
            path: The file. Empty for all files.
            report: Receives the progress of the index.
        """
        qualified = to_qualified(name)
        if path:
            source = await self.parse(path)
            if symbols := list(_find_named(source, qualified)):
                return symbols
            names = list(dict.fromkeys(source.names))
            near = get_close_matches(qualified, names, MAX_NEAR_NAMES) or names
            known = ", ".join(near[:MAX_LISTED_NAMES]) or "none"
            raise UsageError(f"{source.file.name} has no symbol {name}; its symbols are: {known}")
        symbols: list[PresentSymbol] = []
        files = await self._find_files(qualified, report)
        readable = [file for file in files if self._paths.can_read(file)]
        for file in readable[:MAX_PARSED_FILES]:
            try:
                symbols += _find_named(await self._parse(file), qualified)
            except HarnessError:
                # the index may name a file that was removed, or that can no longer be parsed
                continue
        if not symbols and len(readable) < len(files):
            raise UsageError(f"{name} is only in files that the rules of this session do not allow to read")
        if not symbols:
            near = ", ".join(await self._find_near_names(qualified.rpartition(".")[2], report))
            advice = f"the most similar names are: {near}" if near else "search the texts for a part of the name"
            raise UsageError(f"there is no symbol {name} in the workspace; {advice}")
        return symbols

    async def _find_near_names(self, name: str, report: Report) -> list[str]:
        index = await self._index.ready(report) if self._index else None
        found = (
            [near for root in self._paths.roots for near in await index.near_names(root.as_uri(), name)]
            if index
            else []
        )
        return [near for near in dict.fromkeys(found) if await self._is_readable(near, report)][:MAX_NEAR_NAMES]

    async def _is_readable(self, name: str, report: Report) -> bool:
        """Return whether a file with a name may be read. Most sessions may read all files."""
        return any(map(self._paths.can_read, await self._find_files(name, report)))

    async def find_one(self, name: str, path: str = "", report: Report = ignore) -> PresentSymbol:
        """Return the only symbol with a name (see `find`). Raise UsageError if there is none or several."""
        symbols = await self.find(name, path, report)
        if len(symbols) > 1:
            listed = "\n".join(symbol.title for symbol in symbols[:8])
            raise UsageError(f"{name} is the name of {len(symbols)} symbols; give a path and Class/name:\n{listed}")
        return symbols[0]

    async def _parse(self, file: NamedFile) -> SymbolFile:
        document = self._paths.read_document(file)
        return await offload(len(document.data), lambda: parse_symbols(file, document))

    async def _find_files(self, qualified: str, report: Report) -> list[NamedFile]:
        """Return the files that may declare a name: by the index, or by their texts if it knows none.

        The rules of the session may not allow to read some of them.
        """
        index = await self._index.ready(report) if self._index else None
        name = encode(qualified.rpartition(".")[2])
        # the index may not know the last edits
        files = {path: self._locate(path) for path, text in self._paths.unsaved.items() if name in text.data}
        for root in self._paths.roots if index else ():
            assert index
            for symbol in await index.symbols_named(root.as_uri(), SymbolName(qualified)):
                files[root / symbol.path] = self._locate(root / symbol.path)
        return [file for file in files.values() if file] or await asyncio.to_thread(self._scan_files, name)

    def _locate(self, path: Path) -> NamedFile | None:
        try:
            return self._paths.locate(str(path))
        except UsageError:
            return None

    def _scan_files(self, name: bytes) -> list[NamedFile]:
        found: list[NamedFile] = []
        for number, file in enumerate(self._paths.list_files()):
            if number == MAX_SCANNED_FILES or len(found) == MAX_PARSED_FILES:
                break
            try:
                if file.path.stat().st_size <= MAX_TEXT_BYTES and name in file.path.read_bytes():
                    found.append(file)
            except OSError:
                continue
        return found


def to_qualified(name: str) -> str:
    """Return the qualified name for a name path: `Cart.total` for `Cart/total` and `Cart::total`."""
    qualified = name.strip().strip("/").replace("::", ".").replace("/", ".").removesuffix("()")
    if not qualified:
        raise UsageError('"name" is empty; give the name of a symbol, such as Cart/total')
    return qualified


def parse_symbols(file: NamedFile, document: Document) -> SymbolFile:
    """Return the symbols of a text. Raise UsageError if it cannot be parsed."""
    tree = parse(document)
    if tree is None:
        raise UsageError(f"{no_tree_reason(document, file.name)}, so its symbols are not known; work with its text")
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    return SymbolFile(file, tree, declarations, qualified_names(declarations))


def _find_named(source: SymbolFile, qualified: str) -> Iterator[PresentSymbol]:
    """Yield the symbols whose qualified name is `qualified` or ends with it; only the former if there are any."""
    pairs = list(zip(source.declarations, source.names, strict=True))
    exact = [(item, name) for item, name in pairs if name == qualified]
    for item, name in exact or [(item, name) for item, name in pairs if f".{name}".endswith(f".{qualified}")]:
        yield PresentSymbol(source, item, name)

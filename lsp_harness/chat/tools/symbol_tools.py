"""The tools that find symbols and the places where they are used."""

import asyncio
import re
from collections.abc import Iterator

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.file_search_tools import describe_left_out, find_files, format_matches, search_lines
from lsp_harness.chat.tools.present_symbols import PresentSymbol, PresentSymbols, SymbolFile
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_input import (
    Input,
    Schema,
    fit_lines,
    make_text_schema,
    object_schema,
    read_text,
    shorten_line,
)
from lsp_harness.chat.tools.workspace_paths import WorkspacePaths
from lsp_harness.files.secrets import redact
from lsp_harness.index.query.name_locations import CursorPlace, NameLocation
from lsp_harness.permission.action import Action
from lsp_harness.text.position import decode

MAX_SHOWN_BODIES = 3
"""Most symbols whose code is part of an answer."""
BODY_KINDS = frozenset({"function", "method"})
"""Kinds of symbols whose inner symbols are not part of an overview."""
NAME = make_text_schema("Name, or Class/method")
PATH = make_text_schema("File, relative to the workspace")


class FindSymbolTool:
    """Shows the code of the symbols with a name."""

    name = "find_symbol"
    description = "Find a function, class or method by its name and show its code."
    schema: Schema = object_schema({"name": NAME}, {"path": PATH})

    def __init__(self, environment: ToolEnvironment) -> None:
        self._index = environment.index
        self._symbols = PresentSymbols(environment, self.name)
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, self._paths.search_paths(input.get("path")))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        symbols = await self._symbols.find(read_text(input, "name"), read_text(input, "path", ""), context.report)
        lines = [line for symbol in symbols for line in _describe(symbol, with_code=len(symbols) <= MAX_SHOWN_BODIES)]
        shown = fit_lines(lines)
        if len(shown) < len(lines):
            shown.append("… (use read for the rest)")
        if self._index and self._index.remark and not input.get("path"):
            shown.append(f"({self._index.remark})")
        return ToolResult("\n".join(shown))


class SymbolOverviewTool:
    """Lists the symbols of a file."""

    name = "symbol_overview"
    description = "List the classes and functions of a file with their lines."
    schema: Schema = object_schema({"path": PATH})

    def __init__(self, environment: ToolEnvironment) -> None:
        self._symbols = PresentSymbols(environment, self.name)
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, self._paths.action_paths(input.get("path")))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        source = await self._symbols.parse(read_text(input, "path"))
        lines = list(_format_overview(source))
        if not lines:
            return ToolResult(f"{source.file.name} declares no symbols")
        shown = fit_lines(lines)
        return ToolResult("\n".join([source.file.name, *shown, *(["…"] if len(shown) < len(lines) else [])]))


class FindReferencesTool:
    """Lists the places where a symbol is used."""

    name = "find_references"
    description = "Find where a function, class or method is used. Returns path:line: text."
    schema: Schema = object_schema({"name": NAME}, {"path": PATH})

    def __init__(self, environment: ToolEnvironment) -> None:
        self._index = environment.index
        self._symbols = PresentSymbols(environment, self.name)
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, self._paths.search_paths(input.get("path")))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        symbol = await self._symbols.find_one(read_text(input, "name"), read_text(input, "path", ""), context.report)
        file = symbol.source.file
        locations: list[NameLocation] = []
        if self._index and (index := await self._index.ready(context.report)):
            place = CursorPlace(
                file.root, file.name, symbol.declaration.name_start, {file.name: symbol.source.document}
            )
            locations = await index.reference_locations(place)
        if not locations:
            return await self._search_name(symbol)
        used = dict.fromkeys((location.path, location.line) for location in locations if not location.is_declaration)
        seen = [(path, line) for path, line in used if self._paths.can_read(self._paths.locate(str(file.root / path)))]
        remarks = describe_left_out(len({path for path, _ in used} - {path for path, _ in seen}))
        remarks += [f"({self._index.remark})"] if self._index and self._index.remark else []
        if not seen:
            return ToolResult("\n".join([f"{symbol.title} is used nowhere", *remarks]))
        lines = await asyncio.to_thread(lambda: [*self._format_places(symbol, seen)])
        shown = fit_lines(lines)
        rest = [f"… and {len(lines) - len(shown)} more"] if len(shown) < len(lines) else []
        return ToolResult("\n".join([f"{len(lines)} uses of {symbol.title}", *shown, *rest, *remarks]))

    async def _search_name(self, symbol: PresentSymbol) -> ToolResult:
        """Return the lines with the name of a symbol that the index does not know."""
        files, left_out = await asyncio.to_thread(find_files, self._paths, "**")
        answer = await search_lines(rf"\b{re.escape(symbol.declaration.name)}\b", files, self._paths.unsaved)
        head = f"Lines with the name {symbol.declaration.name} (the index does not know {symbol.title}):"
        return ToolResult("\n".join([head, *fit_lines(format_matches(answer, files)), *describe_left_out(left_out)]))

    def _format_places(self, symbol: PresentSymbol, places: list[tuple[str, int]]) -> Iterator[str]:
        texts: dict[str, list[str]] = {}
        for path, line in places:
            if path not in texts:
                file = self._paths.locate(str(symbol.source.file.root / path))
                texts[path] = redact(decode(self._paths.read_document(file).data)).splitlines()
            text = texts[path][line] if line < len(texts[path]) else ""
            yield f"{path}:{line + 1}: {shorten_line(text.strip(), 160)}"


def _describe(symbol: PresentSymbol, *, with_code: bool) -> Iterator[str]:
    yield symbol.title
    if with_code:
        first, last = symbol.lines
        lines = redact(decode(symbol.source.document.data)).replace("\r\n", "\n").split("\n")
        yield from (f"{number}\t{shorten_line(lines[number - 1])}" for number in range(first, last + 1))


def _format_overview(source: SymbolFile) -> Iterator[str]:
    depths: list[int] = []
    for item, qualified in zip(source.declarations, source.names, strict=True):
        # the symbols in a function are not symbols of the file
        outer = item.parent
        is_inner = outer >= 0 and (depths[outer] < 0 or source.declarations[outer].kind in BODY_KINDS)
        depths.append(-1 if is_inner else depths[outer] + 1 if outer >= 0 else 0)
        if not is_inner:
            first, last = PresentSymbol(source, item, qualified).lines
            lines = str(first) if first == last else f"{first}-{last}"
            yield f"{'  ' * depths[-1]}{lines} {item.kind} {item.name}"

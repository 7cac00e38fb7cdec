"""Answers about a folder for other programs: its code, the fix of an error, the problems of an output, documentation.

Answers about code contain the code itself, so that an agent need not open files for it.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lsp_harness.chat.tools.present_symbols import PresentSymbol, PresentSymbols, SymbolFile
from lsp_harness.chat.tools.workspace_paths import WorkspacePaths
from lsp_harness.coding.location.task_location import LocationRequest
from lsp_harness.context.lookup.required_imports import find_required_imports
from lsp_harness.errors import FileError, HarnessError, UsageError
from lsp_harness.index.graph.symbol_graph import Edge
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.query.name_locations import CursorPlace
from lsp_harness.kernel.results import Progress
from lsp_harness.knowledge.installed_packages import package_languages
from lsp_harness.knowledge.name_search import search_name
from lsp_harness.mcp.paged_answer import PagedAnswer, join_blocks
from lsp_harness.mcp.served_project import ReportLine, ServedProject, ignore_line
from lsp_harness.text.position import Span, decode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output

MAX_SYMBOLS = 8
"""Most symbols with one name whose code is shown."""
MAX_USES = 300
"""Most uses of a symbol in one answer, all pages together."""
MAX_RELATED = 12
"""Most related symbols of each kind in a context."""
RELATIONS = {
    "calls": "what it calls",
    "called_by": "what calls it",
    "inherits": "what it extends",
    "inherited_by": "what extends it",
    "tests": "its tests",
}
"""Attribute of a `SymbolGraph` → its title."""
USES = frozenset({"called_by", "tests"})
"""The relations that are shown although types do not prove them."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A line that uses a symbol, and the declaration around it."""

    path: str
    line: int
    around: str
    text: str


class CodeAnswers:
    """Answers questions about the code of a folder.

    The methods raise UsageError if the question is not clear or the rules of the settings forbid the answer.

    Args:
        project: The served folder.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project

    async def find_symbol(self, name: str, path: str = "", report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the code of the symbols with a name.

        Args:
            name: The name, or `Class/method`.
            path: The file. Empty for all files.
            report: Receives the progress of the index.
        """
        symbols = await self._find("find_symbol", name, path, report)
        blocks = [[symbol.title, *_code_lines(symbol)] for symbol in symbols[:MAX_SYMBOLS]]
        blocks += [[symbol.title] for symbol in symbols[MAX_SYMBOLS:]]
        return PagedAnswer(join_blocks(blocks), self._list_remarks(path))

    async def references(self, name: str, path: str = "", report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the lines that use a symbol, below the declarations around them. The arguments are as above."""
        symbol = _require_only(await self._find("references", name, path, report), name)
        index = await self._project.open_index(report)
        if index is None:
            raise UsageError("this folder has no index, so uses are not known; search its text instead")
        file, paths = symbol.source.file, WorkspacePaths(self._project.environment, "references")
        place = CursorPlace(file.root, file.name, symbol.declaration.name_start, {file.name: symbol.source.document})
        locations = [found for found in await index.reference_locations(place) if not found.is_declaration]
        places = list(dict.fromkeys((found.path, found.line) for found in locations))
        readable = [(path, line) for path, line in places if _may_read(paths, path)]
        uses = await self._read_uses(readable[:MAX_USES])
        count = "1 use" if len(readable) == 1 else f"{len(readable)} uses"
        blocks = [[f"{count} of {symbol.title}"] if readable else [f"{symbol.title} is used nowhere"]]
        for (used_in, around), group in groupby(uses, key=lambda use: (use.path, use.around)):
            blocks.append([f"{used_in}: {around or '(outside of functions)'}", *_number_lines(group)])
        remarks = [*self._list_remarks("")]
        if len(places) > len(readable):
            remarks.append(f"{len(places) - len(readable)} more are in files that may not be read")
        if len(readable) > MAX_USES:
            remarks.append(f"only the first {MAX_USES} are listed")
        return PagedAnswer(join_blocks(blocks), remarks)

    async def get_context(self, name: str, path: str = "", report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the code of a symbol, the imports that it needs, and the signatures of what is related to it."""
        symbol = _require_only(await self._find("get_context", name, path, report), name)
        declaration, source = symbol.declaration, symbol.source
        imports = list(find_required_imports(source.tree, Span(declaration.start, declaration.end)))
        blocks = [[symbol.title, *imports, *([""] if imports else []), *_code_lines(symbol)]]
        index = await self._project.open_index(report)
        if index:
            blocks += [block async for block in self._describe_relations(index, symbol)]
        remarks = self._list_remarks("") if index else ["this folder has no index, so related code is not known"]
        return PagedAnswer(join_blocks(blocks), remarks)

    async def relations(self, name: str, path: str = "", report: ReportLine = ignore_line) -> PagedAnswer:
        """Return what a symbol calls and extends, and what calls, extends, tests and imports it, with the lines."""
        symbol = _require_only(await self._find("relations", name, path, report), name)
        index = await self._project.open_index(report)
        if index is None:
            raise UsageError("this folder has no index, so relations are not known; ask for references instead")
        uri, paths = self._project.root.as_uri(), WorkspacePaths(self._project.environment, "relations")
        named = await index.symbols_named(uri, SymbolName(symbol.qualified, symbol.source.file.name))
        overview = await index.symbol_overview(uri, named[0]) if named else None
        if overview is None:
            raise UsageError(f"{symbol.title} is not in the index yet; ask again in a moment")
        blocks = [[symbol.title]]
        for attribute, title in RELATIONS.items():
            edges: Sequence[Edge] = getattr(overview.graph, attribute)
            if lines := [_format_edge(edge) for edge in edges if _may_read(paths, edge.path)]:
                blocks.append([f"{title}:", *lines])
        if importing := [f"  {one}" for one in overview.graph.imported_by if _may_read(paths, one)]:
            blocks.append(["what imports its file:", *importing])
        return PagedAnswer(join_blocks(blocks), self._list_remarks(""))

    async def locate(self, task: str, report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the code that a task in words would change, and the places that it may also be about.

        Raises:
            NoAnswer: No code fits the task.
        """
        await self._project.require_reading("locate", {"task": task})
        await self._project.open_index(report)
        request = LocationRequest(task, self._project.root.as_uri(), alternative="name the file to change")
        located = await self._project.harness.tasks.locate(request)
        ranking, best = located.ranking, located.ranking.best
        code = decode(located.document(best).data[slice(*located.span(best))]).splitlines()
        others = [place for place in ranking.candidates if place is not best]
        listed = [f"{place.place} {place.kind or 'text'} {place.symbol}: {place.signature}" for place in others]
        doubt = [f"not sure: {ranking.doubt}"] if ranking.doubt else []
        blocks = [[f"{best.place} {best.kind or 'text'} {best.symbol}", *doubt, *code]]
        return PagedAnswer(
            join_blocks([*blocks, *([["or perhaps:", *listed]] if listed else [])]), self._list_remarks("")
        )

    # -- parts
    async def _find(self, tool: str, name: str, path: str, report: ReportLine) -> list[PresentSymbol]:
        paths = WorkspacePaths(self._project.environment, tool)
        await self._project.require_reading(tool, {"name": name, "path": path}, *paths.action_paths(path))
        await self._project.open_index(report)
        return await PresentSymbols(self._project.environment, tool).find(name, path, report)

    def _list_remarks(self, path: str) -> list[str]:
        remark = self._project.index.remark
        return [remark] if remark and not path else []

    async def _read_uses(self, places: Sequence[tuple[str, int]]) -> list[_Use]:
        """Return the lines at some places with the declarations around them, in the order of the places."""
        symbols = PresentSymbols(self._project.environment, "references")
        uses: list[_Use] = []
        for path, group in groupby(places, key=lambda place: place[0]):
            numbers = [line for _, line in group]
            try:
                source = await symbols.parse(path)
            except HarnessError:
                # the file was removed meanwhile, or has no grammar
                continue
            uses += [use for line in numbers if (use := _read_use(source, path, line))]
        return uses

    async def _describe_relations(self, index: IndexQuery, symbol: PresentSymbol):
        uri, file = self._project.root.as_uri(), symbol.source.file
        named = await index.symbols_named(uri, SymbolName(symbol.qualified, file.name))
        overview = await index.symbol_overview(uri, named[0]) if named else None
        if overview is None:
            return
        paths = WorkspacePaths(self._project.environment, "get_context")
        for attribute, title in RELATIONS.items():
            edges: Sequence[Edge] = getattr(overview.graph, attribute)
            known = [edge for edge in edges if edge.is_certain and _may_read(paths, edge.path)]
            lines = await asyncio.gather(*(self._describe_edge(index, edge) for edge in known[:MAX_RELATED]))
            more = [f"… and {len(known) - MAX_RELATED} more"] if len(known) > MAX_RELATED else []
            if lines:
                yield [f"{title}:", *lines, *more]
            # calls by an object whose type is not known are the usual ones of a method
            likely = [edge for edge in edges if attribute in USES and not edge.is_certain]
            if likely := [edge for edge in likely if _may_read(paths, edge.path)]:
                rest = [f"… and {len(likely) - MAX_RELATED} more"] if len(likely) > MAX_RELATED else []
                yield [f"perhaps {title}:", *map(_format_edge, likely[:MAX_RELATED]), *rest]

    async def _describe_edge(self, index: IndexQuery, edge: Edge) -> str:
        uri = self._project.root.as_uri()
        named = await index.symbols_named(uri, SymbolName(edge.name, edge.path)) if edge.name else []
        overview = await index.symbol_overview(uri, named[0]) if named else None
        signature = overview.signature if overview else edge.name or "(outside of functions)"
        doc = f"  # {overview.doc_line}" if overview and overview.doc_line else ""
        return f"{edge.path}: {signature}{doc}"


def _format_edge(edge: Edge) -> str:
    through = f", through {edge.through}" if edge.through else ""
    mark = "" if edge.is_certain else " (not proved)"
    return f"  {edge.path}:{edge.line + 1} {edge.name or '(outside of functions)'}{through}{mark}"


def _require_only(symbols: Sequence[PresentSymbol], name: str) -> PresentSymbol:
    """Return the only symbol. Raise UsageError if there are several."""
    if len(symbols) > 1:
        listed = "\n".join(symbol.title for symbol in symbols[:MAX_SYMBOLS])
        raise UsageError(f"{name} is the name of {len(symbols)} symbols; give a path and Class/name:\n{listed}")
    return symbols[0]


def _code_lines(symbol: PresentSymbol) -> list[str]:
    document, (first, last) = symbol.source.document, symbol.lines
    start, end = document.line_starts[first - 1], document.line_span(last - 1)[1]
    return decode(document.data[start:end]).rstrip("\r\n").splitlines()


def _may_read(paths: WorkspacePaths, path: str) -> bool:
    try:
        return paths.can_read(paths.locate(path))
    except (UsageError, FileError):
        return False


def _read_use(source: SymbolFile, path: str, line: int) -> _Use | None:
    document = source.document
    if line >= len(document.line_starts):
        return None
    text = decode(document.line(line)).rstrip("\r\n")
    offset = document.line_starts[line] + len(text.encode()) - len(text.lstrip().encode())
    around = [
        (item, name)
        for item, name in zip(source.declarations, source.names, strict=True)
        if item.start <= offset < item.end and document.line_of(item.name_start) != line
    ]
    title = ""
    if around:
        item, name = max(around, key=lambda pair: pair[0].start)
        title = f"{item.kind} {name}"
    return _Use(path, line, title, text)


def _number_lines(uses: Iterable[_Use]) -> Iterator[str]:
    for use in uses:
        yield f"{use.line + 1}\t{use.text}"


MAX_OUTPUT_CHARS = 1_000_000
"""Largest output of a tool that a call may bring."""
MAX_DIGEST_LINES = 200


class ProjectAnswers:
    """Answers about the errors and the packages of a folder. Nothing is written.

    Args:
        project: The served folder.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project

    async def fix(self, path: str, line: int = 0, report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the checked fix of an error in a file as a diff.

        Args:
            path: The file.
            line: The line of the error, from 1. 0 means the first error of the file.
            report: Receives the progress.

        Raises:
            UsageError: The file has no error there.
            NoAnswer: No fix passes the checks.
        """
        project, paths = self._project, WorkspacePaths(self._project.environment, "fix_error")
        file = paths.locate(path)
        await project.require_reading("fix_error", {"path": path}, file.path)
        await project.open_index(report)
        document = paths.read_document(file)
        snapshot = project.services.workspace.snapshot(document)
        fixes = project.harness.fixes
        examined = await fixes.diagnose(snapshot)
        found = [one for one in examined.findings if line in (0, document.line_of(one.start) + 1)]
        if not found:
            looked = " and ".join(examined.checks) or "nothing"
            others = sorted({document.line_of(one.start) + 1 for one in examined.findings})
            listed = f"; lines with errors: {', '.join(map(str, others[:10]))}" if others else ""
            skipped = f"; not checked: {'; '.join(examined.skip_reasons)}" if examined.skip_reasons else ""
            raise UsageError(
                f"there is no error {'on this line' if line else 'here'} ({looked} checked{skipped}){listed}"
            )
        finding = found[0]

        def follow(progress: Progress) -> None:
            report(progress.message)

        offers = await fixes.offer(snapshot, [finding])
        proposal = await fixes.fix_first(snapshot, offers, follow)
        where = f"{file.name}:{document.line_of(finding.start) + 1}: {finding.source} {finding.code} {finding.message}"
        return PagedAnswer([where, proposal.summary, *proposal.diff.splitlines()], ["not applied"])

    async def digest(self, output: str, tool: str = "") -> PagedAnswer:
        """Return one line for each problem in the output of a test runner, a linter or a compiler.

        Raises:
            UsageError: The tool is not known, or the output is too large.
        """
        if tool and tool not in READERS_BY_TOOL:
            raise UsageError(f"tool must be empty or one of {', '.join(READERS_BY_TOOL)}, not {tool!r}")
        if len(output) > MAX_OUTPUT_CHARS:
            raise UsageError(f"the output is larger than {MAX_OUTPUT_CHARS:,} characters; give only the end of it")
        result = await asyncio.to_thread(digest_output, output, tool, str(self._project.root))
        lines = [*result.lines(MAX_DIGEST_LINES)] if result.problems else []
        return PagedAnswer([result.summary, *lines])

    async def docs(self, name: str, language: str = "") -> PagedAnswer:
        """Return the signature and the documentation of a name in an installed package or in one of the project.

        Raises:
            UsageError: There is no such name, or the language is not known.
        """
        known = package_languages()
        if language and language not in known:
            raise UsageError(f"language must be empty or one of {', '.join(known)}, not {language!r}")
        root, installed = self._project.root, self._project.services.installed
        if installed is None:
            raise UsageError("the settings do not let programs read the installed packages (knowledge.enabled)")
        languages = [language] if language else known
        # packages are read from disk and parsed
        found = await asyncio.to_thread(search_name, installed, root, languages, name)
        overloads = f" (the first of {format_count(found.overloads, 'signature')})" if found.overloads > 1 else ""
        head = f"{found.release}: {found.signature or found.name or found.module}{overloads}"
        lines = [head, found.constructor, *found.documentation.splitlines(), found.file]
        return PagedAnswer([line for line in lines if line])

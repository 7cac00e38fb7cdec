"""Finds the declarations that a task names, and the code that its tests run.

A name of the index in the task beats every word about it. What a task says about the place is taken at its word: a
file, a line, the class around a method. A name that stands nowhere is said, with the names that are like it, because
another declaration in its place would be a guess.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from lsp_harness.coding.location.task_mentions import (
    CODE,
    NAMED_KIND,
    PLAIN,
    QUOTED,
    TARGET,
    FileMention,
    Mention,
    TaskReading,
    read_task,
)
from lsp_harness.errors import NoAnswer
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, WEAK_KINDS, find_declarations, qualified_name
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode

MAX_HELPER_HOPS = 2
"""Most functions of the tests between a test and the code that it runs."""
MAX_TESTED = 8
MAX_CALLS = 60
NAME_WEIGHT, SIGNATURE_WEIGHT, FILE_WEIGHT, CERTAIN_WEIGHT, LAST_WEIGHT = 1.0, 0.8, 0.5, 1.0, 0.3
TYPE_PENALTY = 0.6
"""A test makes an object before it calls the method that it is about."""
NO_SUBJECT = frozenset(
    {"test", "tests", "spec", "should", "case", "cases", "it", "the", "a", "with", "and", "of", "is"}
)


async def find_tested_code(index: IndexQuery, uri: str, tests: Sequence[Symbol]) -> list[Symbol]:
    """Return the declarations outside of tests that tests call, those first that the tests are most likely about.

    Args:
        index: The indexes of the workspace folders.
        uri: The URI of the folder.
        tests: The tests that fail.
    """
    scores: dict[tuple[str, str], float] = {}
    symbols: dict[tuple[str, str], Symbol] = {}
    for test in tests:
        words, file_words = _subject_words(test)
        for position, (symbol, is_certain) in enumerate(await _find_called(index, uri, test)):
            key = symbol.path, symbol.qualified
            # of overloads, the longest one is the implementation
            symbols[key] = max(symbols.get(key, symbol), symbol, key=lambda one: one.end - one.start)
            if key not in scores:
                overview = await index.symbol_overview(uri, symbol) if symbol.kind not in TYPE_KINDS else None
                signature = _split_words(overview.signature.partition("(")[2]) if overview else set[str]()
                scores[key] = (
                    NAME_WEIGHT * len(words & _split_words(symbol.qualified))
                    + SIGNATURE_WEIGHT * len(words & signature)
                    + FILE_WEIGHT * len(file_words & _split_words(symbol.path.rpartition("/")[2].partition(".")[0]))
                    + CERTAIN_WEIGHT * is_certain
                    - TYPE_PENALTY * (symbol.kind in TYPE_KINDS)
                )
            scores[key] += LAST_WEIGHT * (position + 1) / MAX_CALLS
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return [symbols[key] for key in ranked[:MAX_TESTED]]


async def _find_called(index: IndexQuery, uri: str, test: Symbol) -> list[tuple[Symbol, bool]]:
    """Return the declarations outside of tests that a test calls, and whether imports prove it."""
    found: list[tuple[Symbol, bool]] = []
    todo, seen = [(test, 0)], {(test.path, test.qualified)}
    while todo:
        caller, hops = todo.pop(0)
        overview = await index.symbol_overview(uri, caller)
        for edge in overview.graph.calls[:MAX_CALLS] if overview else ():
            named = await index.symbols_with_names(uri, [edge.name.rpartition(".")[2]])
            if edge.is_certain:
                meant = [one for one in named if (one.path, one.qualified) == (edge.path, edge.name)]
            else:
                meant = [one for one in named if one.kind not in WEAK_KINDS and one.language == caller.language]
            for symbol in meant:
                if not TEST_PATH.search(symbol.path):
                    found.append((symbol, edge.is_certain))
                elif edge.is_certain and hops < MAX_HELPER_HOPS and (symbol.path, symbol.qualified) not in seen:
                    seen.add((symbol.path, symbol.qualified))
                    todo.append((symbol, hops + 1))
    return found


def _subject_words(test: Symbol) -> tuple[set[str], set[str]]:
    """Return the words of the names of a test and its class, and those of its file."""
    stem = test.path.rpartition("/")[2].partition(".")[0]
    return _split_words(test.qualified) - NO_SUBJECT, _split_words(stem) - NO_SUBJECT


def _split_words(text: str) -> set[str]:
    return {word for name in re.findall(r"\w+", text) for word in split_words(name).lower().replace("_", " ").split()}


MIN_WEIGHT = 1.5
"""Least weight of a mention that decides about the place."""
MAX_LISTED = 3
"""Most places that a message lists."""
MIN_MISSPELLED_CHARS = 4
QUOTED_TEXT = re.compile(r"[\"'“‘«`]([^\"'“”‘’«»`\n]{2,}\s[^\"'“”‘’«»`\n]{2,})[\"'”’»`]")
"""Matches a text of several words in quotation marks, such as the message of an error."""
MAX_QUOTED_FILES = 2_000
"""Most files that are searched for a text."""
SELF_NAMES = frozenset({"self", "cls", "this", "super"})


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The places that a task names.

    Attributes:
        symbols: The declarations, those first that fit best. Empty if only files are named.
        paths: The files that the task is about. Empty for all.
        lines: The lines that the task names in the only file, from 1.
        doubt: Why it is not sure that the first declaration is meant. Empty if nothing else has its name.
        source_only: Whether no test may be chosen, because the task wants failing tests to pass.
        is_ordered: Whether the order of the declarations is known, because a test runs them.
    """

    symbols: tuple[Symbol, ...] = ()
    paths: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    doubt: str = ""
    source_only: bool = False
    is_ordered: bool = False


async def find_named_places(
    index: IndexQuery, uri: str, task: str, read_text: Callable[[str], Document | None]
) -> NamedPlaces:
    """Return the places that a task names.

    Args:
        index: The indexes of the workspace folders.
        uri: A URI in the folder to search.
        task: The task in words.
        read_text: Returns the present text of a file.

    Raises:
        NoAnswer: The task names a declaration or a line that the folder does not have.
    """
    reading = read_task(task)
    files, paths = await _find_files(index, uri, reading)
    names = [one for one in reading.names if not any(file.start <= one.start < file.end for file in files)]
    if (with_line := [file for file in files if file.first]) and len(files) == 1:
        named = await _name_lines(index, uri, with_line[0], paths, read_text)
    else:
        named = await _Names(index, uri, reading, names, paths).choose()
    if reading.repairs_tests:
        return await _leave_tests(index, uri, named)
    if not (named.symbols or named.lines) and (quoted := await _find_quoted(index, uri, task, named.paths, read_text)):
        return quoted
    return named


async def _find_quoted(
    index: IndexQuery, uri: str, task: str, paths: Sequence[str], read_text: Callable[[str], Document | None]
) -> NamedPlaces | None:
    """Return the code with a text that the task quotes, if only one line outside of tests has the text."""
    texts = [encode(match[1]) for match in QUOTED_TEXT.finditer(task)]
    if not texts:
        return None
    searched = [path for path in paths or await index.code_paths(uri) if not TEST_PATH.search(path)][:MAX_QUOTED_FILES]

    def search() -> list[tuple[str, int]]:
        return [
            (path, document.line_of(match.start()) + 1)
            for path in searched
            if (document := read_text(path)) and find_language_of_file(path)
            for text in texts
            for match in re.finditer(re.escape(text), document.data)
        ]

    # each file is read from the disk
    found = await asyncio.to_thread(search)
    if len(set(found)) != 1:
        return None
    path, line = found[0]
    place = await _name_lines(index, uri, FileMention(path, 0, 0, line, line), (path,), read_text)
    return replace(place, doubt="")


async def _find_files(index: IndexQuery, uri: str, reading: TaskReading) -> tuple[list[FileMention], tuple[str, ...]]:
    """Return the mentions of files that exist, and the paths of these files.

    Raises:
        NoAnswer: The only file that the task names does not exist.
    """
    found: list[FileMention] = []
    paths: dict[str, None] = {}
    missing: list[FileMention] = []
    for mention in reading.files:
        matching = await index.paths_ending(uri, mention.path)
        # an absolute path, or one with the name of the folder before it
        parts = mention.path.replace("\\", "/").split("/")
        while not matching and len(parts) > 2:
            parts = parts[1:]
            matching = await index.paths_ending(uri, "/".join(parts))
        if matching:
            found.append(mention)
            paths |= dict.fromkeys(matching)
        elif (mention.first or mention.is_place) and find_language_of_file(mention.path):
            missing.append(mention)
    if missing and not found:
        near = await index.near_names(uri, missing[0].path)
        raise NoAnswer(f"there is no file {missing[0].path} in the index of this folder{offer_names(near)}")
    return found, tuple(paths)


async def _name_lines(
    index: IndexQuery,
    uri: str,
    mention: FileMention,
    paths: Sequence[str],
    read_text: Callable[[str], Document | None],
) -> NamedPlaces:
    """Return the innermost declaration at a line, or the line itself outside of declarations.

    Raises:
        NoAnswer: The file has fewer lines.
    """
    path = paths[0]
    document = read_text(path)
    if document is None:
        raise NoAnswer(f"{path} cannot be read, or no model may see it")
    count = len(document.line_starts) - document.data.endswith(b"\n")
    if mention.last > count:
        raise NoAnswer(f"{path} has {count} lines, so there is no line {mention.last}")
    doubt = f"{len(paths)} files are called {mention.path}" if paths[1:] else ""
    if mention.first == mention.last and (name := _find_around(document, mention.first)):
        symbols = [symbol for symbol in await index.symbols_in(uri, path) if symbol.qualified == name]
        symbols.sort(key=lambda symbol: abs(symbol.line + 1 - mention.first))
        if symbols:
            return NamedPlaces((symbols[0],), (path,), doubt=doubt)
    return NamedPlaces((), (path,), (mention.first, mention.last), doubt)


def _is_inside_test(symbol: Symbol) -> bool:
    """Return whether a function of a test declares a symbol."""
    return TEST_PATH.search(symbol.path) is not None and any(
        part.startswith("test_") for part in symbol.qualified.split(".")[:-1]
    )


def _find_around(document: Document, line: int) -> str:
    """Return the qualified name of the innermost function or type around a line, from 1. Empty if there is none."""
    tree = parse(document)
    if tree is None:
        return ""
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    around = [
        one
        for one in declarations
        if document.line_of(one.start) < line <= document.line_of(max(one.start, one.end - 1)) + 1
        and one.kind not in WEAK_KINDS
    ]
    innermost = max(around, key=lambda one: one.start, default=None)
    return qualified_name(declarations, innermost) if innermost else ""


async def _leave_tests(index: IndexQuery, uri: str, named: NamedPlaces) -> NamedPlaces:
    """Return the code that the named tests run instead of the tests: a test that fails is not what has to change."""
    tests = [symbol for symbol in named.symbols if TEST_PATH.search(symbol.path)]
    sources = [symbol for symbol in named.symbols if not TEST_PATH.search(symbol.path)]
    if sources or not tests:
        paths = tuple(path for path in named.paths if not TEST_PATH.search(path))
        keeps_lines = named.lines if paths == named.paths else None
        return replace(named, symbols=tuple(sources), paths=paths, lines=keeps_lines, source_only=True)
    tested = await find_tested_code(index, uri, tests)
    listed = ", ".join(symbol.qualified for symbol in tested[1 : 1 + MAX_LISTED])
    doubt = f"{tests[0].name} also runs {listed}" if listed else ""
    return NamedPlaces(tuple(tested), doubt=doubt, source_only=True, is_ordered=bool(tested))


@dataclass(slots=True)
class _Names:
    """The choice among the names of one task.

    Attributes:
        index: The index of the folder.
        uri: The URI of the folder.
        reading: What the task mentions.
        mentions: The words that may be names.
        paths: The files that the task names.
    """

    index: IndexQuery
    uri: str
    reading: TaskReading
    mentions: Sequence[Mention]
    paths: tuple[str, ...]

    async def choose(self) -> NamedPlaces:
        """Return the declarations of the name that the task is about.

        Raises:
            NoAnswer: The task names something that the folder does not declare.
        """
        asked = {mention.last for mention in self.mentions} | {
            part for mention in self.mentions for part in mention.name.split(".")
        }
        declared: dict[str, list[Symbol]] = {}
        for symbol in await self.index.symbols_with_names(self.uri, asked):
            declared.setdefault(symbol.name, []).append(symbol)
        meanings = [(mention, await self._find_meant(mention, declared)) for mention in self.mentions]
        found = self._join_members([(mention, symbols) for mention, symbols in meanings if symbols])
        best = max(found, key=lambda pair: (pair[0].weight, pair[0].role, -pair[0].start), default=None)
        if best and best[0].weight >= MIN_WEIGHT:
            return self._describe(*best)
        known = {mention.start for mention, _ in found}
        await self._require_existence([mention for mention in self.mentions if mention.start not in known])
        return NamedPlaces(paths=self.paths)

    # -- meanings
    async def _find_meant(self, mention: Mention, declared: dict[str, list[Symbol]]) -> list[Symbol]:
        """Return the declarations that a mention may mean, those first that fit what the task says about the place.

        Raises:
            NoAnswer: The name says the type of a member that this type does not have.
        """
        *prefix, last = mention.name.split(".")
        symbols = declared.get(last, [])
        if mention.spelling < CODE:
            symbols = [symbol for symbol in symbols if symbol.kind not in WEAK_KINDS | {"member"}]
        # what a test declares for itself is not what another prompt names
        symbols = [symbol for symbol in symbols if not _is_inside_test(symbol)] or (symbols if self.paths else [])
        if prefix:
            symbols = await self._fit_prefix(mention, prefix, symbols, declared)
        if self.paths:
            inside = [symbol for symbol in symbols if symbol.path in self.paths]
            # the file may be that of another name
            symbols = inside or ([] if mention.spelling == PLAIN else symbols)
        wants_tests = self.reading.edits_tests or self.reading.repairs_tests
        if not wants_tests or not last.lower().startswith("test"):
            symbols = [one for one in symbols if not TEST_PATH.search(one.path)] or (
                symbols if mention.spelling >= CODE or wants_tests or self.paths else []
            )
        return sorted(symbols, key=lambda one: (one.kind in WEAK_KINDS, bool(TEST_PATH.search(one.path))))

    async def _fit_prefix(
        self, mention: Mention, prefix: Sequence[str], symbols: list[Symbol], declared: dict[str, list[Symbol]]
    ) -> list[Symbol]:
        """Return the declarations whose type, module or file is the part of a name before its last dot.

        Raises:
            NoAnswer: It is a type that has no such member.
        """
        *_, last = mention.name.split(".")
        around = prefix[-1]
        if around in SELF_NAMES:
            return symbols
        exact = [one for one in symbols if f".{one.qualified}".endswith(f".{mention.name}")]
        exact = exact or [one for one in symbols if f".{one.qualified}".endswith(f".{around}.{last}")]
        if exact:
            return exact
        module = "/".join(prefix)
        inside = [one for one in symbols if f"/{one.path.rpartition('.')[0]}".endswith((f"/{module}", f"/{around}"))]
        if inside:
            return inside
        inside = [one for one in symbols if f"/{module}/" in f"/{one.path}"]
        if inside:
            return inside
        types = [one for one in declared.get(around, ()) if one.kind in TYPE_KINDS]
        if not types:
            # an object, such as `signer.sign`: its type is not known, so its name has to say it
            return sorted(symbols, key=lambda one: around.lower() not in one.qualified.lower())
        if inherited := await self._find_inherited(types, symbols):
            return inherited
        if mention.weight >= MIN_WEIGHT and not mention.is_new:
            members = [
                one.name
                for one in await self.index.symbols_in(self.uri, types[0].path)
                if one.qualified == f"{types[0].qualified}.{one.name}"
            ]
            raise NoAnswer(
                f"{types[0].qualified} has no member {last}{offer_names(_sort_by_similarity(last, members))}"
            )
        return []

    async def _find_inherited(self, types: Sequence[Symbol], symbols: Sequence[Symbol]) -> list[Symbol]:
        """Return the members among `symbols` that types inherit, the nearest base first."""
        seen: set[str] = set()
        bases = [base for one in types for base in one.bases]
        while bases:
            names = {re.split(r"[\[<(]", base)[0].rpartition(".")[2] for base in bases} - seen
            seen |= names
            if found := [
                one for one in symbols if one.qualified.split(".")[-2:-1] and one.qualified.split(".")[-2] in names
            ]:
                return found
            declared = await self.index.symbols_with_names(self.uri, names) if names else []
            bases = [base for one in declared if one.kind in TYPE_KINDS for base in one.bases]
        return []

    def _join_members(self, found: list[tuple[Mention, list[Symbol]]]) -> list[tuple[Mention, list[Symbol]]]:
        """Return the meanings, with those members first whose type or file the task names, too."""
        joined: list[tuple[Mention, list[Symbol]]] = []
        for mention, symbols in found:
            owners = [
                owner
                for other, others in found
                for owner in others
                if other is not mention and owner.kind in TYPE_KINDS and other.role >= 0
            ]
            members = [
                one
                for one in symbols
                if any(one.path == o.path and one.qualified.startswith(f"{o.qualified}.") for o in owners)
            ]
            if members and mention.role >= 0:
                # “the sign method of Signer” is about the method
                mention = replace(mention, role=mention.role + TARGET + NAMED_KIND)
                symbols = members
            joined.append((mention, symbols))
        return joined

    def _describe(self, mention: Mention, symbols: list[Symbol]) -> NamedPlaces:
        count = len({(one.path, one.qualified) for one in symbols})
        doubt = f"{mention.name} is the name of {count} declarations" if count > 1 else ""
        return NamedPlaces(tuple(symbols), self.paths, doubt=doubt)

    # -- what does not exist
    async def _require_existence(self, mentions: Iterable[Mention]) -> None:
        """Raise NoAnswer if the task wants a change of something that the folder does not have."""
        for mention in mentions:
            if mention.is_new or mention.role < TARGET or (self.paths and mention.spelling < QUOTED):
                continue
            if mention.spelling < CODE and len(mention.name) < MIN_MISSPELLED_CHARS:
                continue
            if "." in mention.name and mention.spelling < QUOTED:
                # a file, or a member of something that is not of this folder
                continue
            if await self.index.has_word(self.uri, mention.last):
                continue
            near = await self.index.near_names(self.uri, mention.last)
            # capitals inside of a word are also those of products: GitHub
            is_word = mention.spelling < CODE or (mention.spelling < QUOTED and mention.name[0].isupper())
            if is_word and not is_misspelled(mention.name, near):
                continue
            raise NoAnswer(f"there is no symbol {mention.name} in this folder{offer_names(near)}")


def is_misspelled(word: str, near: Sequence[str]) -> bool:
    """Return whether a plain word is a name with a wrong letter, and no other form of the same word."""
    from difflib import SequenceMatcher

    lower = word.lower()
    return any(
        SequenceMatcher(None, lower, name.lower()).ratio() >= 0.8
        and not (lower.startswith(name.lower()[:-1]) or name.lower().startswith(lower[:-1]))
        for name in near
    )


def _sort_by_similarity(name: str, others: Iterable[str]) -> list[str]:
    from difflib import SequenceMatcher

    return sorted(others, key=lambda other: -SequenceMatcher(None, name.lower(), other.lower()).ratio())


def offer_names(near: Sequence[str]) -> str:
    """Return the part of a message that offers similar names. Empty if there are none."""
    listed = ", ".join(near[:MAX_LISTED])
    return f"; the most similar names are: {listed}" if listed else ""

"""The facts for answers to exact questions, the declarations that these mean, and the forms of answers.

An answer names places as `path:line`, with lines from 1.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from lsp_harness.coding.location.named_places import is_misspelled, offer_names
from lsp_harness.coding.location.task_location import SIDE_PATH
from lsp_harness.coding.questions.question import Question
from lsp_harness.index.declaration_shape import STUB_PATH, TEST_PATH, is_test_code
from lsp_harness.index.graph.symbol_graph import Edge
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.knowledge.stdlib_tables import common_words
from lsp_harness.syntax.symbols.declarations import IMPLEMENTATION, TYPE_KINDS, WEAK_KINDS
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_LISTED = 60
"""Most lines of a list. The rest is counted."""
MAX_MEANINGS = 8
"""Most declarations of one name that are described."""
PROSE = (".md", ".rst", ".txt")
MAX_SIGNATURE_CHARS = 240
MAX_RAISED_LINES = 6
"""Most lines of one statement that are shown on one line."""
FUNCTION_KINDS = frozenset({"function", "method", "constructor", "macro"})

NAME_FAMILIES = frozenset({"callers", "callees", "tests", "signature", "raises"})
"""Families of questions that are about a name."""
RAISE_PATTERNS = (
    r"\braise\s+[A-Za-z_]",
    r"\bthrow\s+(?:new\s+)?[A-Za-z_$]",
    r"\b[Ee]rr\(\s*[A-Z]",
    r"\b(?:bail|panic|unreachable|todo|unimplemented)!",
)
RAISE = re.compile("|".join(RAISE_PATTERNS))
"""Matches code that raises an exception, or returns an error, in some languages."""
GitReader = Callable[..., Awaitable[str]]
"""Runs git in the folder with some arguments, and returns what it prints. Raises HarnessError."""


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """An answer that a program has found, and no model.

    Attributes:
        text: The answer in words, with places.
        symbol: The declaration that the question was about, for the next question. None if there was none.
        path: The file that the question was about, if it was about no declaration. It may be empty.
    """

    text: str
    symbol: Symbol | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The sources of answers: the index, the texts, git and the checks of a folder.

    Attributes:
        index: The indexes of the workspace folders.
        uri: The URI of the folder.
        name: The name of the folder.
        read_text: Returns the present text of a file, or None if no model may see it.
        run_git: Reads the state of git.
        find_findings: Returns the lines of the findings of our own checks in a file, and which checks looked for them.
        run_tests: Runs the tests that depend on a file, or all tests for an empty path, and returns their results in
            lines. The permission gate is asked.
        describe_package_name: Returns the head and the documentation of a name in a package, or an empty text if no
            package is known to have it.
    """

    index: IndexQuery
    uri: str
    name: str
    read_text: Callable[[str], Document | None]
    run_git: GitReader
    find_findings: Callable[[str], Awaitable[tuple[Sequence[str], str]]]
    run_tests: Callable[[str], Awaitable[Sequence[str]]]
    describe_package_name: Callable[[str], Awaitable[str]]


# -- what a question is about


@dataclass(frozen=True, slots=True)
class NamedDeclarations:
    """The declarations that a name means, or the answer that there are none."""

    symbols: tuple[Symbol, ...]
    absence: ExactAnswer | None = None


async def find_subject(
    facts: ProjectFacts, question: Question, kinds: Collection[str] = ()
) -> NamedDeclarations | None:
    """Return the declarations of the name of a question, or None if the name is a plain word that nothing declares.

    Args:
        facts: The facts.
        question: The question.
        kinds: The kinds that are meant if the name has several; empty for all but the unspecific ones.
    """
    name = re.sub(r"^(?:self|this|cls)\.", "", question.name)
    symbols = await find_named(facts, name)
    if not symbols and "." in name:
        # a member that the type inherits, or a name behind the name of its module
        owner, last = name.rsplit(".", 1)
        symbols = await _find_member(facts, owner, last)
        if not symbols and question.family == "signature":
            # a parameter of the owner
            symbols = await find_named(facts, owner)
    if not symbols:
        near = await facts.index.near_names(facts.uri, name.rpartition(".")[2])
        exact = [one for one in near if one.lower() == name.lower()]
        if exact:
            symbols = await find_named(facts, exact[0])
        elif is_written_as_name(name) or is_misspelled(name, near) or _is_only_name(question, name):
            return NamedDeclarations((), ExactAnswer(describe_absence(facts, f"symbol {name}", near)))
        else:
            return None
    if question.file:
        inside = [one for one in symbols if f"/{one.path}".endswith(f"/{question.file.removeprefix('./')}")]
        if not inside:
            return NamedDeclarations((), ExactAnswer(_describe_elsewhere(question, symbols)))
        symbols = inside
    else:
        symbols = drop_stubs(symbols)
    wanted = [one for one in symbols if one.kind in kinds] if kinds else []
    strong = [one for one in symbols if one.kind not in WEAK_KINDS]
    unique = {(one.path, one.qualified): one for one in wanted or strong or symbols}
    return NamedDeclarations(tuple(sorted(unique.values(), key=_rank_symbol)))


def _is_only_name(question: Question, name: str) -> bool:
    """Return whether a plain word of a question can only be meant as a name: it is no ordinary word."""
    return question.family in NAME_FAMILIES and name.lower() not in common_words()


def drop_stubs(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Return declarations without those heads whose bodies are among the others."""
    bodies = {one.qualified for one in symbols if not STUB_PATH.search(one.path)}
    return [one for one in symbols if one.qualified not in bodies or not STUB_PATH.search(one.path)]


def _describe_elsewhere(question: Question, symbols: Sequence[Symbol]) -> str:
    places = ", ".join(format_place(one) for one in symbols[:MAX_MEANINGS])
    return f"There is no {question.name} in {question.file}; it is declared in {places}."


async def find_named(facts: ProjectFacts, name: str) -> list[Symbol]:
    symbols = await facts.index.symbols_named(facts.uri, SymbolName(name))
    return [one for one in symbols if one.kind != IMPLEMENTATION] or symbols


async def _find_member(facts: ProjectFacts, owner: str, last: str) -> list[Symbol]:
    """Return the member of a type's bases, or the declaration in a module of this name."""
    named = await find_named(facts, last)
    module = owner.replace(".", "/")
    inside = [
        one
        for one in named
        if f"/{PurePosixPath(one.path).with_suffix('')}".endswith(f"/{module}") or f"/{module}/" in f"/{one.path}"
    ]
    if inside:
        return inside
    seen, owners = set[str](), [owner.rpartition(".")[2]]
    while owners:
        types = [one for name in owners for one in await find_named(facts, name) if one.kind in TYPE_KINDS]
        bases = {read_bare_name(base) for one in types for base in one.bases} - seen
        seen |= bases
        if found := [one for one in named if one.qualified.split(".")[-2:-1] and one.qualified.split(".")[-2] in bases]:
            return found
        owners = sorted(bases)
    return []


def _rank_symbol(symbol: Symbol) -> tuple[bool, str, int]:
    return is_test_code(symbol.path, symbol.qualified), symbol.path, symbol.line


def is_written_as_name(name: str) -> bool:
    """Return whether a word is written as only names are: with a dot, an underscore, a digit or inner capitals."""
    return not name.isalpha() or split_words(name) != name


def describe_absence(facts: ProjectFacts, what: str, near: Sequence[str]) -> str:
    return f"There is no {what} in {facts.name}{offer_names(near)}."


async def find_file(facts: ProjectFacts, question: Question) -> str | ExactAnswer:
    """Return the path of the file of a question, or the answer that there is none or more than one."""
    written = question.file or question.name
    paths = await facts.index.paths_ending(facts.uri, written)
    if not paths and (question.name or "." not in written.rpartition("/")[2]):
        # the name of a module
        ending = re.sub(r"^(?:crate|self|super)/", "", written.replace(".", "/"))
        paths = [
            path
            for path in await facts.index.code_paths(facts.uri)
            if f"/{PurePosixPath(path).with_suffix('')}".removesuffix("/__init__").endswith(f"/{ending}")
        ]
        # a module of the program comes before tests and texts of the same name
        paths = [path for path in paths if not TEST_PATH.search(path) and not path.endswith(PROSE)] or paths
    if not paths:
        stem = PurePosixPath(written).name
        near = [path for path in await facts.index.code_paths(facts.uri) if _is_similar(stem, PurePosixPath(path).name)]
        absence = describe_absence(facts, f"file {written}", near)
        folder = written.rpartition("/")[0]
        beside = await facts.index.code_paths(facts.uri, folder) if folder and not near else []
        names = ", ".join(path.removeprefix(f"{folder}/") for path in beside[:MAX_MEANINGS])
        more = ", …" if len(beside) > MAX_MEANINGS else ""
        return ExactAnswer(f"{absence} {folder} has {names}{more}." if names else absence)
    exact = [path for path in paths if path == written.removeprefix("./")]
    # a file of the program comes before those of tests, benchmarks and examples
    own = [path for path in paths if not (TEST_PATH.search(path) or SIDE_PATH.search(path))]
    paths = own if len(own) == 1 else paths
    if len(exact or paths) > 1:
        return ExactAnswer(f"{written} may be: {', '.join(paths[:MAX_MEANINGS])}. Write more of the path.")
    return (exact or paths)[0]


def _is_similar(name: str, other: str) -> bool:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, name.lower(), other.lower()).ratio() >= 0.75


# -- forms of answers


def format_place(symbol: Symbol) -> str:
    return f"{symbol.path}:{symbol.line + 1}"


def describe_symbol(symbol: Symbol) -> str:
    return f"{symbol.kind} {symbol.qualified}"


def read_bare_name(base: str) -> str:
    """Return the last name of a base as it is written: `Base` of `pkg.Base[int]`."""
    return re.split(r"[\[<(]", base.replace("::", "."))[0].strip().rpartition(".")[2]


def format_list(lines: Sequence[str]) -> str:
    """Return the lines of a list below a sentence. What is too long is counted."""
    shown = [f"\n  {line}" for line in lines[:MAX_LISTED]]
    rest = len(lines) - MAX_LISTED
    return "".join(shown) + (f"\n  … and {rest:,} more" if rest > 0 else "")


def format_symbols(symbols: Iterable[Symbol]) -> str:
    return format_list([f"{format_place(one)}  {describe_symbol(one)}" for one in symbols])


def format_edges(edges: Iterable[Edge]) -> str:
    return format_list([_describe_edge(edge) for edge in edges])


def drop_repeated(tests: Iterable[Edge]) -> list[Edge]:
    """Return one edge for each test, its first one: a test may call a function more than once."""
    return list({(edge.path, edge.name): edge for edge in reversed([*tests])}.values())[::-1]


def _describe_edge(edge: Edge) -> str:
    through = f" through {edge.through}" if edge.through else ""
    return f"{edge.path}:{edge.line + 1}  {edge.name or 'outside of functions'}{through}"


def read_signature(facts: ProjectFacts, symbol: Symbol) -> str:
    """Return the head of a declaration on one line, without its body. Empty if no model may see its file."""
    document = facts.read_text(symbol.path)
    if document is None:
        return ""
    end = symbol.body if symbol.body > symbol.start else symbol.end
    head = " ".join(decode(document.data[symbol.start : end]).split()).rstrip(" {:")
    return f"{head[:MAX_SIGNATURE_CHARS]}{'…' if len(head) > MAX_SIGNATURE_CHARS else ''}"


def read_body(facts: ProjectFacts, symbol: Symbol) -> str:
    document = facts.read_text(symbol.path)
    return decode(document.data[symbol.start : symbol.end]) if document else ""


def find_lines(document: Document, symbol: Symbol) -> tuple[int, int]:
    """Return the first and the last line of a declaration in its text, from 1."""
    return document.line_of(symbol.start) + 1, document.line_of(max(symbol.start, symbol.end - 1)) + 1


async def answer_about(
    facts: ProjectFacts,
    question: Question,
    describe: Callable[[Symbol], Awaitable[str]],
    kinds: Collection[str] = (),
) -> ExactAnswer | None:
    """Return the answer about each declaration of the name of a question.

    Args:
        facts: The facts.
        question: The question.
        describe: Returns the answer about one declaration.
        kinds: The kinds that are meant if the name has several.
    """
    subject = await find_subject(facts, question, kinds)
    if subject is None or subject.absence:
        return subject and subject.absence
    texts = [await describe(symbol) for symbol in subject.symbols[:MAX_MEANINGS]]
    if rest := len(subject.symbols) - MAX_MEANINGS:
        texts += [f"{rest} more declarations have this name."] if rest > 0 else []
    return ExactAnswer("\n\n".join(texts), subject.symbols[0])


def find_raised(body: str, first_line: int) -> Iterator[tuple[str, int]]:
    """Yield the statements of a body that raise something, each on one line, with their lines from 1.

    Comments are left out.
    """
    lines = body.splitlines()
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("#", "//", "*")) or not RAISE.search(line):
            continue
        statement = line.strip()
        for more in lines[number + 1 : number + MAX_RAISED_LINES]:
            if statement.count("(") <= statement.count(")"):
                break
            statement = f"{statement}{'' if statement.endswith('(') else ' '}{more.strip()}"
        yield statement[:MAX_SIGNATURE_CHARS], first_line + number + 1

"""Answers to questions about a file, about all that a folder declares, and about its git."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from lsp_harness.coding.questions.line_topics import list_lines, read_line_topic
from lsp_harness.coding.questions.project_facts import (
    FUNCTION_KINDS,
    MAX_LISTED,
    ExactAnswer,
    ProjectFacts,
    answer_about,
    describe_absence,
    describe_symbol,
    drop_stubs,
    find_file,
    find_lines,
    find_named,
    find_raised,
    format_list,
    format_place,
    format_symbols,
    read_bare_name,
)
from lsp_harness.coding.questions.question import Question
from lsp_harness.index.declaration_shape import TEST_PATH, is_test_code
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.syntax.symbols.declarations import IMPLEMENTATION, TYPE_KINDS, WEAK_KINDS
from lsp_harness.syntax.symbols.import_block import find_import_statements
from lsp_harness.syntax.tree import parse
from lsp_harness.text.position import decode
from lsp_harness.text.wording import format_count

PARTS = WEAK_KINDS | {"member", IMPLEMENTATION}
"""Kinds that an outline leaves out inside of other declarations."""
MAX_NAMES = 12
"""Most names of declarations that are shown behind a file of a folder."""
MAX_RUN_FILES = 3
"""Most files of tests that are run for a question about tests with a name."""
HEADER = re.compile(
    r"(?:#!.*\n)?\s*(?:[rRuU]?(?:\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?''')|/\*[\s\S]*?\*/|(?:[ \t]*(?:#|//|--).*\n?)+)"
)
"""Matches the docstring or the comment at the beginning of a file."""
EXCEPTION_NAME = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt|Throwable|Panic)$")
TEST_FILE_NAME = re.compile(r"(?:^|/)tests?[_-][^/]*$|[_.-](?:test|tests|spec)\.[^/]*$")

# -- about files


async def list_contents(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say what a file declares: all of it, or one kind."""
    if question.folder:
        return await _list_folder(facts, question.folder)
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    symbols = await facts.index.symbols_in(facts.uri, path)
    if line_topic := read_line_topic(_read_singular(question.topic)):
        return replace(await list_lines(facts, line_topic, [path], f"in {path}"), path=path)
    if question.topic:
        topic = read_topic(question.topic)
        if topic is None:
            return None
        wanted = [one for one in await topic.select(facts, symbols) if one.path == path]
        return _list_topic(topic, wanted, f"in {path}", wanted[0] if wanted else None)
    outline = [one for one in symbols if one.kind not in PARTS or (one.parent < 0 and one.kind != IMPLEMENTATION)]
    if not outline:
        return ExactAnswer(f"{path} declares nothing that the index knows.")
    count = format_count(len(outline), "declaration")
    return ExactAnswer(f"{path} has {count}:{format_symbols(outline)}", outline[0])


async def _list_folder(facts: ProjectFacts, folder: str) -> ExactAnswer:
    """Say which files a folder has, and what each of them declares outside of other declarations."""
    paths = await facts.index.code_paths(facts.uri, folder)
    if not paths:
        module = Question("contents", file=folder)
        if isinstance(await find_file(facts, module), str):
            answer = await list_contents(facts, module)
            assert answer
            return answer
        return ExactAnswer(describe_absence(facts, f"folder {folder} with code", ()))
    lines = list[str]()
    for path in paths[:MAX_LISTED]:
        symbols = await facts.index.symbols_in(facts.uri, path)
        outer = [one.name for one in symbols if one.parent < 0 and one.kind not in PARTS]
        names = ", ".join(outer[:MAX_NAMES]) + (", …" if len(outer) > MAX_NAMES else "")
        lines.append(f"{path}  {names}".rstrip())
    lines += paths[MAX_LISTED:]
    return ExactAnswer(f"There {_count_files(paths, 'file')} with code in {folder}:{format_list(lines)}")


async def list_imports(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say what a file imports."""
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    document = facts.read_text(path)
    tree = parse(document) if document else None
    if document is None or tree is None:
        return ExactAnswer(f"{path} cannot be read, or its language has no grammar here.")
    statements = find_import_statements(tree)
    lines = [f"{path}:{document.line_of(one.span.start) + 1}  {' '.join(one.text.split())}" for one in statements]
    return ExactAnswer(
        f"{path} has {format_count(len(lines), 'import')}:{format_list(lines)}" if lines else f"{path} imports nothing."
    )


async def list_importers(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which files import a file directly."""
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    paths = await facts.index.importers(facts.uri, path)
    if not paths:
        return ExactAnswer(f"No file of {facts.name} imports {path}.")
    verb = "imports" if len(paths) == 1 else "import"
    return ExactAnswer(f"{format_count(len(paths), 'file')} {verb} {path}:{format_list(paths)}")


async def list_findings(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say what our own checks find in a file."""
    if not question.file:
        return None
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    lines, checks = await facts.find_findings(path)
    return ExactAnswer(
        f"Our checks have {format_count(len(lines), 'finding')} in {path}:{format_list(lines)}\n({checks})"
        if lines
        else f"Our checks find nothing in {path} ({checks})."
    )


async def show_results(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Run all tests, those of a file, or those in the files of tests with a name, and say how they ended."""
    if question.name:
        word = question.name.lower()
        paths = _select_test_files(await facts.index.code_paths(facts.uri))
        named = [path for path in paths if word in re.split(r"[\W_]+", path.rpartition("/")[2].lower())]
        named = named or await _find_test_files(facts, question.name)
        if not named:
            return ExactAnswer(f"{facts.name} has no file of tests with the name {question.name}.")
        return await _run_files(facts, named)
    if question.folder:
        paths = _select_test_files(await facts.index.code_paths(facts.uri, question.folder))
        none = ExactAnswer(f"{question.folder} has no file of tests.")
        return await _run_files(facts, paths) if paths else none
    path = await find_file(facts, question) if question.file else ""
    if isinstance(path, ExactAnswer):
        return path
    return ExactAnswer("\n".join(await facts.run_tests(path)))


async def _find_test_files(facts: ProjectFacts, name: str) -> list[str]:
    """Return the files of the tests that run a declaration."""
    paths = list[str]()
    for symbol in await find_named(facts, name):
        overview = await facts.index.symbol_overview(facts.uri, symbol)
        paths += [edge.path for edge in (overview.graph.tests if overview else ())]
    return list(dict.fromkeys(paths))


async def _run_files(facts: ProjectFacts, paths: Sequence[str]) -> ExactAnswer:
    """Run the first files of tests, and say which ones were left out."""
    results = [f"{path}:\n{chr(10).join(await facts.run_tests(path))}" for path in paths[:MAX_RUN_FILES]]
    if rest := len(paths) - MAX_RUN_FILES:
        results += [f"Not run: {format_count(rest, 'more file')}."] if rest > 0 else []
    return ExactAnswer("\n".join(results), path=paths[0])


async def show_header(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the comment or the docstring with which a file begins."""
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    document = facts.read_text(path)
    text = HEADER.match(decode(document.data)) if document else None
    return ExactAnswer(
        f"{path} begins with:\n{text[0].strip()}" if text and text[0].strip() else f"{path} has no header."
    )


async def list_raised_in_file(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which exceptions the code of a file raises."""
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    document = facts.read_text(path)
    lines = [f"{path}:{line}  {code}" for code, line in find_raised(decode(document.data) if document else "", 0)]
    return ExactAnswer(
        f"{path} raises:{format_list(lines)}" if lines else f"The code of {path} raises nothing by itself."
    )


# -- about the folder


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of declarations that a question may be about.

    Attributes:
        noun: The kind in the singular.
        plural: The kind in the plural.
        kinds: The kinds of symbols of the index to choose from.
        matches: Returns whether a symbol is of the kind; gets the names of all types that extend a type of `base`, too.
        base: Matches the names of types whose heirs are of the kind, or None if the kind has none.
    """

    noun: str
    plural: str
    kinds: frozenset[str]
    matches: Callable[[Symbol, Collection[str]], bool] = lambda symbol, heirs: True
    base: re.Pattern[str] | None = None

    async def select(self, facts: ProjectFacts, symbols: Iterable[Symbol]) -> list[Symbol]:
        """Return those of some symbols that are of the kind."""
        heirs = set[str]()
        if self.base:
            heirs = _find_heirs(await facts.index.symbols_of_kinds(facts.uri, sorted(TYPE_KINDS)), self.base)
        return [one for one in symbols if one.kind in self.kinds and self.matches(one, heirs)]


def _find_heirs(types: Sequence[Symbol], base_name: re.Pattern[str]) -> set[str]:
    """Return the names of the types that extend, also indirectly, a type with such a name."""
    found, is_changed = set[str](), True
    while is_changed:
        more = {
            one.name
            for one in types
            if one.name not in found
            and any(base in found or base_name.search(base) for base in map(read_bare_name, one.bases))
        }
        found, is_changed = found | more, bool(more)
    return found


def _is_heir(symbol: Symbol, heirs: Collection[str]) -> bool:
    return symbol.name in heirs


def _is_exception(symbol: Symbol, heirs: Collection[str]) -> bool:
    # types of languages without inheritance say it by their names
    return symbol.name in heirs or (not symbol.bases and re.search(r"(?:Error|Exception)$", symbol.name) is not None)


TYPES = TYPE_KINDS - {IMPLEMENTATION}
TOPICS = (
    Topic("exception", "exceptions", TYPES, _is_exception, EXCEPTION_NAME),
    Topic("protocol", "protocols", TYPES, _is_heir, re.compile("^Protocol$")),
    Topic("abstract class", "abstract classes", TYPES, _is_heir, re.compile("^ABC$")),
    Topic("typed dict", "typed dicts", TYPES, _is_heir, re.compile("^TypedDict$")),
    Topic("function", "functions", FUNCTION_KINDS - {"macro"}),
    Topic("method", "methods", frozenset({"method", "constructor"})),
    Topic("class", "classes", frozenset({"class"})),
    Topic("struct", "structs", frozenset({"struct"})),
    Topic("trait", "traits", frozenset({"interface"})),
    Topic("interface", "interfaces", frozenset({"interface"})),
    Topic(
        "enum",
        "enums",
        TYPES,
        lambda symbol, heirs: symbol.kind == "enum" or symbol.name in heirs,
        re.compile("^(?:Int|Str)?(?:Enum|Flag)$"),
    ),
    Topic("macro", "macros", frozenset({"macro"})),
    Topic("type", "types", TYPES | {"type"}),
    Topic("constant", "constants", frozenset({"constant", "variable"}), lambda symbol, _: symbol.parent < 0),
    Topic("declaration", "declarations", FUNCTION_KINDS | TYPES | WEAK_KINDS),
)
FILE_TOPICS = re.compile(
    r"(?:(unit test|test|spec|source|python|py|typescript|tsx?|rust|rs|javascript|jsx?)s?\s+)?(?:files?|modules?)$"
)
ENDING_TOPIC = re.compile(r"\*?(\.[\w.]+) files?$")
"""Matches files with an ending, as a topic: `.test.ts files`."""
SAME_TOPICS = {
    "error": "exception",
    "error type": "exception",
    "error class": "exception",
    "exception class": "exception",
    "custom exception": "exception",
    "symbol": "declaration",
    "definition": "declaration",
    "type alias": "type",
    "macro_rule": "macro",
}


def read_topic(text: str) -> Topic | None:
    """Return the kind of declarations that some words name, or None if no kind of ours is meant."""
    singular = _read_singular(text)
    singular = SAME_TOPICS.get(singular, singular)
    return next((topic for topic in TOPICS if topic.noun == singular), None)


def _read_singular(text: str) -> str:
    words = " ".join(text.lower().split())
    return words if words in ("class", "alias") else re.sub(r"(?<=class)es$|(?<=alias)es$|s$", "", words)


def _list_topic(topic: Topic, symbols: Sequence[Symbol], where: str, symbol: Symbol | None = None) -> ExactAnswer:
    if not symbols:
        return ExactAnswer(f"There are no {topic.plural} {where}.")
    verb = "is" if len(symbols) == 1 else "are"
    count = format_count(len(symbols), topic.noun, topic.plural)
    return ExactAnswer(f"There {verb} {count} {where}:{format_symbols(symbols)}", symbol)


async def list_kinds(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which declarations of a kind, or which files, there are. Those of tests are counted apart."""
    where = f"in {question.folder or facts.name}"
    if question.folder and not await facts.index.code_paths(facts.uri, question.folder):
        module = replace(question, folder="", file=question.folder)
        if isinstance(await find_file(facts, module), str):
            return await list_contents(facts, module)
        return ExactAnswer(describe_absence(facts, f"folder {question.folder} with code", ()))
    if match := ENDING_TOPIC.match(question.topic):
        return await _list_files_ending(facts, match[1], question.folder, where)
    if match := FILE_TOPICS.match(question.topic.lstrip(".")):
        return await _list_files(facts, question, match[1] or "", where)
    if line_topic := read_line_topic(_read_singular(question.topic)):
        return await list_lines(facts, line_topic, await facts.index.code_paths(facts.uri, question.folder), where)
    topic = read_topic(question.topic)
    if topic is None:
        return None
    found = await topic.select(
        facts, await facts.index.symbols_of_kinds(facts.uri, sorted(topic.kinds), question.folder)
    )
    unique = list({(one.path, one.qualified): one for one in drop_stubs(found)}.values())
    code = [one for one in unique if not is_test_code(one.path, one.qualified)]
    if unique and not code:
        tested = _list_topic(topic, unique, f"in the tests of {question.folder or facts.name}")
        return ExactAnswer(f"There are no {topic.plural} {where} outside of tests. {tested.text}")
    answer = _list_topic(topic, code, where)
    if tests := len(unique) - len(code):
        more = f"{format_count(tests, 'more', 'more')} in tests"
        return ExactAnswer(f"{answer.text}\nAnd {more}.", answer.symbol)
    return answer


async def _list_files(facts: ProjectFacts, question: Question, kind: str, where: str) -> ExactAnswer:
    paths = await facts.index.code_paths(facts.uri, question.folder)
    if kind in ("test", "spec", "unit test"):
        paths = _select_test_files(paths)
    elif kind == "source":
        paths = [path for path in paths if not TEST_PATH.search(path)]
    elif kind:
        # the words are names of languages and endings of files
        language = find_language_of_file(f"file.{kind}") or find_language(kind)
        extensions = language.extensions
        paths = [path for path in paths if path.rpartition(".")[2] in extensions]
    noun = f"{kind} file".strip()
    text = f"There {_count_files(paths, noun)} with code {where}" if paths else f"There are no {noun}s {where}"
    return ExactAnswer(f"{text}:{format_list(paths)}" if paths else f"{text}.")


async def _list_files_ending(facts: ProjectFacts, ending: str, folder: str, where: str) -> ExactAnswer:
    """Say which files, of all that git knows or may know, have an ending."""
    listed = await facts.run_git("ls-files", "--cached", "--others", "--exclude-standard", "--", folder or ".")
    paths = sorted(path for path in listed.splitlines() if path.endswith(ending))
    noun = f"{ending} file"
    if not paths:
        return ExactAnswer(f"There are no {noun}s {where}.")
    return ExactAnswer(f"There {_count_files(paths, noun)} {where}:{format_list(paths)}")


def _count_files(paths: Sequence[str], noun: str) -> str:
    return f"{'is' if len(paths) == 1 else 'are'} {format_count(len(paths), noun)}"


def _select_test_files(paths: Sequence[str]) -> list[str]:
    """Return the files of tests without their helpers, where the names of files tell them apart."""
    in_tests = [path for path in paths if TEST_PATH.search(path)]
    return [path for path in in_tests if TEST_FILE_NAME.search(path)] or in_tests


# -- about git

COMMIT_FORMAT = "--format=%h %ad %an: %s"


async def show_last_commit(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which files the last commit has changed."""
    text = await facts.run_git("show", "--stat=120", "--no-color", COMMIT_FORMAT, "--date=short", "HEAD")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ExactAnswer(f"The last commit is {lines[0]}{format_list(lines[1:])}")


async def show_first_commit(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the first commit."""
    text = await facts.run_git("log", "--max-parents=0", COMMIT_FORMAT, "--date=short")
    return ExactAnswer(f"The first commit is {text.strip()}")


async def show_file_commits(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the last commits that have changed a file."""
    path = await find_file(facts, question)
    if isinstance(path, ExactAnswer):
        return path
    lines = (await facts.run_git("log", "-5", COMMIT_FORMAT, "--date=short", "--", path)).splitlines()
    return ExactAnswer(
        f"The last commits that changed {path}:{format_list(lines)}" if lines else f"No commit has {path}."
    )


async def show_commits(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the last commits."""
    count = int(await facts.run_git("rev-list", "--count", "HEAD"))
    lines = (await facts.run_git("log", "-5", COMMIT_FORMAT, "--date=short")).splitlines()
    return ExactAnswer(f"There are {format_count(count, 'commit')}; the last ones:{format_list(lines)}")


async def show_declaration_commits(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the last commits that have changed the lines of a declaration."""

    async def describe(symbol: Symbol) -> str:
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        document = facts.read_text(symbol.path)
        if document is None:
            return f"{head} cannot be read."
        first, last = find_lines(document, symbol)
        lines = f"{first},{last}:{symbol.path}"
        found = (await facts.run_git("log", "-s", "-5", COMMIT_FORMAT, "--date=short", f"-L{lines}")).splitlines()
        return f"The last commits that changed {head}:{format_list(found)}" if found else f"No commit has {head}."

    return await answer_about(facts, question, describe)


async def show_person_commits(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the last commits of a person, with their files. There is no answer if nobody of this name commits here."""
    author = re.escape(question.name)
    text = await facts.run_git(
        "log", "-5", "-i", "-E", f"--author={author}", COMMIT_FORMAT, "--date=short", "--stat=120", "--no-color"
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ExactAnswer(f"The last commits of {question.name}:{format_list(lines)}") if lines else None

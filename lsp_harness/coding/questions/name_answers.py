"""Answers to questions about one declaration: its place, users, tests, head, documentation, errors and types."""

import re
from dataclasses import replace

from lsp_harness.coding.questions.folder_answers import list_kinds, list_raised_in_file, show_header
from lsp_harness.coding.questions.project_facts import (
    FUNCTION_KINDS,
    ExactAnswer,
    ProjectFacts,
    answer_about,
    describe_symbol,
    drop_repeated,
    find_file,
    find_named,
    find_raised,
    find_subject,
    format_edges,
    format_list,
    format_place,
    format_symbols,
    is_written_as_name,
    read_bare_name,
    read_body,
    read_signature,
)
from lsp_harness.coding.questions.question import Question
from lsp_harness.index.declaration_shape import is_test_code
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax.symbols.declarations import IMPLEMENTATION, TYPE_KINDS, WEAK_KINDS
from lsp_harness.text.wording import format_count

SHOWN_TESTS = 5
"""So many tests are shown where tests are not what was asked for."""


async def find_place(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say where a name is declared."""

    async def describe(symbol: Symbol) -> str:
        doc = await facts.index.documentation(facts.uri, symbol)
        lines = [read_signature(facts, symbol), doc.partition("\n")[0]]
        return f"{format_place(symbol)}  {describe_symbol(symbol)}" + "".join(f"\n  {line}" for line in lines if line)

    return await _ask_packages(facts, question, await answer_about(facts, question, describe))


async def list_callers(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say who calls or uses a declaration: code, and how many tests."""

    async def describe(symbol: Symbol) -> str:
        overview = await facts.index.symbol_overview(facts.uri, symbol)
        edges = overview.graph.called_by if overview else ()
        sure = [edge for edge in edges if edge.is_certain]
        verb = "calls" if symbol.kind in FUNCTION_KINDS else "uses"
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        says = f"{format_count(len(sure), 'place')} {verb if len(sure) == 1 else verb[:-1]} {head}"
        text = f"{says}:{format_edges(sure)}" if sure else f"Nothing outside of tests surely {verb} {head}."
        if unsure := [edge for edge in edges if not edge.is_certain]:
            text += f"\nThese may, but their types are not known:{format_edges(unsure)}"
        if overview and (tests := drop_repeated(overview.graph.tests)):
            verb = "runs" if len(tests) == 1 else "run"
            more = f"\n  … and {len(tests) - SHOWN_TESTS:,} more" if len(tests) > SHOWN_TESTS else ""
            text += f"\n{format_count(len(tests), 'test')} {verb} it:{format_edges(tests[:SHOWN_TESTS])}{more}"
        return text

    answer = await answer_about(facts, question, describe)
    is_known = answer is not None and answer.symbol is not None
    if is_known or not (question.name[:1].isupper() or is_written_as_name(question.name)):
        return answer
    # a name of a library, or of the language
    if users := await facts.index.mentions(facts.uri, question.name):
        count = format_count(len(users), "declaration")
        text = f"{facts.name} does not declare {question.name}; {count} with this name:{format_symbols(users)}"
        return ExactAnswer(text)
    return answer


async def list_callees(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say what a declaration calls."""

    async def describe(symbol: Symbol) -> str:
        overview = await facts.index.symbol_overview(facts.uri, symbol)
        edges = overview.graph.calls if overview else ()
        sure = [edge for edge in edges if edge.is_certain]
        others = list(dict.fromkeys(edge.name for edge in edges if not edge.is_certain))
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        text = f"{head} calls:{format_edges(sure)}" if sure else f"{head} calls nothing that {facts.name} declares."
        return text + (f"\nAlso: {', '.join(others)}" if others else "")

    return await answer_about(facts, question, describe, FUNCTION_KINDS)


async def list_tests(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which tests run a declaration."""

    async def describe(symbol: Symbol) -> str:
        overview = await facts.index.symbol_overview(facts.uri, symbol)
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        tests = drop_repeated(overview.graph.tests) if overview else []
        text = f"The index knows no test that surely runs {head}."
        if tests:
            verb = "runs" if len(tests) == 1 else "run"
            text = f"{format_count(len(tests), 'test')} {verb} {head}:{format_edges(tests)}"
        sure = {(symbol.path, symbol.qualified), *((edge.path, edge.name) for edge in tests)}
        mentions = await facts.index.mentions(facts.uri, symbol.name)
        if unsure := [
            one for one in mentions if is_test_code(one.path, one.qualified) and (one.path, one.qualified) not in sure
        ]:
            text += f"\nThese have its name, and may run it:{format_symbols(unsure)}"
        if tests or unsure:
            return text
        affected = await facts.index.affected_tests(facts.uri, symbol.path)
        paths = [f"{test.path} ({test.reason})" for test in affected]
        return text + (f"\nThese test files depend on its file:{format_list(paths)}" if paths else "")

    return await answer_about(facts, question, describe)


async def show_signature(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the head of a declaration. Of a class, show that of its constructor, too."""

    async def describe(symbol: Symbol) -> str:
        text = f"{format_place(symbol)}  {describe_symbol(symbol)}\n  {read_signature(facts, symbol)}"
        if symbol.kind in TYPE_KINDS:
            names = find_language(symbol.language).packages.constructor_names
            members = await find_members(facts, symbol)
            for member in (one for one in members if one.name in names):
                text += f"\n{format_place(member)}  {describe_symbol(member)}\n  {read_signature(facts, member)}"
        return text

    return await _ask_packages(facts, question, await answer_about(facts, question, describe))


async def show_documentation(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Show the documentation of a declaration, or the beginning of a file."""
    if not question.name:
        return await show_header(facts, question)

    async def describe(symbol: Symbol) -> str:
        doc = await facts.index.documentation(facts.uri, symbol)
        head = f"{format_place(symbol)}  {read_signature(facts, symbol) or describe_symbol(symbol)}"
        return f"{head}\n{_indent(doc)}" if doc else f"{head}\n  It has no documentation."

    return await _ask_packages(facts, question, await answer_about(facts, question, describe))


async def _ask_packages(facts: ProjectFacts, question: Question, answer: ExactAnswer | None) -> ExactAnswer | None:
    """Return what a package says about the name of a question if the folder declares no such name."""
    if not question.name or (answer is not None and answer.symbol is not None):
        return answer
    text = await facts.describe_package_name(question.name)
    return ExactAnswer(f"{facts.name} does not declare {question.name}. A package has it:\n{text}") if text else answer


def _indent(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


async def list_raised(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which exceptions a function raises by itself, and which ones the functions raise that it surely calls.

    The question may be about a file, too.
    """
    if not question.name:
        return await list_raised_in_file(facts, question)

    async def describe(symbol: Symbol) -> str:
        overview = await facts.index.symbol_overview(facts.uri, symbol)
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        direct = find_raised(read_body(facts, symbol), symbol.line)
        lines = [f"{symbol.path}:{line}  {code}" for code, line in direct]
        for edge in dict.fromkeys(edge for edge in (overview.graph.calls if overview else ()) if edge.is_certain):
            named = await facts.index.symbols_named(facts.uri, SymbolName(edge.name, edge.path))
            for callee in [one for one in named if one.kind in FUNCTION_KINDS and one != symbol][:1]:
                for code, line in find_raised(read_body(facts, callee), callee.line):
                    lines.append(f"{callee.path}:{line}  {code}  (in {callee.qualified}, which it calls)")
        if not lines and (result := RESULT.search(read_signature(facts, symbol))):
            return f"{head} raises nothing by itself. Its head says what it returns: {result[0]}"
        text = f"{head} raises:" if lines else f"{head} and the code that it surely calls raise nothing by themselves."
        return text + format_list(list(dict.fromkeys(lines)))

    return await answer_about(facts, question, describe, FUNCTION_KINDS)


# -- about types


async def find_members(facts: ProjectFacts, symbol: Symbol) -> list[Symbol]:
    """Return the direct members of a type, also those in blocks of their own (`impl Circle`)."""
    types = {symbol.path}
    if find_language(symbol.language).declarations.members_outside_types:
        named = await facts.index.symbols_with_names(facts.uri, [symbol.name])
        types |= {one.path for one in named if one.language == symbol.language}
    found: dict[tuple[str, str, str], Symbol] = {}
    for path in sorted(types):
        for one in await facts.index.symbols_in(facts.uri, path):
            if one.qualified == f"{symbol.qualified}.{one.name}" and one.kind != IMPLEMENTATION:
                found.setdefault((one.path, one.qualified, one.kind), one)
    return list(found.values())


RESULT = re.compile(r"\bResult\s*<.*>")
"""Matches the type by which a function of Rust returns its errors."""
MEMBER_KINDS = {
    "method": FUNCTION_KINDS,
    "function": FUNCTION_KINDS,
    "attribute": WEAK_KINDS,
    "field": WEAK_KINDS,
    "propertie": WEAK_KINDS | FUNCTION_KINDS,
    "variant": WEAK_KINDS,
}


async def list_members(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which members a type has. The name may also be that of a folder or a module."""
    if question.topic and not await find_named(facts, question.name):
        place = replace(question, name="", folder=question.name)
        if await facts.index.code_paths(facts.uri, place.folder) or isinstance(await find_file(facts, question), str):
            return await list_kinds(facts, place)

    async def describe(symbol: Symbol) -> str:
        topic = question.topic.rstrip("s") or "member"
        kinds = MEMBER_KINDS.get(topic)
        members = [one for one in await find_members(facts, symbol) if kinds is None or one.kind in kinds]
        if topic in ("field", "attribute", "variant"):
            members = [one for one in members if one.kind not in TYPE_KINDS | {"type"}]
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        noun = "property" if topic == "propertie" else topic
        if not members:
            inherited = f"; it extends {', '.join(symbol.bases)}" if symbol.bases else ""
            return f"{head} declares no {noun}{inherited}."
        plural = "properties" if topic == "propertie" else f"{topic}s"
        text = f"{head} has {format_count(len(members), noun, plural)}:{format_symbols(members)}"
        return text + (f"\nIt extends {', '.join(symbol.bases)}." if symbol.bases else "")

    return await answer_about(facts, question, describe, TYPE_KINDS)


async def list_subtypes(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say which types extend a type directly, and which ones extend those."""
    subject = await find_subject(facts, question, TYPE_KINDS)
    # a class of a library may have subclasses here
    name = question.name.rpartition(".")[2]
    types = await facts.index.symbols_of_kinds(facts.uri, sorted(TYPE_KINDS))
    direct = [one for one in types if name in map(read_bare_name, one.bases)]
    if not direct:
        if subject is None or subject.absence:
            return subject and subject.absence
        return ExactAnswer(
            f"Nothing in {facts.name} extends {name} ({format_place(subject.symbols[0])}).", subject.symbols[0]
        )
    names, indirect = {one.name for one in direct}, list[Symbol]()
    while more := [one for one in types if one not in direct and one not in indirect and names & _read_base_names(one)]:
        indirect += more
        names |= {one.name for one in more}
    verb = "extends" if len(direct) == 1 else "extend"
    text = f"{format_count(len(direct), 'type')} {verb} {name}:{format_symbols(direct)}"
    text += f"\nIndirectly:{format_symbols(indirect)}" if indirect else ""
    return ExactAnswer(text, subject.symbols[0] if subject and subject.symbols else direct[0])


def _read_base_names(symbol: Symbol) -> set[str]:
    return {read_bare_name(base) for base in symbol.bases}


async def list_bases(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Say what a type extends, up to the types of libraries."""

    async def describe(symbol: Symbol) -> str:
        head = f"{describe_symbol(symbol)} ({format_place(symbol)})"
        if not symbol.bases:
            return f"{head} extends nothing."
        lines, seen, todo = list[str](), set[str](), [*symbol.bases]
        while todo:
            base = todo.pop(0)
            if base in seen:
                continue
            seen.add(base)
            declared = [one for one in await find_named(facts, read_bare_name(base)) if one.kind in TYPE_KINDS]
            lines.append(
                f"{format_place(declared[0])}  {base}" if declared else f"{base}, which {facts.name} does not declare"
            )
            todo += declared[0].bases if declared else ()
        return f"{head} extends {', '.join(symbol.bases)}:{format_list(lines)}"

    return await answer_about(facts, question, describe, TYPE_KINDS)

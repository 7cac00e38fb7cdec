"""A variable or an import that nothing uses, added to a text."""

from collections.abc import Iterator
from random import Random

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.uses import find_grammar
from benchmarks.one_fault.registry import LANGUAGES, Candidate, register_mutation
from benchmarks.one_fault.wording import UNUSED_IMPORT, UNUSED_VARIABLE, Wording
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

SNAKE = ("retries", "old_value", "is_ready", "total_count", "last_seen", "fallback", "attempt_no")
CAMEL = ("retries", "oldValue", "isReady", "totalCount", "lastSeen", "fallback", "attemptNo")
VARIABLES: dict[str, tuple[str, ...]] = {
    "python": ("{x} = 0", "{x} = []", "{x} = None", "{x} = 'none'"),
    "javascript": ("const {x} = 0;", "let {x} = [];", "var {x} = null;"),
    "typescript": ("const {x} = 0;", "let {x}: string[] = [];", "const {x}: number = 3;"),
    "go": ("{x} := 0", "var {x} string", '{x} := "none"'),
    "rust": ("let {x} = 0;", 'let {x} = "none";', "let {x}: Option<u32> = None;"),
    "java": ("int {x} = 0;", 'String {x} = "none";', "boolean {x} = false;"),
    "csharp": ("int {x} = 0;", 'string {x} = "none";', "bool {x} = false;"),
    "php": ("${x} = 0;", "${x} = [];", "${x} = null;"),
    "ruby": ("{x} = 0", "{x} = []", "{x} = nil"),
}
IMPORTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "python": (
        *((f"import {m}", m, m) for m in ("json", "os", "re", "shutil", "itertools", "textwrap")),
        ("from collections import OrderedDict", "OrderedDict", ""),
        ("from pathlib import Path", "Path", ""),
    ),
    "javascript": tuple((f"const {m} = require('{m}');", m, m) for m in ("os", "zlib", "crypto", "dns", "readline")),
    "typescript": (
        ("import { readFileSync } from 'fs';", "readFileSync", ""),
        ("import { inspect } from 'util';", "inspect", ""),
        ("import * as zlib from 'zlib';", "zlib", ""),
        ("import { randomUUID } from 'crypto';", "randomUUID", ""),
    ),
    "go": tuple(
        (f'"{m}"', m.rpartition("/")[2], m) for m in ("os/exec", "math/rand", "bufio", "encoding/json", "sort")
    ),
    "rust": tuple(
        (f"use {m};", m.rpartition("::")[2], m)
        for m in ("std::collections::BTreeSet", "std::path::PathBuf", "std::rc::Rc", "std::time::Instant")
    ),
    "java": tuple(
        (f"import {m};", m.rpartition(".")[2], m)
        for m in ("java.util.ArrayDeque", "java.util.TreeMap", "java.io.UncheckedIOException", "java.util.Optional")
    ),
    "csharp": tuple(
        (f"using {m};", m, m) for m in ("System.Net.Sockets", "System.Text.RegularExpressions", "System.Timers")
    ),
    "php": tuple((f"use {m};", m, m) for m in ("SplObjectStorage", "DateTimeImmutable", "ArrayIterator")),
}
"""The statement, the name it binds, and what it is a path to."""
STATEMENTS = {
    "python": ("import_statement", "import_from_statement"),
    "javascript": ("lexical_declaration", "variable_declaration"),
    "typescript": ("import_statement",),
    "go": ("import_spec",),
    "rust": ("use_declaration",),
    "java": ("import_declaration",),
    "csharp": ("using_directive",),
    "php": ("namespace_use_declaration",),
}


@register_mutation("unused_variable")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    language = code.language.id
    names = CAMEL if language in ("javascript", "typescript", "go", "java", "csharp", "php") else SNAKE
    for function in rng.sample(code.items, len(code.items)):
        first = _find_first_statement(code, function)
        name = rng.choice(names)
        if first is None or name in code.words:
            continue
        statement = rng.choice(VARIABLES[language]).format(x=name)
        wordings = UNUSED_VARIABLE.get(language)
        at = code.line_of(first.start)[0]
        wording = rng.choice(wordings) if wordings else None
        marked = f"${name}" if language == "php" else name
        yield _add_statement(code, at, first, statement, marked, wording, "F841")


def _find_first_statement(code: Code, function: Item) -> Item | None:
    """Return the first statement of a function, if it begins a line."""
    if function.type not in find_grammar(code).functions:
        return None
    body = function.child("body")
    named = [item for item in body.named() if item.type != "comment"] if body else []
    if named and named[0].type == "statement_list":
        named = named[0].named()
    if code.language.id == "python" and named and named[0].text.startswith(("'", '"', "r'", 'r"')):
        named = named[1:]
    if not named or body is None:
        return None
    start, _ = code.line_of(named[0].start)
    begins = not code.data[start : named[0].start].strip() and start > function.start
    return named[0] if begins else None


def _add_statement(
    code: Code, at: int, beside: Item, statement: str, marked: str, wording: Wording | None, rule: str
) -> Candidate:
    """Return a candidate with a new statement on its own line, indented like the one beside it."""
    start, _ = code.line_of(beside.start)
    indent = code.data[start : beside.start]
    ending = b"\r\n" if b"\r\n" in code.data else b"\n"
    new = indent + encode(statement) + ending
    facts = {"added": statement}
    if wording is None:
        return Candidate(Edit(at, at, new), "ruff", expected=(rule,), facts=facts)
    place = at + len(indent) + statement.find(marked)
    name = marked.lstrip("$")
    path = statement.strip('";').partition(" ")[2] if " " in statement else statement.strip('"')
    message = wording.message.format(x=marked if code.language.id == "php" else name, path=path)
    diagnostic = Diagnostic(place, place + len(marked), message, wording.source, wording.code, wording.severity)
    return Candidate(Edit(at, at, new), "parses", diagnostic, facts=facts)


@register_mutation("unused_import", *(language for language in LANGUAGES if language != "ruby"))
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    language = code.language.id
    around = {"import_spec": None}
    found = [
        item
        for item in code.items
        if item.type in STATEMENTS[language]
        and code.alone(item)
        and (item.parent is code.root or item.type in around or language in ("php", "csharp"))
    ]
    if language == "javascript":
        found = [item for item in found if "require(" in item.text and "\n" not in item.text]
    if language == "go":
        found = [item for item in found if item.parent and item.parent.type == "import_spec_list"]
    for beside in rng.sample(found, len(found)):
        statement, name, path = rng.choice(IMPORTS[language])
        if name.rpartition(".")[2] in code.words:
            continue
        wordings = UNUSED_IMPORT.get(language)
        before = beside is not found[0] and rng.random() < 0.5
        start, end = code.line_of(beside.start)
        if end == len(code.data) and not code.data.endswith(b"\n"):
            continue
        marked = statement if language == "go" else path if path and language in ("rust", "java") else name
        yield _add_statement(
            code,
            start if before else end,
            beside,
            statement,
            marked,
            rng.choice(wordings) if wordings else None,
            "F401",
        )

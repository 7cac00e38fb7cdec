"""The pages name only files, modules, commands, settings, events and places of pages that exist."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from cyclopts import App
from lsprotocol import types

from lsp_harness.cli.command_table import ALL_GROUPS, app
from lsp_harness.config.schema import Kind, find_item_type, list_item_keys, tables
from lsp_harness.events.event_codec import EVENT_CLASSES
from lsp_harness.server.commands.command_registry import command_names
from tests.test_tidy import MODULES, ROOT, list_tracked_files, make_relative_name

pytestmark = pytest.mark.process

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "editors").glob("*/README.md")])
"""All pages for people. Of the decisions in `docs/adr`, only links are checked: they name the modules of their time."""
PAGES.remove(ROOT / "CHANGELOG.md")
LINKED_PAGES = [*PAGES, *sorted((ROOT / "docs" / "adr").glob("*.md"))]

COMMANDS = {command.name: command for group in ALL_GROUPS.values() for command in group}

FENCE = re.compile(r"^( *)```[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
INDENTED_BLOCK = re.compile(r"(?:^ {4}[^\n]*\n(?:\n(?= {4}))?)+", re.MULTILINE)
SETTINGS_BLOCK = re.compile(r"^ *```(json|toml)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)

FILE_PATH = re.compile(r"\w[\w.*<>{}-]*(?:/[\w.*<>{}-]+)*\.(?:py|js|mjs|ts|lua|el|sh|scm|gbnf)")
OTHER_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
MODULE = re.compile(r"(?:lsp_harness|benchmarks|tools|tests)(?:\.\w+)+")
RUN_MODULE = re.compile(r"python3? -m ((?:lsp_harness|benchmarks|tools|tests)(?:\.\w+)*)")
DOTTED = re.compile(r"([a-z_]+)\.([a-z_]+)")
EDITOR_NAME = re.compile(r"lspHarness(?:\.\w+)+")
NOTIFICATION = re.compile(r"(?:\$/)?lspHarness/\w+")
VARIABLE = re.compile(r"\bLSP_HARNESS_[A-Z_]*[A-Z]\b")
TARGET = re.compile(r"make ([a-z][\w-]*)")
COMMAND_LINE = re.compile(r"(?:^|[|;&(] ?|\$ )lsp-harness(?= |$)([^\n]*)", re.MULTILINE)
END_OF_COMMAND = re.compile(r" #|[|;…]|&&| > | {2,}|─")

FOREIGN_FILES = frozenset(
    {"__init__.py", "conftest.py", "config.py", "init.lua", "manage.py", "setup.py", "src/app.py"}
    | {"test/test_compile.py", "schemas.ts", "test_argparse.py", "test_config.py", "test_socket.py", "test_ssl.py"}
)
"""Files of projects and of Python that pages name."""
MADE_FILES = frozenset({"lsp_harness/api/page/vendor/", ".venv/.green"})
"""Files that git ignores, and `make` copies."""
FOREIGN_NAMES = frozenset({"context.diagnostics"})
"""A field of the protocol that looks like a setting."""


class Page(NamedTuple):
    """A page with the code that it shows: the blocks, and the words in backticks."""

    name: str
    text: str
    blocks: list[str]
    spans: list[str]


@cache
def read_page(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    blocks = [body for _, body in FENCE.findall(text)]
    blocks += [dedent(block) for block in INDENTED_BLOCK.findall(prose)]
    return Page(make_relative_name(path), text, blocks, SPAN.findall(INDENTED_BLOCK.sub("", prose)))


def read_spans() -> Iterator[tuple[str, str]]:
    """Yield each text in backticks, with its page."""
    for page in map(read_page, PAGES):
        for span in page.spans:
            yield page.name, span


def read_code() -> Iterator[tuple[str, str]]:
    """Yield each block and each text in backticks, with its page."""
    for page in map(read_page, PAGES):
        for part in (*page.blocks, *page.spans):
            yield page.name, part


@cache
def list_known_paths() -> frozenset[str]:
    """Return all files and folders of the repository, below the root and below each folder."""
    names: set[str] = set()
    for file in (make_relative_name(path) for path in list_tracked_files()):
        parts = file.split("/")
        for end in range(1, len(parts) + 1):
            names.update("/".join(parts[start:end]) for start in range(end))
    return frozenset(names)


def does_path_exist(path: str) -> bool:
    if not re.search(r"[*<{]", path):
        return path in list_known_paths()
    pattern = re.compile(re.sub(r"\\\*+|<\w+>|\\\{\w+\\\}", "[^/]*", re.escape(path)))
    return any(pattern.fullmatch(known) for known in list_known_paths())


def is_ours(path: str) -> bool:
    """Return whether a path without a suffix of code begins with a folder of the repository or of the package."""
    first = path.partition("/")[0]
    folders = (ROOT / first, ROOT / "lsp_harness" / first)
    return path not in types.METHOD_TO_TYPES and first != ".git" and any(folder.is_dir() for folder in folders)


def test_each_mentioned_path_exists():
    missing = [
        f"{page}: {span}" for page, span in read_spans() if FILE_PATH.fullmatch(span) and not does_path_exist(span)
    ]
    missing += [
        f"{page}: {span}"
        for page, span in read_spans()
        if OTHER_PATH.fullmatch(span) and is_ours(span) and not does_path_exist(span.rstrip("/"))
    ]
    missing = [line for line in missing if line.partition(": ")[2] not in FOREIGN_FILES | MADE_FILES]
    assert missing == []


def does_module_exist(name: str) -> bool:
    """Return whether a module exists, or a module and a name that it defines."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:end])
        if (module := place.with_suffix(".py")).is_file() or (module := place / "__init__.py").is_file():
            rest = parts[end : end + 1]
            return not rest or re.search(rf"\b{rest[0]}\b", module.read_text(encoding="utf-8")) is not None
        if place.is_dir():
            return end == len(parts)
    return False


def test_each_mentioned_module_exists():
    named = [(page, span) for page, span in read_spans() if MODULE.fullmatch(span)]
    run = [(page, name) for page, part in read_code() for name in RUN_MODULE.findall(part)]
    assert sorted({f"{page}: {name}" for page, name in (*named, *run) if not does_module_exist(name)}) == []


@cache
def read_settings() -> dict[str, dict[str, tuple[Kind, Any]]]:
    return tables()


@cache
def list_option_names(*command: str) -> frozenset[str]:
    """Return the options of a command. A program without a command is a prompt for `run`."""
    program: App = app[command[0] if command else "run"]
    for name in command[1:]:
        program = program[name]
    options = {name for argument in program.assemble_argument_collection() for name in argument.names}
    return frozenset({*options, "--help", "-h", "--version"})


def find_command_fault(words: list[str]) -> str:
    """Return what is wrong with the arguments of `lsp-harness`, or nothing."""
    if words == ["--version", "--json"]:
        # the only option that is read before the commands
        return ""
    command: list[str] = []
    if words and re.fullmatch(r"[a-z]+", words[0]):
        if words[0] not in COMMANDS:
            return words[0]
        command.append(words[0])
        if COMMANDS[words[0]].has_subcommands:
            if len(words) == 1 or not re.fullmatch(r"[a-z-]+", words[1]):
                return ""
            if words[1] not in list(app[words[0]]):
                return " ".join(words[:2])
            command.append(words[1])
    own = words[: words.index("--")] if "--" in words else words
    options = [word.partition("=")[0] for word in own if word.startswith("--")]
    return " ".join(name for name in options if name not in list_option_names(*command))


def split_command(line: str) -> list[str]:
    text = END_OF_COMMAND.split(line, maxsplit=1)[0].translate(str.maketrans("", "", "[],)"))
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def test_each_mentioned_command_and_option_exists():
    faults: set[str] = set()
    for page, part in read_code():
        lines = COMMAND_LINE.findall(part)
        first = part.partition(" ")[0]
        if "\n" not in part and " --" in part and first in COMMANDS:
            lines.append(f" {part}")
        faults.update(f"{page}: lsp-harness{line}: {fault}" for line in lines if (fault := _find_fault(line)))
    assert sorted(faults) == []


def _find_fault(line: str) -> str:
    return find_command_fault(split_command(line))


def test_each_mentioned_target_of_make_exists():
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = [(page, name) for page, part in read_code() if part.startswith("make ") for name in TARGET.findall(part)]
    assert [f"{page}: make {name}" for page, name in used if name not in targets] == []


def test_each_shown_file_of_settings_can_be_read():
    """No registry has a schema of the settings of most editors, so the blocks are only read."""
    faults: list[str] = []
    for page in map(read_page, PAGES):
        for kind, block in SETTINGS_BLOCK.findall(page.text):
            try:
                json.loads(block) if kind == "json" else tomllib.loads(block)
            except ValueError as error:
                faults.append(f"{page.name}: {error}")
    assert faults == []


@cache
def list_event_names() -> frozenset[str]:
    return frozenset(name for name in EVENT_CLASSES if re.fullmatch(r"[a-z_]+\.[a-z_]+", name))


def test_each_mentioned_setting_and_event_exists():
    keys = read_settings()
    begun = {*keys, *(name.partition(".")[0] for name in list_event_names())}
    missing = [
        f"{page}: {span}"
        for page, span in read_spans()
        if (dotted := DOTTED.fullmatch(span))
        and dotted[1] in begun
        and dotted[2] not in keys.get(dotted[1], {})
        and span not in list_event_names() | FOREIGN_NAMES
    ]
    shown = [f"{page}: {fault}" for page, part in read_code() for fault in find_unknown_keys(part)]
    assert [*missing, *shown] == []


def find_unknown_keys(text: str) -> Iterator[str]:
    """Yield the unknown settings of a text, if it is a settings file with one of our tables."""
    if not re.search(r"^\[", text, re.MULTILINE):
        return
    try:
        shown = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    for table, values in shown.items():
        known = read_settings().get(table)
        if known is None or not isinstance(values, dict):
            continue
        for key, value in values.items():
            if key not in known:
                yield f"[{table}] {key}"
            elif (item := find_item_type(known[key][0])) not in (None, str):
                used = (name for row in _read_rows(value) for name in row)
                yield from (f"[[{table}.{key}]] {name}" for name in used if name not in list_item_keys(item))


def _read_rows(value: Any) -> Iterable[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


@cache
def list_editor_names() -> frozenset[str]:
    """Return the commands of the server, and the settings and commands of the extension."""
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))["contributes"]
    options = [name for part in package["configuration"] for name in part["properties"]]
    ours = (f"lspHarness.{table}.{key}" for table, keys in read_settings().items() for key in keys)
    forwarded = {"lspHarness.forwardedCommands"}
    return frozenset({*command_names(), *options, *ours, *forwarded})


@cache
def read_all_sources() -> str:
    """Return the text of the package and of the scripts around it."""
    scripts = [*(ROOT / ".ci").glob("*.sh"), *(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    extensions = (path for path in list_tracked_files() if path.suffix in (".ts", ".lua") and "editors" in path.parts)
    return "\n".join(path.read_text(encoding="utf-8") for path in (*MODULES, *scripts, *extensions))


def test_each_mentioned_name_of_the_protocol_exists():
    missing = [
        f"{page}: {span}"
        for page, span in read_spans()
        if (EDITOR_NAME.fullmatch(span) and span not in list_editor_names() and f'"{span}"' not in read_all_sources())
        or (NOTIFICATION.fullmatch(span) and span not in read_all_sources())
    ]
    assert missing == []


def test_each_name_in_the_code_of_the_architecture_page_exists():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    stems = {path.stem for path in MODULES}
    words = {*re.findall(r"[A-Za-z_]+", sources), *stems, *list_known_paths(), *command_names()}
    page = read_page(ROOT / "docs" / "architecture.md")
    names = (span for span in page.spans if re.fullmatch(r"[A-Za-z_]+(\.[A-Za-z_]+)*", span))
    assert [name for name in names if name not in words and not words.issuperset(name.split("."))] == []


def test_each_mentioned_environment_variable_exists():
    by_setting = {f"LSP_HARNESS_{table}__{key}".upper() for table, keys in read_settings().items() for key in keys}
    used = {(page, name) for page, part in read_code() for name in VARIABLE.findall(part)}
    unknown = ((page, name) for page, name in used if name not in by_setting and f'"{name}' not in read_all_sources())
    assert sorted(f"{page}: {name}" for page, name in unknown) == []


def make_anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page. A second heading with the same words gets a number."""
    anchors: list[str] = []
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.append(anchor if anchor not in anchors else f"{anchor}-{anchors.count(anchor)}")
    return set(anchors)


def find_broken_links(path: Path) -> Iterator[str]:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for link in LINK.findall(SPAN.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in make_anchors(target.read_text(encoding="utf-8"))):
            yield f"{make_relative_name(path)}: {link}"


def test_each_link_leads_to_a_page_and_a_heading():
    assert [fault for path in LINKED_PAGES for fault in find_broken_links(path)] == []


def test_the_checks_of_the_pages_find_faults(tmp_path: Path):
    assert find_command_fault(split_command(' fix FILE --aply  # "…"')) == "--aply"
    assert find_command_fault(split_command(" sessions lst")) == "sessions lst"
    assert not find_command_fault(split_command(' "what is this?" --model x | cat --number'))
    assert list(find_unknown_keys("[edits]\nconfrm = 1\n")) == ["[edits] confrm"]
    assert not does_module_exist("lsp_harness.nowhere.module")
    assert not does_path_exist("server/nowhere.py")
    assert make_anchors("# One `two`\n## A, b\n") == {"one-two", "a-b"}

"""Kinds of things that no declaration of the index is, such as routes and settings, found by their lines."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_harness.coding.questions.project_facts import (
    MAX_SIGNATURE_CHARS,
    PROSE,
    ExactAnswer,
    ProjectFacts,
    format_list,
)
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.text.position import decode
from lsp_harness.text.wording import format_count

MAX_FILES = 4_000
"""Most files whose lines are read for one answer."""


@dataclass(frozen=True, slots=True)
class LineTopic:
    """A kind of things that a question may be about, each in a line of code.

    Attributes:
        noun: The kind in the singular.
        plural: The kind in the plural.
        words: Other words for the kind, in the singular.
        pattern: Matches the code of one of the things. It may begin in the line before the one that is shown; its
            group `shown` is then what is shown.
        is_in_tests: Whether files of tests are read, too.
    """

    noun: str
    plural: str
    words: frozenset[str]
    pattern: re.Pattern[str]
    is_in_tests: bool = False


VERBS = "get|post|put|delete|patch|head|options|all|route|websocket|api_route"
LINE_TOPICS = (
    LineTopic(
        "route",
        "routes",
        frozenset({"endpoint", "url", "http route", "http endpoint", "api endpoint", "url route"}),
        re.compile(
            # a decorator, a call on a router or an application, an entry of a table of routes, an attribute of Rust
            rf"^[ \t]*(?:@[\w.]+\.(?:{VERBS}|add_url_rule)\(|#\[(?:{VERBS})\(|"
            rf"[\w.]*\b(?:app|router|routes|server|api|bp|blueprint)\.(?:{VERBS}|use|add_url_rule|add_route)\(\s*|"
            r"(?:\w+\s*=\s*\[?\s*)?(?:[\w.]*\b)?(?:Route|WebSocketRoute|Mount|re_path|path|url)\(\s*r?|\.route\(\s*)"
            r"['\"`][^'\"`\n]*/[^'\"`\n]*['\"`].*",
            re.MULTILINE,
        ),
    ),
    LineTopic(
        "setting",
        "settings",
        frozenset(
            {
                "environment variable",
                "env variable",
                "env var",
                "envvar",
                "config variable",
                "configuration variable",
                "option of the environment",
            }
        ),
        re.compile(
            r"^.*(?:\bos\.environ(?:\.get\(|\.setdefault\(|\.pop\(|\[)\s*['\"]\w+|\bgetenv\(\s*['\"]\w+|"
            r"\bprocess\.env(?:\.[A-Z_]\w*|\[['\"]\w+)|\bimport\.meta\.env\.\w+|\benv::var(?:_os)?\(\s*\"\w+|"
            r"\b(?:option_)?env!\(\s*\"\w+|\bos\.(?:Getenv|LookupEnv)\(\s*\"\w+|\bSystem\.getenv\(\s*\"\w+|"
            r"\bENV(?:\.fetch\(|\[)\s*['\"]\w+|\benvvar\s*=\s*['\"]\w+).*",
            re.MULTILINE,
        ),
    ),
    LineTopic(
        "option of the command line",
        "options of the command line",
        frozenset({"option", "flag", "command line option", "cli option", "command line flag", "cli flag", "switch"}),
        re.compile(
            r"^.*(?:\badd_argument\(\s*|(?:\bclick|\btyper)?\.?\b(?:option|Option)\(\s*|\bArg::new\(\s*)['\"]-?\w?.*",
            re.MULTILINE,
        ),
    ),
    LineTopic(
        "command",
        "commands",
        frozenset({"subcommand", "sub command", "cli command", "console command"}),
        re.compile(
            r"^[ \t]*@[\w.]*\bcommand\b(?:\([^)\n]*\))?[^\n]*(?:\n[ \t]*@[^\n]*|\n[ \t]+[^\n]*|\n\))*?\n"
            r"(?P<shown>[ \t]*(?:async )?def \w+[^\n]*)|"
            r"^.*\badd_parser\(\s*['\"].*|^[ \t]*\w*\.command\(\s*['\"`].*",
            re.MULTILINE,
        ),
    ),
    LineTopic(
        "dataclass",
        "dataclasses",
        frozenset({"data class"}),
        re.compile(
            r"^[ \t]*@(?:dataclasses\.)?dataclass\b[^\n]*\n(?:[ \t]*[@)][^\n]*\n|[ \t]+[^\n]*\n)*?"
            r"(?P<shown>[ \t]*class [^\n]*)",
            re.MULTILINE,
        ),
    ),
    LineTopic(
        "fixture",
        "fixtures",
        frozenset({"pytest fixture", "test fixture"}),
        re.compile(
            r"^[ \t]*@(?:pytest(?:_asyncio)?\.)?fixture\b[^\n]*\n(?:[^\n]*\n)*?(?P<shown>[ \t]*(?:async )?def [^\n]*)",
            re.MULTILINE,
        ),
        is_in_tests=True,
    ),
    LineTopic(
        "note of work to do",
        "notes of work to do",
        frozenset({"todo", "fixme", "todo comment", "fixme comment", "todo note"}),
        re.compile(r"^.*(?:#|//|/\*|--|<!--|\*)\s*.*\b(?:TODO|FIXME|XXX|HACK)\b.*", re.MULTILINE),
        is_in_tests=True,
    ),
    LineTopic(
        "test",
        "tests",
        frozenset({"test function", "test case", "unit test", "spec", "test method"}),
        re.compile(
            r"^[ \t]*(?:async )?def test\w*\(.*|^[ \t]*(?:it|test)(?:\.\w+)*\(\s*['\"`].*|"
            r"^func (?:\([^)]*\) )?Test\w*\(.*|"
            r"^[ \t]*#\[(?:\w+::)*test(?:\([^\]]*\))?\][^\n]*\n(?:[ \t]*#\[[^\n]*\n)*"
            r"(?P<shown>[ \t]*[^\n]*\bfn \w+[^\n]*)|"
            r"^[ \t]*@Test\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*(?P<first>[^\n]*)",
            re.MULTILINE,
        ),
        is_in_tests=True,
    ),
)


def read_line_topic(singular: str) -> LineTopic | None:
    """Return the kind of things that some words in the singular name, or None if no such kind is meant."""
    return next((topic for topic in LINE_TOPICS if singular == topic.noun or singular in topic.words), None)


async def list_lines(facts: ProjectFacts, topic: LineTopic, paths: Sequence[str], where: str) -> ExactAnswer:
    """Say which things of a kind some files have.

    Args:
        facts: The facts.
        topic: The kind.
        paths: The files.
        where: The place of the files in words, with its preposition.
    """
    own = [path for path in paths if not path.endswith(PROSE) and (topic.is_in_tests or not TEST_PATH.search(path))]
    # one file was named by the user
    wanted = own if len(paths) > 1 else paths
    read = wanted[:MAX_FILES]

    def find() -> list[str]:
        return [line for path in read for line in _find_lines(facts, topic, path)]

    # each file is read from the disk
    found = await asyncio.to_thread(find)
    if not found:
        return ExactAnswer(f"There are no {topic.plural} {where}.")
    verb = "is" if len(found) == 1 else "are"
    rest = f"\nOf {len(wanted):,} files the first {MAX_FILES:,} were read." if len(wanted) > MAX_FILES else ""
    count = format_count(len(found), topic.noun, topic.plural)
    return ExactAnswer(f"There {verb} {count} {where}:{format_list(found)}{rest}")


def _find_lines(facts: ProjectFacts, topic: LineTopic, path: str) -> Iterator[str]:
    document = facts.read_text(path)
    if document is None:
        return
    text = decode(document.data)
    # conftest.py has no tests, but functions with such names
    is_test_file = TEST_PATH.search(path) is not None and not path.endswith("conftest.py")
    for match in topic.pattern.finditer(text):
        shown = next((name for name, value in match.groupdict().items() if value is not None), 0)
        if topic.noun == "test" and not is_test_file and shown == 0:
            # a function of this name elsewhere is a part of the program
            continue
        start, line = match.start(shown), " ".join(match[shown].split())
        yield f"{path}:{text.count(chr(10), 0, start) + 1}  {line[:MAX_SIGNATURE_CHARS]}"

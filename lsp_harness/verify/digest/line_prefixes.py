"""Prefixes that a program puts before every line of another program: time stamps, and names of containers, workspaces,
jobs and pods. Lines of several sources are mixed, so the lines of each source are read by themselves."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from lsp_harness.verify.digest.problem import SEVERITY_BY_WORD

TIME = re.compile(
    r"\ufeff?(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: [AP]M)?\]?|\[[ \d]*\d\.\d+s?\]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]+ [\w.@/-]+(?:\[\d+\])?:)?|#\d+ \d+\.\d+|\d+\.\d{3}"
    r"|\[[\w. /-]+:L?\d+(?::\d+s)?\])"
    r"(?: \d\d[OE][ +]?|[ \t]|$)"
)
"""A time stamp of a CI job, a container, the system's journal or a build of an image. GitLab adds the stream, and
Woodpecker the number of the line."""
BUILD_LINE = re.compile(r"#\d+ \d+\.\d+(?: |$)")
"""A line of a step of the build of an image. The builder's own lines stand between them."""
REPEATED_LINE = re.compile(r"\d+\.\d{3}(?: |$)")
"""A line of a failed step, which the build of an image prints again below its log."""
BAR = re.compile(r"[│┃>](?: |$)")
INDENT = re.compile(r"[ \t]*")
_NAME = r"@?[\w][\w.@/~+-]*"
SOURCES = (
    # `gh run view --log`: job, step, time
    (re.compile(rf"([^\t\n]+\t[^\t\n]*)\t(?=\ufeff?{TIME.pattern})"), True),
    # docker compose, foreman, overmind, act: `name-1  | `
    (re.compile(rf"(\[[^\]\n]+\]|{_NAME}(?:[:#]{_NAME})*) *[|│┃](?: |$)"), True),
    # concurrently, npm-run-all, nx, kubectl --prefix: `[name] `
    (re.compile(r"\[([^\]\n]{1,80}?) *\]:?(?: |$)"), True),
    # pnpm -r: `packages/app test: `
    (re.compile(rf"({_NAME} [\w:.-]+)(?::(?: |$)|\$ (?=\S))"), False),
    # Python's logging: `INFO:name:`
    (re.compile(r"((?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.-]+):"), False),
    # turbo, lerna, nx: `@acme/app:test: `
    (re.compile(rf"({_NAME}(?:[:#]{_NAME})*):(?: |$)"), False),
)
"""The forms of the name of a source, and whether such a form is hardly used for anything else."""
NO_SOURCE = re.compile(
    r"gw\d+$|[ \d]+%$|-+$|.*:\d+$|.*\.(?:pyi?|[cm]?[jt]sx?|c|cc|cpp|cxx|h|hpp|rs|go|java|kt|rb|cs|php|swift|toml|json)$"
    r"|(?:debug|trace|verbose|severe|critical|pass|passed|ok|fail|failed|success|done|skip|e)$"
    r"|\w*(?:error|exception|warning)$",
    re.IGNORECASE,
)
"""Names that are no sources: workers of xdist, levels of logs, files."""
TOOL_WORD = re.compile(
    r"(?:go|vet|ld|clang|gcc|mypy|make|npm|ran|tests?|test suites|snapshots|time|found|file|traceback|expected|actual"
    r"|received|left|right|caused by|required by package)$",
    re.IGNORECASE,
)
"""Words that tools write before a colon. A container, or a script of a workspace, may have such a name."""
MIN_SHARE = 0.6
"""The share of the lines that must have a prefix, if their form does not say that it is one."""
MIN_LINES = 3
"""Fewest lines of one source with a certain form, if most lines have none."""
INDENTED_SHARE = 0.9
"""The share of the lines that must be indented, to read a text without the indentation."""
MAX_LAYERS = 4
MAX_SAMPLE = 3_000
"""Most lines to look at before the form is known."""


@dataclass(frozen=True, slots=True)
class PrefixedText:
    """A text whose lines had prefixes.

    Attributes:
        texts: The text of each source, without prefixes, in the order of their first lines.
        prefixes: The prefixes of sources.
        is_certain: Whether the form of the prefixes is hardly used for anything else.
    """

    texts: tuple[str, ...]
    prefixes: frozenset[str] = frozenset()
    is_certain: bool = True


def split_sources(text: str, layers: int = MAX_LAYERS) -> PrefixedText | None:
    """Return the text of each source without the prefixes of its lines, or None if the lines have no prefix.

    Args:
        text: The text, without escape sequences.
        layers: Most prefixes to remove from one line.
    """
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    sample = filled[:: max(1, len(filled) // MAX_SAMPLE)]
    if not sample or not layers:
        return None
    is_build = sum(bool(BUILD_LINE.match(line)) for line in sample) >= MIN_LINES
    if is_build or sum(bool(TIME.match(line)) for line in sample) >= len(sample) * MIN_SHARE:
        if is_build:
            lines = [line for line in lines if not REPEATED_LINE.match(line)]
        stripped = "\n".join(line[match.end() :] if (match := TIME.match(line)) else line for line in lines)
        return split_sources(stripped, layers - 1) or PrefixedText((stripped,))
    if sum(bool(BAR.match(line)) for line in sample) >= len(sample) * MIN_SHARE:
        stripped = "\n".join(BAR.sub("", line, count=1) for line in lines)
        return split_sources(stripped, layers - 1) or PrefixedText(
            (stripped,), frozenset({"│ ", "┃ ", "> "}), is_certain=False
        )
    for form, is_certain in SOURCES:
        if names := _find_names(form, sample, is_certain=is_certain):
            return _split(form, lines, names, layers, is_certain=is_certain)
    return _remove_common(lines, filled)


def remove_indent(text: str) -> str:
    """Return a text without the blanks with which nearly all its lines begin, below a heading that has none."""
    lines = text.split("\n")
    indents = sorted((INDENT.match(line) or [""])[0] for line in lines if line.strip())
    # the heading of a short text is more than this share of it
    indent = indents[max(1, int(len(indents) * (1 - INDENTED_SHARE)))] if len(indents) > 1 else ""
    return "\n".join(line.removeprefix(indent) for line in lines)


def _remove_common(lines: list[str], filled: list[str]) -> PrefixedText | None:
    """Return the text without the words with which all lines begin, if they begin with the same words."""
    start = _common_start(filled[0], filled[-1]) if len(filled) > 1 else ""
    while start and not all(line.startswith(start) or line == start.rstrip() for line in filled):
        # blank lines have lost the blanks at their end
        start = _cut_word(start.rstrip())
    start = _cut_word(start)
    if not re.search(r"\w", start):
        return None
    text = "\n".join(line.removeprefix(start) if line != start.rstrip() else "" for line in lines)
    return PrefixedText((text,), frozenset({start}), is_certain=False)


def _cut_word(text: str) -> str:
    """Return a text up to its last blank."""
    return text[: max(text.rfind(" "), text.rfind("\t")) + 1]


def _common_start(one: str, other: str) -> str:
    length = next((i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), len(one))
    return one[:length]


def _find_names(form: re.Pattern[str], sample: list[str], *, is_certain: bool) -> set[str]:
    """Return the names of the sources, if the lines begin with such names."""
    matches = (match for line in sample if (match := form.match(line)))
    counts = Counter(match.group(1) for match in matches if not _is_word(match.group(1), is_certain=is_certain))
    total = sum(counts.values())
    if total >= len(sample) * MIN_SHARE and len(counts) <= max(1, total // 2):
        return set(counts)
    # a name in brackets before a bar may also be a name in brackets before the code frame of a compiler
    certain = {name for name, count in counts.items() if count >= MIN_LINES and name[0] != "["}
    return certain if is_certain else set()


def _is_word(name: str, *, is_certain: bool) -> bool:
    is_tool_word = not is_certain and TOOL_WORD.match(name.strip())
    return name.casefold() in SEVERITY_BY_WORD or bool(is_tool_word or NO_SOURCE.match(name.strip()))


def _split(form: re.Pattern[str], lines: list[str], names: set[str], layers: int, *, is_certain: bool) -> PrefixedText:
    lines_by_name = defaultdict[str, list[str]](list)
    prefixes = set[str]()
    for line in lines:
        match = form.match(line)
        if match and match.group(1) in names:
            lines_by_name[match.group(1)].append(line[match.end() :])
            prefixes.add(match.group())
        else:
            lines_by_name[""].append(line)
    texts, is_all_certain = list[str](), is_certain
    for group in lines_by_name.values():
        text = "\n".join(group)
        inner = split_sources(text, layers - 1)
        texts += inner.texts if inner else [text]
        prefixes |= inner.prefixes if inner else frozenset()
        is_all_certain = is_all_certain and (not inner or inner.is_certain)
    return PrefixedText(tuple(texts), frozenset(prefixes), is_all_certain)

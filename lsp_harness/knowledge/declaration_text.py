"""How a declaration reads: its signature on one line, and the first paragraph of what is said of it."""

import re
from collections.abc import Iterable

from lsp_harness.files.secrets import redacted
from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.text.position import decode

SHORT = 400
"""Characters of a signature."""
LONG = 600
"""Characters of a paragraph."""
ABOVE = 20_000
"""Bytes before a declaration that its comment is looked for in."""
STRING = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PYTHON_COMMENT = re.compile(rf"({STRING})|#[^\n]*", re.DOTALL)
COMMENT = re.compile(rf"({STRING}|`[^`]*`)|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOCSTRING = re.compile(r'\s*[rRuUbB]{0,2}("""|\'\'\'|"|\')(.*?)(?<!\\)\1', re.DOTALL)
PYTHON_WORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+\Z")
SCRIPT_WORDS = re.compile(r"^(?:(?:export|declare|default)\s+)+")
ATTRIBUTE = re.compile(r"^\s*(?:#!?\[.*|.*\)\])\s*$")
LINE_COMMENTS = {"go": ("//",), "rust": ("///",)}
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


def signature(language: str, data: bytes, one: Declaration) -> str:
    """Without decorators, comments and the body."""
    start, end = one.start, one.body_start
    if language == "python":
        if word := PYTHON_WORD.search(data, start, one.name_start):
            start = word.start()
        elif one.kind in ("variable", "field"):
            start = one.name_start
    text = decode(data[start:end])
    bare = (PYTHON_COMMENT if language == "python" else COMMENT).sub(lambda found: found[1] or " ", text)
    line = " ".join(bare.split())
    line = re.sub(r"([(\[]) ", r"\1", re.sub(r",? ([)\]])", r"\1", line)).rstrip(":{;, ")
    if language in SCRIPTS:
        line = SCRIPT_WORDS.sub("", line)
    return _cut(redacted(line), SHORT)


def documentation(language: str, data: bytes, one: Declaration) -> str:
    """The docstring's or comment's first paragraph."""
    if language == "python":
        at = min(one.end, one.body_start)
        return _docstring(decode(data[at : at + ABOVE]))
    return _paragraph(_comment(language, decode(data[max(0, one.start - ABOVE) : one.start])))


def of_module(language: str, data: bytes) -> str:
    """What a file says of itself at its beginning."""
    text = decode(data[:ABOVE])
    if language == "python":
        return _docstring(re.sub(r"\A(?:\s*#[^\n]*\n)+", "", text.removeprefix("\ufeff")))
    if language == "rust":
        lines = [line.strip() for line in text.split("\n")]
        return _paragraph(line[3:] for line in lines if line.startswith("//!"))
    return ""


def _docstring(text: str) -> str:
    found = DOCSTRING.match(text)
    return _paragraph(found[2].split("\n")) if found else ""


def _comment(language: str, above: str) -> list[str]:
    """The lines of the comment right above, without its marks."""
    lines = above.rpartition("\n")[0].split("\n")
    while language == "rust" and lines and ATTRIBUTE.match(lines[-1]):
        lines.pop()
    before = above.rstrip()
    text = before if before.endswith("*/") else "\n".join(lines).rstrip()
    if text.endswith("*/"):
        begin = text.rfind("/*")
        block = text[begin + 2 : -2]
        # what is no documentation has one star: a licence, a word to a tool
        if begin < 0 or not (block.startswith("*") or language == "go"):
            return []
        return [re.sub(r"^\s*\*+ ?", "", line) for line in block.split("\n")]
    marks = LINE_COMMENTS.get(language, ())
    said: list[str] = []
    for line in reversed(lines):
        bare = line.strip()
        if not (marks and bare.startswith(marks)):
            break
        said.append(bare[len(marks[0]) :])
    return said[::-1]


def _paragraph(lines: Iterable[str]) -> str:
    said: list[str] = []
    for line in lines:
        bare = line.strip()
        if bare.startswith("@") or (said and not bare):
            break
        if bare:
            said.append(bare)
    return _cut(redacted(" ".join(" ".join(said).split())), LONG)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"

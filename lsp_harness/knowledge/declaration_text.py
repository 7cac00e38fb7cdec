"""The text of a declaration: its signature on one line, and the first paragraph of its documentation."""

import re
from collections.abc import Iterable

from lsp_harness.files.secrets import redact
from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.text.position import decode

MAX_SIGNATURE_CHARS = 400
"""Largest length of a signature."""
MAX_PARAGRAPH_CHARS = 600
"""Largest length of a paragraph."""
COMMENT_WINDOW_BYTES = 20_000
"""Number of bytes that are searched for documentation."""
STRING = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PYTHON_COMMENT = re.compile(rf"({STRING})|#[^\n]*", re.DOTALL)
COMMENT = re.compile(rf"({STRING}|`[^`]*`)|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOCSTRING = re.compile(r'\s*[rRuUbB]{0,2}("""|\'\'\'|"|\')(.*?)(?<!\\)\1', re.DOTALL)
PYTHON_WORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+\Z")
SCRIPT_WORDS = re.compile(r"^(?:(?:export|declare|default)\s+)+")
ATTRIBUTE = re.compile(r"^\s*(?:#!?\[.*|.*\)\])\s*$")
LINE_COMMENTS = {"go": ("//",), "rust": ("///",)}
SCRIPT_LANGUAGES = frozenset({"javascript", "typescript", "tsx"})


def read_signature(language: str, data: bytes, declaration: Declaration) -> str:
    """Return the signature of a declaration without decorators, comments and the body. Secrets are removed."""
    start, end = declaration.start, declaration.body_start
    if language == "python":
        if word := PYTHON_WORD.search(data, start, declaration.name_start):
            start = word.start()
        elif declaration.kind in ("variable", "field"):
            start = declaration.name_start
    text = decode(data[start:end])
    uncommented = (PYTHON_COMMENT if language == "python" else COMMENT).sub(lambda match: match[1] or " ", text)
    line = " ".join(uncommented.split())
    line = re.sub(r"([(\[]) ", r"\1", re.sub(r",? ([)\]])", r"\1", line)).rstrip(":{;, ")
    if language in SCRIPT_LANGUAGES:
        line = SCRIPT_WORDS.sub("", line)
    return _truncate(redact(line), MAX_SIGNATURE_CHARS)


def read_documentation(language: str, data: bytes, declaration: Declaration) -> str:
    """Return the first paragraph of a declaration's docstring or comment."""
    if language == "python":
        body_start = min(declaration.end, declaration.body_start)
        return _docstring(decode(data[body_start : body_start + COMMENT_WINDOW_BYTES]))
    return _first_paragraph(
        _comment_lines(language, decode(data[max(0, declaration.start - COMMENT_WINDOW_BYTES) : declaration.start]))
    )


def read_module_documentation(language: str, data: bytes) -> str:
    """Return the first paragraph of the documentation at the beginning of a file."""
    text = decode(data[:COMMENT_WINDOW_BYTES])
    if language == "python":
        return _docstring(re.sub(r"\A(?:\s*#[^\n]*\n)+", "", text.removeprefix("\ufeff")))
    if language == "rust":
        lines = [line.strip() for line in text.split("\n")]
        return _first_paragraph(line[3:] for line in lines if line.startswith("//!"))
    return ""


def _docstring(text: str) -> str:
    match = DOCSTRING.match(text)
    return _first_paragraph(match[2].split("\n")) if match else ""


def _comment_lines(language: str, text_above: str) -> list[str]:
    """Return the lines of the comment directly above, without comment marks."""
    lines = text_above.rpartition("\n")[0].split("\n")
    while language == "rust" and lines and ATTRIBUTE.match(lines[-1]):
        lines.pop()
    stripped = text_above.rstrip()
    text = stripped if stripped.endswith("*/") else "\n".join(lines).rstrip()
    if text.endswith("*/"):
        comment_start = text.rfind("/*")
        block = text[comment_start + 2 : -2]
        # Documentation starts with two stars. A block with one star may be a licence or an instruction for a tool.
        if comment_start < 0 or not (block.startswith("*") or language == "go"):
            return []
        return [re.sub(r"^\s*\*+ ?", "", line) for line in block.split("\n")]
    marks = LINE_COMMENTS.get(language, ())
    comment: list[str] = []
    for line in reversed(lines):
        stripped_line = line.strip()
        if not (marks and stripped_line.startswith(marks)):
            break
        comment.append(stripped_line[len(marks[0]) :])
    return comment[::-1]


def _first_paragraph(lines: Iterable[str]) -> str:
    paragraph: list[str] = []
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("@") or (paragraph and not stripped):
            break
        if stripped:
            paragraph.append(stripped)
    return _truncate(redact(" ".join(" ".join(paragraph).split())), MAX_PARAGRAPH_CHARS)


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"

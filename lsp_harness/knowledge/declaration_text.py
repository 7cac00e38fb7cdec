"""The text of a declaration: its signature on one line, and the first paragraph of its documentation."""

import re
from collections.abc import Iterable

from lsp_harness.files.secrets import redact
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.symbols.declarations import Declaration
from lsp_harness.text.position import decode

MAX_SIGNATURE_CHARS = 400
"""Largest length of a signature."""
MAX_PARAGRAPH_CHARS = 600
"""Largest length of a paragraph."""
COMMENT_WINDOW_BYTES = 20_000
"""Number of bytes that are searched for documentation."""
STRING = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
HASH_COMMENT = re.compile(rf"({STRING})|#[^\n]*", re.DOTALL)
COMMENT = re.compile(rf"({STRING}|`[^`]*`)|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOCSTRING = re.compile(r'\s*[rRuUbB]{0,2}("""|\'\'\'|"|\')(.*?)(?<!\\)\1', re.DOTALL)
PYTHON_WORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+\Z")
SCRIPT_WORDS = re.compile(r"^(?:(?:export|declare|default)\s+)+")
ATTRIBUTE = re.compile(r"^\s*(?:#!?\[.*|.*\)\])\s*$")


def read_signature(language: LanguageSpec, data: bytes, declaration: Declaration) -> str:
    """Return the signature of a declaration without decorators, comments and the body. Secrets are removed."""
    start, end = declaration.start, declaration.body_start
    if language.declarations.words:
        if word := PYTHON_WORD.search(data, start, declaration.name_start):
            start = word.start()
        elif declaration.kind in ("variable", "field"):
            start = declaration.name_start
    text = decode(data[start:end])
    uncommented = (HASH_COMMENT if language.comment == "#" else COMMENT).sub(lambda match: match[1] or " ", text)
    line = " ".join(uncommented.split())
    line = re.sub(r"([(\[]) ", r"\1", re.sub(r",? ([)\]])", r"\1", line)).rstrip(":{;, ")
    if language.imports.has_module_imports:
        line = SCRIPT_WORDS.sub("", line)
    return _truncate(redact(line), MAX_SIGNATURE_CHARS)


def read_documentation(language: LanguageSpec, data: bytes, declaration: Declaration) -> str:
    """Return the first paragraph of a declaration's docstring or comment."""
    if _has_docstrings(language):
        body_start = min(declaration.end, declaration.body_start)
        return _docstring(decode(data[body_start : body_start + COMMENT_WINDOW_BYTES]))
    return _first_paragraph(
        _comment_lines(language, decode(data[max(0, declaration.start - COMMENT_WINDOW_BYTES) : declaration.start]))
    )


def read_module_documentation(language: LanguageSpec, data: bytes) -> str:
    """Return the first paragraph of the documentation at the beginning of a file."""
    text = decode(data[:COMMENT_WINDOW_BYTES])
    if _has_docstrings(language):
        return _docstring(re.sub(r"\A(?:\s*#[^\n]*\n)+", "", text.removeprefix("\ufeff")))
    if mark := language.declarations.module_doc_comment:
        lines = [line.strip() for line in text.split("\n")]
        return _first_paragraph(line[len(mark) :] for line in lines if line.startswith(mark))
    return ""


def _has_docstrings(language: LanguageSpec) -> bool:
    style = language.declarations.documentation
    return style is not None and style.is_inside


def _docstring(text: str) -> str:
    match = DOCSTRING.match(text)
    return _first_paragraph(match[2].split("\n")) if match else ""


def _comment_lines(language: LanguageSpec, text_above: str) -> list[str]:
    """Return the lines of the comment directly above, without comment marks."""
    lines = text_above.rpartition("\n")[0].split("\n")
    while language.declarations.has_attribute_lines and lines and ATTRIBUTE.match(lines[-1]):
        lines.pop()
    stripped = text_above.rstrip()
    text = stripped if stripped.endswith("*/") else "\n".join(lines).rstrip()
    if text.endswith("*/"):
        comment_start = text.rfind("/*")
        block = text[comment_start + 2 : -2]
        # Documentation starts with two stars. A block with one star may be a licence or an instruction for a tool.
        if comment_start < 0 or not (block.startswith("*") or language.declarations.any_comment_documents):
            return []
        return [re.sub(r"^\s*\*+ ?", "", line) for line in block.split("\n")]
    marks = language.declarations.doc_comments
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

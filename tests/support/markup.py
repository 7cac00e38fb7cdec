"""Test sources with marks: `<|>` is the cursor (twice: a selection), and carets in a comment are a diagnostic.

    def area(r):
        return <|>pi * r ** 2
    #          ^^ F821 undefined name `pi`

A line of a comment with nothing but carets and words is taken out and is about the line above it. What follows the
carets is the diagnostic's code, if it looks like one, and its message.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.verify.finding import Finding

MARK = "<|>"
CARETS = re.compile(r"^\s*(?:#|//|--)(\s*)(\^+)\s+(.*?)\s*$")
CODE = re.compile(r"([A-Z]{1,5}\d{1,4})\s+(.*)")
LANGUAGES = {".py": "python", ".js": "javascript", ".ts": "typescript", ".go": "go", ".rs": "rust", ".txt": ""}


@dataclass(frozen=True)
class Source:
    """A document without its marks, and the meaning of the marks."""

    document: Document
    marks: tuple[int, ...]
    findings: tuple[Finding, ...]

    @property
    def cursor(self) -> int:
        assert self.marks, "no <|> in the source"
        return self.marks[0]

    @property
    def finding(self) -> Finding:
        [finding] = self.findings
        return finding


def parse(text: str, path: str | Path = "a.py", *, version: int = 1) -> Source:
    """Take the marks out of a text. Common indentation and a first empty line do not count."""
    if text.startswith("\n"):
        text = dedent(text[1:])
    path = Path(path)
    uri = path.as_uri() if path.is_absolute() else f"file:///{path}"
    items: list[str] = []
    result: list[tuple[int, str, str]] = []
    for line in text.splitlines(keepends=True):
        match = CARETS.match(line.rstrip("\r\n"))
        if match and items:
            above = sum(len(item) for item in items[:-1])
            result.append((above + match.start(2), match[2], match[3]))
        else:
            items.append(line)
    marked = "".join(items)
    findings = tuple(_make_findings(marked, result))
    plain, *rest = marked.split(MARK)
    marks: list[int] = []
    for piece in rest:
        marks.append(len(encode(plain)))
        plain += piece
    document = Document.from_text(uri, plain, language=LANGUAGES.get(path.suffix, ""), version=version)
    return Source(document, tuple(marks), findings)


def _make_findings(text: str, diagnostics: list[tuple[int, str, str]]) -> Iterator[Finding]:
    """Yield the findings of diagnostics. Columns count the marks of the text, and the marks are then removed."""
    for at, carets, words in diagnostics:
        start = len(encode(text[:at].replace(MARK, "")))
        end = len(encode(text[: at + len(carets)].replace(MARK, "")))
        code = CODE.match(words)
        yield Finding(start, end, code[2] if code else words, "ruff" if code else "", code[1] if code else "")

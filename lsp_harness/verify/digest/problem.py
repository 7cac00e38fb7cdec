"""A problem that a tool prints, by path and line. A `Finding`, in contrast, is a byte range of one text."""

import re
from dataclasses import dataclass

from lsp_harness.verify.digest.formats.severity_words import SEVERITY_BY_WORD
from lsp_harness.verify.finding import Severity

SEVERITY_ORDER: tuple[Severity, ...] = ("error", "warning", "information", "hint")
COLLECTION_CODE = "collection"
"""The code of a problem of a test file that cannot be imported."""
MISSING_MODULE = "ModuleNotFoundError"
"""The start of the message of such a problem if a module is not installed."""
SUMMARY_CODE = "summary"
"""The code of a problem that is known only from the last line of a tool, because the rest of the output is missing."""
TEST_FILE = re.compile(
    r"\.(?:pyi?|ipynb|rst|txt|md|[cm]?[jt]sx?|vue|svelte|rs|go|java|kts?|rb|php|cs|exs?|lua|dart|cc?|cpp|cxx|mm?|swift"
    r"|scala|clj|hs|zig|nim|jl|bats|sh)$"
)
"""The end of a path of a file with tests, before the names in the id of a test."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error, warning or failed test in the output of a tool, with its place.

    Attributes:
        message: What is wrong, in the words of the tool.
        path: The file, as the tool prints it; empty if unknown.
        line: The line, counted from 1; 0 if unknown.
        column: The column, counted from 1; 0 if unknown.
        severity: How serious it is.
        code: The rule of the tool.
        test: The name of the failing test, by which its runner can run it; empty if the problem is no failing test.
    """

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    severity: Severity = "error"
    code: str = ""
    test: str = ""

    @property
    def place(self) -> str:
        """The known part of `path:line:column`."""
        numbers = [str(number) for number in (self.line, self.column) if number > 0] if self.line > 0 else []
        return ":".join([self.path, *numbers]) if self.path else ""

    @property
    def failed_id(self) -> str:
        """The failing test, or the path of a test file that cannot be imported. Empty for other problems."""
        return self.test or (self.path if self.code == COLLECTION_CODE else "")

    @property
    def title(self) -> str:
        """The name of the failing test without its file, or the path of a test file that cannot be imported."""
        path, separator, name = self.failed_id.partition("::")
        # a package of Go has no file in front of its tests
        is_place = TEST_FILE.search(path) or ("/" in path and " " not in path)
        return name if separator and is_place else self.failed_id

    @property
    def lacks_module(self) -> bool:
        """Return whether a test file cannot be imported because a module is missing. No edit of code installs it."""
        return self.code == COLLECTION_CODE and self.message.startswith(MISSING_MODULE)

    @property
    def feedback(self) -> str:
        """The line about it in a prompt, in the form of `Check.format_finding`."""
        return f"TEST FAIL: {self.title} — {self.message}" if self.failed_id else self.message


def parse_severity(word: str) -> Severity:
    """Return the severity that a tool calls `word`, in any language. An unknown word is an error."""
    return SEVERITY_BY_WORD.get(word.casefold(), "error")


def parse_number(digits: str) -> int:
    """Return the number of a line or column, or 0 if the text is too long for one or no number."""
    return int(digits) if len(digits) < 10 and digits.isdecimal() else 0

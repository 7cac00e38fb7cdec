"""One thing a tool complains of, by path and line: where a `Finding` is bytes of one text, this is what was printed."""

from dataclasses import dataclass

from lsp_harness.verify.finding import Severity

SEVERITY_ORDER: tuple[Severity, ...] = ("error", "warning", "information", "hint")


SUMMARY_CODE = "summary"
"""The code of what only a tool's last line tells: that something is wrong, where the rest of the output is missing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Lines and columns count from 1 as people do; 0 is "not said". `test` is what failed, by the name its tool takes."""

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    severity: Severity = "error"
    code: str = ""
    test: str = ""

    @property
    def place(self) -> str:
        """`path:line:column` as far as it is known."""
        numbers = [str(number) for number in (self.line, self.column) if number > 0] if self.line > 0 else []
        return ":".join([self.path, *numbers]) if self.path else ""

    @property
    def title(self) -> str:
        """The test's name without the file that it is in."""
        path, separator, name = self.test.partition("::")
        return name if separator and path.endswith(".py") else self.test


def parse_severity(word: str) -> Severity:
    """What tools call severities, in the words of ours; what is unknown is an error."""
    match word.lower():
        case "warning" | "warn":
            return "warning"
        case "information" | "info" | "note" | "notice":
            return "information"
        case "hint" | "help":
            return "hint"
        case _:
            return "error"


def parse_number(digits: str) -> int:
    """What is too long to be a line's number is none."""
    return int(digits) if len(digits) < 10 and digits.isdecimal() else 0

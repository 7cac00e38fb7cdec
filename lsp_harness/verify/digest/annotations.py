"""Annotations for the services that run CI jobs: `::error file=a.py,line=1::message` of GitHub, and those of Azure."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

TOOL = "github"
"""The name of the tool in the digest: an annotation does not say for certain which program wrote it."""
GITHUB = re.compile(r"(?m)^[ \t]*::(error|warning|notice)(?: +([^\n]*?))?::(.*)$")
AZURE = re.compile(r"(?m)^[ \t]*##vso\[task\.logissue ([^\]\n]*)\](.*)$")
MARK = re.compile(r"(?m)^[ \t]*(?:::(?:error|warning|notice)[ :]|##\[|##vso\[)")
TAG = re.compile(r"(?m)^[ \t]*##\[(error|warning|command|debug|section|notice|group|endgroup)\](.*)$")
"""The form in which the raw log of a job has an annotation without a place, and other marks."""
PLACED = re.compile(r":\d+|:\(\.|\(\d+(?:,\d+)?\)|^\s*(?:[\w.+/-]+: )?(?:error|warning|fatal)\b", re.IGNORECASE)
PROPERTY = re.compile(r"(\w+)=([^,;]*)")
ESCAPES = {"%0A": "\n", "%0D": "", "%25": "%", "%3A": ":", "%2C": ",", "%AZP25": "%"}
ESCAPE = re.compile("|".join(ESCAPES), re.IGNORECASE)
OWN_PLACE = re.compile(r"(?P<path>\S.*?):(?P<line>\d+)(?::\d+)?: ")
"""The place at the start of the message, which ruff and ty repeat there."""
OWN_CODE = re.compile(r"(?P<code>[A-Z]{1,8}\d{1,5}|[a-z]+(?:-[a-z]+)+)(?::| (?=\S))[ \t]*")
TITLE_CODE = re.compile(r"\w+ \(([\w-]+)\)$")
DETAILS = re.compile(r"\n(?:[ \t]*(?:info|help|note):|[ \t]*[❯>]|[ \t]*at |\s*\n)")
LINTER_TITLE = re.compile(r"(?i)(?:ruff|flake8)\b")
TEST_TITLE = re.compile(r"[^\s>]+\.\w+ > .+|\S+::\S+")


def read(output: ToolOutput) -> Digest | None:
    """Return the annotations, or None if there are none."""
    if "::" not in output.text and "##vso" not in output.text:
        return None
    problems = [
        _to_problem(severity, dict(PROPERTY.findall(properties)), message)
        for severity, properties, message in GITHUB.findall(output.text)
    ]
    for properties, message in AZURE.findall(output.text):
        values = dict(PROPERTY.findall(properties))
        renamed = {
            "file": values.get("sourcepath", ""),
            "line": values.get("linenumber", ""),
            "col": values.get("columnnumber", ""),
            "code": values.get("code", ""),
        }
        problems.append(_to_problem(values.get("type", "error"), renamed, message))
    return Digest(TOOL, tuple(problems)) if problems else None


def remove(text: str, *, marks_errors: bool = False) -> str:
    """Return a text without annotations, for the readers of tools. The tag of a line of the raw log is removed.

    Args:
        text: The text.
        marks_errors: Whether a line that was tagged as an error begins with this word. Azure tags each line of the
            error output, so it is for readers that know no tool.
    """
    text = AZURE.sub("", GITHUB.sub("", text))
    return TAG.sub(lambda tag: _remove_tag(tag.group(1) if marks_errors else "", tag.group(2)), text)


def _remove_tag(kind: str, line: str) -> str:
    # a line that says itself how serious it is keeps its words
    return f"error: {line}" if kind == "error" and line.strip() and not PLACED.search(line) else line


def _to_problem(severity: str, properties: dict[str, str], message: str) -> ToolProblem:
    values = {name: _unescape(value) for name, value in properties.items()}
    message, title = _unescape(message), values.get("title", "")
    path, line = values.get("file", ""), parse_number(values.get("line", ""))
    column = parse_number(values.get("col", "") or values.get("column", ""))
    place = OWN_PLACE.match(message)
    if place and (not path or (path.endswith(place["path"].removeprefix("./")))):
        path, line = path or place["path"], line or parse_number(place["line"])
        message = message[place.end() :]
    title_code = TITLE_CODE.match(title)
    code = values.get("code", "") or (title_code.group(1) if title_code else "")
    own_code = OWN_CODE.match(message)
    if own_code and (own_code["code"] == code or (not code and own_code["code"][-1].isdigit())):
        code, message = own_code["code"], message[own_code.end() :]
    details = DETAILS.search(message)
    message = message[: details.start()] if details and details.start() else message
    is_rule = LINTER_TITLE.match(title) and not code.startswith("E9") and code != "invalid-syntax"
    # as in the other formats of ruff, a broken rule is a warning
    level = parse_severity("warning" if severity == "error" and is_rule else severity)
    test = title if TEST_TITLE.match(title) and level == "error" else ""
    name = test.partition(" > ")
    test = f"{name[0]}::{name[2]}" if name[2] else test
    return ToolProblem(message.strip() or title, path, line, column, level, "" if test else code, test)


def _unescape(text: str) -> str:
    return ESCAPE.sub(lambda match: ESCAPES[match.group().upper()], text)

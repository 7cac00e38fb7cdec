"""The Test Anything Protocol, as node, vitest and mocha write it: nested results with a block of details each."""

import re
from dataclasses import dataclass, field

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.js_failure import read_js_failure
from lsp_harness.verify.digest.problem import COLLECTION_CODE, TEST_FILE, ToolProblem
from lsp_harness.verify.digest.test_tally import TestTally, join_id, join_names
from lsp_harness.verify.digest.tool_output import ToolOutput

VERSION = re.compile(r"(?m)^TAP version \d+$")
OLD_START = re.compile(r"(?m)^(?:not )?ok 1 ")
OLD_PLAN = re.compile(r"(?m)^1\.\.\d+$")
OLD_END = re.compile(r"(?m)^# (?:tests|pass|fail) \d+$")
"""The results, the plan and the end without a version, as mocha writes them."""
RESULT = re.compile(r"( *)(not ok|ok)\b(?: (\d+))?(?: -)?(?: (.*?))?( \{)?$")
SUBTEST = re.compile(r"( *)# Subtest: (.*)$")
PLAN = re.compile(r"( *)1\.\.(\d+)")
DIRECTIVE = re.compile(r"(?: |^)#+ *(SKIP|TODO|skip|todo|time=\S+)\b.*$")
KEY = re.compile(r"(\s*)([A-Za-z_]\w*):(?: (.*))?$")
COMMENT_ERROR = re.compile(r"# (\w*Error(?: \[\w+\])?: .+)$")
INDENT = 4
SUITE_FAILURES = ("subtestsFailed", "parentAlreadyFinished")


@dataclass(slots=True)
class _Result:
    """One result: its names from the outermost group inwards, and the details below it."""

    names: tuple[str, ...]
    is_ok: bool
    directive: str = ""
    is_group: bool = False
    has_brace: bool = False
    details: list[str] = field(default_factory=list[str])
    comment: str = ""

    def value(self, key: str) -> str:
        """Return a value of the details without quotes, or an empty text."""
        for index, line in enumerate(self.details):
            match = KEY.match(line)
            if not match or match.group(2) != key:
                continue
            value = (match.group(3) or "").strip()
            if value in ("|-", "|", ">-", "|+"):
                block: list[str] = []
                for below in self.details[index + 1 :]:
                    if below.strip() and len(below) - len(below.lstrip()) <= len(match.group(1)):
                        break
                    block.append(below[len(match.group(1)) + 2 :])
                return "\n".join(block).strip("\n")
            return value[1:-1] if value[:1] == value[-1:] and value[:1] in "'\"" and len(value) > 1 else value
        return ""


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no output in this form."""
    is_tap = VERSION.search(output.text) or any(SUBTEST.match(line) for line in output.lines)
    if not is_tap and not all(form.search(output.text) for form in (OLD_START, OLD_END, OLD_PLAN)):
        return None
    results, is_complete = _read_results(output.lines)
    tally = TestTally()
    for result in results:
        _add(tally, result)
    return tally.digest("tap", is_truncated=not is_complete)


def _add(tally: TestTally, result: _Result) -> None:
    kind = result.value("failureType")
    has_file = len(result.names) > 1 and bool(TEST_FILE.search(result.names[0])) and " " not in result.names[0]
    test = join_id(*result.names) if has_file else join_names(*result.names)
    is_file = len(result.names) == 1 and bool(TEST_FILE.search(result.names[0]))
    if result.is_group and (result.has_brace or kind in SUITE_FAILURES or (not kind and not result.is_ok)):
        return
    if result.value("type") == "suite" and (result.is_ok or kind in SUITE_FAILURES):
        return
    if result.directive:
        tally.skipped[test] = None
    elif result.is_ok:
        if not is_file:
            tally.passed[test] = None
    else:
        _add_failure(tally, result, test, is_file=is_file)


def _add_failure(tally: TestTally, result: _Result, test: str, *, is_file: bool) -> None:
    stack, message = result.value("stack"), result.value("error") or result.value("message")
    name = result.value("name")
    lines = (
        [f"    at {line}" for line in stack.split("\n")] if stack and not stack.lstrip().startswith("at ") else [stack]
    )
    if not stack:
        # mocha prints the error itself below the result
        lines = [line.removeprefix("  ") for line in result.details] if not message else []
    head = f"{name}: {message}" if name.endswith("Error") and message else message
    report = read_js_failure("\n".join([*([head] if head else []), *lines]))
    if is_file:
        problem = ToolProblem(result.comment or report.message, test, code=COLLECTION_CODE)
    else:
        location = result.value("location").rsplit(":", 2)
        path, line = report.path, report.line
        if not path and len(location) == 3 and location[1].isdigit():
            path, line = location[0], int(location[1])
        problem = ToolProblem(report.message, path, line, test=test)
    tally.add_failure(problem)


def _read_results(lines: list[str]) -> tuple[list[_Result], bool]:
    """Return all results, and whether the plan of the outermost level is there and fulfilled."""
    results: list[_Result] = []
    groups: list[str] = []
    deepest, has_braces = 0, False
    planned, done, is_in_details, comment = -1, 0, False, ""
    for line in lines:
        if is_in_details and results:
            is_in_details = line.strip() != "..."
            results[-1].details.append(line)
        elif line.strip() == "---":
            is_in_details = True
        elif match := SUBTEST.match(line):
            level = len(match.group(1)) // INDENT
            groups = [*groups[:level], _unescape(match.group(2))]
        elif match := RESULT.match(line):
            indent, sign, _, text, brace = match.groups()
            level = len(indent) // INDENT
            directive = DIRECTIVE.search(text or "")
            word = directive.group(1).lower() if directive else ""
            name = _unescape(DIRECTIVE.sub("", text or "").strip())
            # the results of a group come before its own, unless its own opens a brace
            has_braces = has_braces or bool(brace)
            is_group = bool(brace) or (deepest > level and not has_braces)
            names = (*groups[:level], name)
            groups = [*groups[:level], name]
            deepest = level
            directive_word = "" if word.startswith("time=") else word
            results.append(_Result(names, sign == "ok", directive_word, is_group, bool(brace), comment=comment))
            done, comment = done + (level == 0), ""
        elif match := COMMENT_ERROR.match(line):
            comment = match.group(1)
        elif (match := PLAN.match(line)) and not match.group(1):
            planned = int(match.group(2))
        elif results and not results[-1].is_ok and line.startswith("  ") and line.strip() != "}":
            results[-1].details.append(line)
    return results, planned >= 0 and done >= planned


def _unescape(text: str) -> str:
    return re.sub(r"\\([#\\])", r"\1", text)

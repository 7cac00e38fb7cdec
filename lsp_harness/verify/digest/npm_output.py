"""Errors of npm, pnpm and yarn about packages and scripts."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem
from lsp_harness.verify.digest.tool_output import ToolOutput

TOOL = "npm"
"""The name of the tool in the digest."""
NPM_LINE = re.compile(r"npm (?:ERR!|error)(?: (.*))?$")
NPM_CODE = re.compile(r"code (\S+)$")
UNIMPORTANT = re.compile(
    r"(?:A complete log of this run|Log files were not written|path |errno |syscall |spawn |cwd |dest |location "
    r"|command |signal |workspace |A complete log|a package version that is forbidden|Did you mean"
    r"|To see a list|Note that you can also"
    r"|node -v |npm -v |For a full report|See .*(?:eresolve-report|for a (?:full|complete))|Exit handler|in workspace:)"
)
SCRIPT_FAILED = re.compile(
    r"Lifecycle script|Test failed\.|\S+@\S+ [\w:.-]+: `|Exit status \d|Failed at the|This is probably not a problem"
    r"|command failed$|command sh -c|weird error"
)
PNPM_ERROR = re.compile(r"(?m)^[ \t]*(?:\[?(ERR_PNPM_\w+|ELIFECYCLE|ENOENT)\]?)(?:\u2009|[ \t])+(\S.*)$")
PNPM_SUMMARIES = {"ELIFECYCLE", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL", "ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL"}
YARN_ERROR = re.compile(r"(?m)^(?:error (?!TS\d|\[)(\S.*)|➤ (YN\d{4}): (?:[│┌└] )*(?!Completed|Done)(\S.*))$")
YARN_START = re.compile(r"(?m)^(?:yarn (?:run|install|add|workspaces?) v\d|➤ YN\d{4}: )")
YARN_FINE = {"YN0000", "YN0013", "YN0019", "YN0065", "YN0087", "YN0088", "YN0007", "YN0085"}
SUCCESS = re.compile(
    r"(?m)^(?:(?:added|removed|changed|audited) \d+ packages?\b.*|up to date(?:, audited .*)?(?: in \S+)?"
    r"|found 0 vulnerabilities)$"
)
MAX_MESSAGE_LINES = 6


def read(output: ToolOutput) -> Digest | None:
    """Return the errors, or None if this is no output of a package manager of JavaScript."""
    problems = _read_npm(output.lines)
    problems += [
        ToolProblem(message, code=SUMMARY_CODE if code in PNPM_SUMMARIES else code)
        for code, message in PNPM_ERROR.findall(output.text)
    ]
    if YARN_START.search(output.text):
        problems += [
            ToolProblem(
                classic or message,
                code=SUMMARY_CODE if classic.startswith("Command failed") else code,
            )
            for classic, code, message in YARN_ERROR.findall(output.text)
            if code not in YARN_FINE
        ]
    return Digest(TOOL, tuple(problems)) if problems or SUCCESS.search(output.text) else None


def is_summary(digest: Digest) -> bool:
    """Return whether a digest only says that a script failed, which has printed why itself."""
    return digest.tool == TOOL and all(problem.code == SUMMARY_CODE for problem in digest.problems)


def _read_npm(lines: list[str]) -> list[ToolProblem]:
    """Return one problem for each block of npm's lines."""
    problems: list[ToolProblem] = []
    code, message, is_script, is_inside = "", list[str](), False, False
    for line in [*lines, ""]:
        match = NPM_LINE.match(line)
        if match:
            text = (match.group(1) or "").strip()
            is_inside = True
            if named := NPM_CODE.match(text):
                if message and not is_script:
                    problems.append(_to_problem(code, message, is_script=is_script))
                    message, is_script = [], False
                code = named.group(1)
            elif SCRIPT_FAILED.match(text):
                is_script = True
                message.append(text)
            elif text and not UNIMPORTANT.match(text.removeprefix(code).strip()):
                message.append(text.removeprefix(code).removeprefix(code.lower()).strip() if code != "E" else text)
        elif is_inside:
            problems.append(_to_problem(code, message, is_script=is_script))
            code, message, is_script, is_inside = "", [], False, False
    return problems


def _to_problem(code: str, message: list[str], *, is_script: bool) -> ToolProblem:
    number = code[1:] if code[1:].isdigit() else ""
    lines = [line.removeprefix(number).strip() for line in message] if number else message
    text = "\n".join(list(dict.fromkeys(filter(None, lines)))[:MAX_MESSAGE_LINES])
    # a script that fails has printed its own errors
    return ToolProblem(text or code or "failed", code=SUMMARY_CODE if is_script else code)

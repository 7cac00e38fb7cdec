"""Output of unknown tools, in the forms that most tools use: `path:line:column: message`, `path(line,column): error`,
tracebacks, and, if there is nothing else, lines that begin with a word for an error."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import ANY_WORD, COLON, ERROR_WORD, ToolProblem, parse_number, parse_severity
from lsp_harness.verify.digest.tool_output import ToolOutput

TOOL = "output"
"""The name in the digest of a tool that is not known."""
PROBLEM_LINE = re.compile(
    r"(?m)^[ \t]*(?P<path>(?:[A-Za-z]:[\\/])?[^\s:\"'()<>|]++)"
    r":(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?(?::[\d:-]+)?[:：][ \t\u00a0]*"
    rf"(?:(?P<severity>{ANY_WORD})(?:{COLON}|(?=[ \t]*\[))|(?P<word>(?:(?:fatal |internal compiler )?error|warning|note"
    r"|info|hint|help|[EWCRF]\d{4})\b):?[ \t]*)?(?P<message>\S.*)$"
)
SHORT_PLACE = re.compile(
    r"(?m)^[ \t]*(?P<path>(?:[A-Za-z]:[\\/])?[^\s:\"'()<>|][^:\"'()<>|\n]*?)"
    r"\((?P<line>\d{1,9})(?:,(?P<column>\d{1,9}))?(?:,\d+,\d+|-\d+)?\)[ \t]*:[ \t]*"
    rf"(?P<severity>{ANY_WORD})[ \t\u00a0]+(?P<code>[A-Z]{{1,8}}\d{{1,6}})?{COLON}(?P<message>\S.*)$"
)
"""The place as MSBuild and the compilers of Microsoft write it."""
PROJECT_OF_MSBUILD = re.compile(r" \[[^\[\]]+proj\]$")
MAVEN = re.compile(r"(?m)^\[(ERROR|WARNING)\] (\S.*?):\[(\d+),(\d+)\] (\S.*)$")
LINKER_PLACE = re.compile(
    rf"(?m)^(?:\S*\bld(?:\.\w+)?{COLON})?(?P<path>[^\s:]+):\(\.\w[^)]*\){COLON}(?P<message>\S.*)$"
)
CMAKE = re.compile(
    r"(?m)^CMake (?P<kind>(?:[A-Z]\w+ )*(?:Error|Warning))(?: \(dev\))?(?: at (?P<path>.+?):(?P<line>\d+)"
    r"(?: \(\w+\))?)?:(?P<message>.*(?:\n(?: .*)?){0,8})"
)
FILE_PATH = re.compile(r"[\\/][^\\/]*[^\d\\/.]|\.[A-Za-z]\w{0,9}$")
"""A path before a line number that can be a file, and not a time or a host."""
WARNING_OPTION = re.compile(r"\[-W(?!error)[\w-]+[^\]]*\]$")
"""The option at the end of a warning of gcc or clang. It stands there in every language."""
UNKNOWN_WORD = re.compile(r"[^\W\d_][^\s:：]*(?: [^\s:：]+){0,2}?[ \u00a0\u202f]?[:：][ \u00a0\u202f]*(?=\S)")
FRAME = re.compile(r'[ \t]+File "([^"]+)", line (\d+)')
JAVAC_DETAILS = re.compile(
    r"\r?\n[^\n]*\r?\n(?P<lead>[ \t]*)\^[ \t]*(?=\r?\n"
    r"|\Z)(?:\r?\n[ \t]*(?:symbol|Symbol|symbole|símbolo|simbolo|シンボル|符号|符號|символ|기호)[ \t]*[:：]"
    r"[ \t]+(?P<kind>\S+)[ \t]+(?P<name>[^\r\n]+))?"
)
TRACEBACK_START = "Traceback (most recent call last):"
PYLINT_SEVERITIES = {"E": "error", "F": "error", "W": "warning", "C": "warning", "R": "warning"}
"""The severities of pylint's rules, by their first letter."""
ERROR_LINE = re.compile(
    rf"(?m)^[ \t]*(?:[×✗✘][ \t]+(?=\S)|\[(?:ERROR|error|FATAL|fatal)\] +(?!\[)"
    rf"|(?:[\w.+/@-]+: (?:\*\*\* )?)?(?:{ERROR_WORD}|\w*(?:Error|Exception)"
    rf"|panic)(?: ?\[[\w: -]+\])?(?: \(\w+\))?{COLON}|E: |make(?:\[\d+\])?: \*\*\* )(?P<message>\S.*)$"
)
"""A line that calls itself an error and names no place."""
SHELL_ERROR = re.compile(
    r"(?m)^(?P<message>(?:\S+: )?(?:(?:line )?\d+: )?\S+: (?:(?:command )?not found|Permission denied"
    r"|No such file or directory|Is a directory|cannot execute.*|Segmentation fault.*)|(?:Segmentation fault|Killed"
    r"|Aborted|Bus error)(?: \(core dumped\))?)$"
)
JAVASCRIPT_FRAME = re.compile(
    r"\n[ \t]+at (?:.*\()?(?:file://)?(?P<path>(?!node:)[^\s()]+?):(?P<line>\d+):(?P<column>\d+)\)?"
)
SOURCE_OF_NODE = re.compile(r"(?m)^(?:file://)?(?P<path>[^\s:][^\n]*?):(?P<line>\d+)\n[^\n]*\n[ \t]*\^+[ \t]*\n\s*\Z")
"""The line of a file that Node.js cannot read, which it prints above the error."""
MAX_SOURCE_CHARS = 4_000
MAX_UNPLACED = 20
"""Most errors without a place to list."""


def read(output: ToolOutput) -> Digest | None:
    """Return the lines that look like problems and the tracebacks, or None if there are none.

    Lines that call themselves errors without a place count only if there is no error with one.
    """
    problems = [_to_problem(match) for match in _find_lines(output)]
    problems += _read_other_places(output.text)
    if TRACEBACK_START in output.text:
        problems += _read_tracebacks(output.lines)
    if not any(problem.severity == "error" for problem in problems):
        problems += read_unplaced(output.text)
    return Digest(TOOL, tuple(problems)) if problems else None


def read_errors(output: ToolOutput) -> Digest | None:
    """Return only the lines that call themselves errors, or None if there are none.

    Unlike `read`, this is for the output of a known tool, in which the other lines may be logs of tests.
    """
    problems = [_to_problem(match) for match in _find_lines(output) if match["severity"] or match["word"]]
    problems += _read_other_places(output.text)
    errors = tuple(problem for problem in problems if problem.severity == "error" and not problem.code[1:].isdigit())
    return Digest(TOOL, errors) if errors else None


def read_unplaced(text: str) -> list[ToolProblem]:
    """Return the lines that call themselves errors, or that a shell prints about a program. They name no place."""
    problems: dict[str, ToolProblem] = {}
    for match in ERROR_LINE.finditer(text):
        message, frame = match["message"], JAVASCRIPT_FRAME.match(text, match.end())
        if source := SOURCE_OF_NODE.search(text, max(0, match.start() - MAX_SOURCE_CHARS), match.start()):
            problems.setdefault(message, ToolProblem(message, source["path"], parse_number(source["line"])))
            continue
        place = (frame["path"], parse_number(frame["line"]), parse_number(frame["column"])) if frame else ("", 0, 0)
        problems.setdefault(message, ToolProblem(message, *place))
    for match in SHELL_ERROR.finditer(text):
        problems.setdefault(match["message"], ToolProblem(match["message"]))
    return list(problems.values())[:MAX_UNPLACED]


def _find_lines(output: ToolOutput) -> list[re.Match[str]]:
    return [match for match in PROBLEM_LINE.finditer(output.text) if FILE_PATH.search(match["path"])]


def _to_problem(match: re.Match[str]) -> ToolProblem:
    word = match["severity"] or match["word"] or ""
    is_pylint_rule = word[1:].isdigit()
    message, column = match["message"], parse_number(match["column"] or "")
    if not word and WARNING_OPTION.search(message):
        # a word of a language that is not in the table
        word, message = "warning", UNKNOWN_WORD.sub("", message, count=1)
    severity = PYLINT_SEVERITIES[word[0].upper()] if is_pylint_rule else word
    if not match["column"]:
        # javac marks the column below the line, and names the symbol below that
        below = JAVAC_DETAILS.match(match.string, match.end())
        column = len(below["lead"]) + 1 if below else column
        message = f"{message}: {below['kind']} `{below['name']}`" if below and below["name"] else message
    return ToolProblem(
        message,
        match["path"],
        parse_number(match["line"]),
        column,
        parse_severity(severity),
        word if is_pylint_rule else "",
    )


def _read_other_places(text: str) -> list[ToolProblem]:
    """Return the problems of MSBuild, of linkers and of CMake."""
    problems = [
        ToolProblem(
            PROJECT_OF_MSBUILD.sub("", match["message"]),
            match["path"],
            parse_number(match["line"]),
            parse_number(match["column"] or ""),
            parse_severity(match["severity"]),
            match["code"] or "",
        )
        for match in SHORT_PLACE.finditer(text)
    ]
    problems += [ToolProblem(match["message"], match["path"]) for match in LINKER_PLACE.finditer(text)]
    problems += [
        ToolProblem(message, path, parse_number(row), parse_number(column), parse_severity(word))
        for word, path, row, column, message in dict.fromkeys(MAVEN.findall(text))
    ]
    for match in CMAKE.finditer(text):
        message = match["message"].strip().partition("\n\n")[0] or "failed"
        severity = parse_severity(match["kind"].split()[-1])
        problems.append(ToolProblem(message, match["path"] or "", parse_number(match["line"] or ""), severity=severity))
    return problems


def _read_tracebacks(lines: list[str]) -> list[ToolProblem]:
    """Return the innermost frame of each traceback with the last line, which is the exception."""
    problems: list[ToolProblem] = []
    frame: tuple[str, int] | None = None
    is_inside = False
    for line in lines:
        if line.endswith(TRACEBACK_START):
            is_inside, frame = True, None
        elif is_inside and (frame_match := FRAME.match(line)):
            frame = frame_match.group(1), parse_number(frame_match.group(2))
        elif is_inside and line and not line[0].isspace():
            if frame:
                problems.append(ToolProblem(line, *frame))
            is_inside = False
    return problems

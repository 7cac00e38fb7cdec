"""JUnit XML, which pytest and many other test runners write, and what a case in it is called.

The runners agree on the elements and on little else: `classname` is a module, a file, a suite, a class of Java or a
package. Only pytest's class names are decoded as modules. For other runners, the file of a case is an attribute, or the
class or the name of a suite if that is a path.
"""

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from lsp_harness.verify.digest import cargo, go
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.js_failure import read_js_failure
from lsp_harness.verify.digest.problem import COLLECTION_CODE, TEST_FILE, ToolProblem, parse_number
from lsp_harness.verify.digest.pytest import (
    CODE_PLACE,
    ExceptionReport,
    create_problem,
    read_exception,
    summarize_exception,
)
from lsp_harness.verify.digest.tool_output import ToolOutput

Result = Literal["passed", "failed", "skipped"]

GO_NAME = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?:[A-Z_0-9]\S*)?$")
GO_LOG = re.compile(r"(?m)^\s+[^\s:]+_test\.go:\d+: ")
JAVA_CLASS = re.compile(r"(?:[a-z_]\w*\.)*[A-Z][\w$]*$")
JAVA_FRAME = re.compile(r"\s*at (?:[\w.-]+/)*([\w$.]+)\.[\w$<>]+\(([\w$]+\.\w+):(\d+)\)$")
JAVA_LIBRARY = re.compile(
    r"(?:java|javax|jdk|sun|kotlin|scala|groovy|org\.junit|junit|org\.opentest4j|org\.hamcrest|org\.assertj"
    r"|org\.testng|org\.gradle|org\.mockito|org\.apache\.maven)\."
)
ANY_PLACE = re.compile(
    r"(?:^|[\s(\"'])((?:[A-Za-z]:[\\/])?[^\s:()\"'<>]*[\w-]\.[a-z]\w{0,6})(?::(?:line )?|\()(\d{1,7})\b"
)
TEST_MODULE = re.compile(r"test_|.*_tests?$|tests?$|conftest$")
RUST_BINARY = re.compile(r"[a-z][\w-]*(?:::[\w/-]+)*$")
RUST_TEST = re.compile(r"[a-z_]\w*(?:::\w+)*$")
RUNNER_CLASSES = {"", "test", "undefined"}
"""Class names that say nothing: node calls every class `test`."""


@dataclass(frozen=True, slots=True)
class JunitSuite:
    """A suite that encloses a case.

    Attributes:
        name: The name: a file, a class, a package, or the words of a `describe`.
        file: The file, if the runner writes it.
    """

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure or an error of a case.

    Attributes:
        tag: `failure` or `error`.
        message: The message.
        error_type: The class of the exception, in the words of the runner.
        text: The lines of the failure, with its stack.
    """

    tag: str
    message: str
    error_type: str
    text: str


@dataclass(frozen=True, slots=True)
class JunitCase:
    """One case of a JUnit file.

    Attributes:
        name: The name.
        class_name: The class name, whatever the runner means by it.
        path: The value of the attribute `file`.
        line: The attribute `line`, or 0.
        suites: The suites around it, the outermost first.
        failures: Its failures and errors.
        is_skipped: Whether it was skipped.
        skip_reason: Why it was skipped, if the runner says so.
    """

    name: str
    class_name: str
    path: str = ""
    line: int = 0
    suites: tuple[JunitSuite, ...] = ()
    failures: tuple[Failure, ...] = field(default=())
    is_skipped: bool = False
    skip_reason: str = ""

    @classmethod
    def from_element(cls, element: ET.Element, suites: tuple[JunitSuite, ...], max_chars: int) -> Self:
        """Return the case of an element, with at most `max_chars` characters of the text of each failure."""
        output = element.findtext("system-out") or element.findtext("system-err") or ""
        failures = tuple(
            Failure(
                child.tag,
                child.get("message") or "",
                child.get("type") or "",
                _cut(_text_of(child, output), max_chars),
            )
            for child in element
            if child.tag in ("failure", "error")
        )
        skipped = element.find("skipped")
        # nextest and surefire: a test that failed first and passed then has another element
        return cls(
            (element.get("name") or "?").strip() or "?",
            (element.get("classname") or element.get("class") or "").strip(),
            element.get("file") or "",
            parse_number(element.get("line") or ""),
            suites,
            failures,
            skipped is not None or element.get("status") in ("disabled", "notrun", "ignored"),
            _read_skip_reason(skipped) if skipped is not None else "",
        )

    @property
    def result(self) -> Result:
        """The way in which the case ended."""
        return "failed" if self.failures else "skipped" if self.is_skipped else "passed"

    @property
    def file(self) -> str:
        """The file of the case, or an empty text if the document does not name it."""
        suites = [suite.file or suite.name for suite in reversed(self.suites) if suite.file or _is_file(suite.name)]
        if not _is_file(self.class_name):
            return next(filter(None, [self.path, *suites]), "")
        # the class name may be a template of a setting, with the last part of the path only
        whole = (suite for suite in suites if suite.endswith(f"/{self.class_name}"))
        return self.path or next(whole, self.class_name)

    @property
    def is_whole_file(self) -> bool:
        """Return whether the case stands for a file that has no tests or could not be loaded."""
        return _is_file(self.name) and self.class_name in (*RUNNER_CLASSES, self.name)


def _read_skip_reason(skipped: ET.Element) -> str:
    # pytest writes the reason for a whole file behind its place: (path, line, "Skipped: reason")
    reason = (skipped.text or "").partition("Skipped: ")[2].rstrip("\"')")
    return reason or skipped.get("message") or ""


def _text_of(failure: ET.Element, output: str) -> str:
    # ctest says only in the output of the program why it failed
    return failure.text or (output if _is_silent(failure.get("message") or "") else "")


def _is_silent(message: str) -> bool:
    return message.strip().casefold() in ("", "failed")


def _cut(text: str, max_chars: int) -> str:
    # the message is at the start and the own frames of a Python traceback are at the end
    return text if len(text) <= max_chars else text[: max_chars // 2] + "\n" + text[-max_chars // 2 :]


def _is_file(name: str) -> bool:
    return bool(TEST_FILE.search(name)) and "\n" not in name and "://" not in name and not name.startswith(" ")


def name_cases(cases: Sequence[JunitCase], *, is_pytest: bool) -> list[str]:
    """Return the id of each case: `path::name`, or the name if the document does not say in which file it is."""
    if not is_pytest:
        return [_name_case(case) for case in cases]
    paths = {path for case in cases for failure in case.failures for path in _python_paths(failure.text)}
    files_by_module = {_to_module(path): path for path in [*paths, *(case.path for case in cases)] if path}
    return [_pytest_id(case, files_by_module) for case in cases]


def _python_paths(text: str) -> list[str]:
    places = (CODE_PLACE.match(line) for line in text.split("\n"))
    return [place.group(1) for place in places if place and place.group(1).endswith(".py") and place.group(1)[0] != "/"]


def _to_module(path: str) -> str:
    return path.removesuffix(".py").replace("\\", "/").replace("/", ".")


def _pytest_id(case: JunitCase, files_by_module: dict[str, str]) -> str:
    """Return the id by which pytest knows a test.

    pytest writes the id as a class name with dots for all separators. The file, which the older form names, says where
    the module ends. Without it, the places in the failures of this file decide, and then the usual names.
    """
    if not case.class_name:
        # pytest writes a file that it cannot import as a case without a class
        is_error = any(failure.tag == "error" for failure in case.failures)
        return case.path or (case.name.replace(".", "/") + ".py" if is_error else case.name)
    parts = case.class_name.split(".")
    for end in range(len(parts), 0, -1):
        if path := files_by_module.get(".".join(parts[:end])):
            return "::".join([path.replace("\\", "/"), *parts[end:], case.name])
    if case.path and not case.path.endswith(".py") and case.class_name.startswith(_to_module(case.path)):
        # a doctest in a text file
        return f"{case.path}::{case.name}"
    end = _guess_module_end(parts)
    return "::".join(["/".join(parts[:end]) + ".py", *parts[end:], case.name])


def _guess_module_end(parts: list[str]) -> int:
    """Return how many parts of a class name of pytest are the module."""
    classes = next((i for i, part in enumerate(reversed(parts)) if not part[:1].isupper()), len(parts) - 1)
    end = len(parts) - classes
    modules = [i for i, part in enumerate(parts[:end], 1) if TEST_MODULE.match(part) and part not in ("test", "tests")]
    return modules[-1] if modules else end


def _name_case(case: JunitCase) -> str:
    name, class_name, file = case.name, case.class_name, case.file
    if case.is_whole_file:
        return name
    if GO_NAME.match(name) and case.suites and case.suites[-1].name.endswith(class_name) and not _is_file(class_name):
        return f"{case.suites[-1].name}::{name}" if case.suites[-1].name else name
    groups = [suite.name for suite in case.suites if suite.name and not _is_file(suite.name)]
    if class_name in RUNNER_CLASSES or (len(groups) > 1 and class_name == ".".join(groups)):
        words = groups[1:] if class_name in ("", "undefined") else groups
        name = name if not words or name.startswith(words[-1]) else " > ".join([*words, name])
    elif JAVA_CLASS.match(class_name) and not file:
        return f"{class_name}.{name}"
    elif _is_rust(case):
        # as nextest names it; two binaries may have tests of one name
        name = f"{class_name} {name}"
    elif class_name == _to_module(file.removeprefix("./").rpartition(".")[0]):
        pass
    elif not _is_file(class_name) and not name.startswith(class_name) and not name.endswith(class_name):
        name = f"{class_name} > {name}"
    return f"{file}::{name}" if file else name


def _is_rust(case: JunitCase) -> bool:
    # nextest: the suite and the class are the binary, and the name has the modules
    is_binary = bool(case.suites) and case.suites[-1].name == case.class_name and not case.file
    return is_binary and bool(RUST_BINARY.match(case.class_name)) and bool(RUST_TEST.match(case.name))


def read_failure(case: JunitCase, failure: Failure, test: str, *, is_pytest: bool) -> ToolProblem:
    """Return the problem of a failure of a case.

    Args:
        case: The element of the test case.
        failure: The element of the failure.
        test: The id of the case.
        is_pytest: Whether pytest wrote the document.
    """
    if is_pytest:
        problem = create_problem(test, read_exception(failure.text.split("\n")), failure.message)
        return problem if problem.path or not case.path else _replace_place(problem, case)
    if case.is_whole_file or test == case.file:
        report = read_js_failure(failure.text, failure.message)
        is_own = bool(report.path) and (report.path.endswith(test) or test.endswith(report.path))
        return ToolProblem(report.message, test, report.line if is_own else 0, code=COLLECTION_CODE)
    report = _read_other(case, failure)
    problem = ToolProblem(report.message or "failed", report.path, report.line, test=test)
    return problem if problem.path else _replace_place(problem, case)


def _replace_place(problem: ToolProblem, case: JunitCase) -> ToolProblem:
    return ToolProblem(problem.message, case.file, case.line, code=problem.code, test=problem.test)


def _read_other(case: JunitCase, failure: Failure) -> ExceptionReport:
    """Return the message and the place of a failure, by the language of its text."""
    lines = failure.text.split("\n")
    if lines[0].endswith(f"::{case.name}"):
        # PHPUnit begins with the name of the test, and ends with its place
        lines = lines[1:]
    text = "\n".join(lines)
    if "panicked at" in text:
        problem = cargo.read_problem(case.name, lines)
        return ExceptionReport(problem.message, problem.path, problem.line)
    if GO_LOG.search(text):
        log = go.GoTestLog()
        for line in lines:
            log.add(line)
        return ExceptionReport("\n".join(log.lines), log.path, log.line)
    if "Traceback (most recent call last)" in text:
        report = read_exception(lines)
        return ExceptionReport(report.message or summarize_exception([failure.message]), report.path, report.line)
    if any(JAVA_FRAME.match(line) for line in lines):
        return _read_java(case, failure, lines)
    report = read_js_failure(text, "" if text.strip() and _is_silent(failure.message) else failure.message)
    if report.path:
        return report
    places = [*ANY_PLACE.finditer(text), *ANY_PLACE.finditer(failure.message)]
    if not places:
        return report
    # `Calc.add(1, 2)` in a message looks like a place too
    place = next((place for place in places if case.file and place.group(1).endswith(case.file)), places[0])
    written = f"{place.group(1)}:{place.group(2)}"
    message = report.message.removeprefix(written).removesuffix(written).strip()
    return ExceptionReport(message or report.message, place.group(1), parse_number(place.group(2)))


def _read_java(case: JunitCase, failure: Failure, lines: list[str]) -> ExceptionReport:
    """Return the message, and the first frame in the class of the test, or else the first outside of libraries."""
    frames = [match for line in lines if (match := JAVA_FRAME.match(line))]
    own = [frame for frame in frames if frame.group(1).partition("$")[0] == case.class_name.partition("$")[0]]
    others = [frame for frame in frames if not JAVA_LIBRARY.match(frame.group(1))]
    frame = next(iter(own or others or frames))
    name = failure.error_type.rpartition(".")[2]
    message = failure.message.strip()
    head = lines[0].strip() if lines else ""
    if not message:
        message = head.partition(": ")[2] or head
    message = message.removeprefix(f"{failure.error_type}: ")
    is_plain = not name or name.startswith(("Assertion", "Comparison")) or name in message
    return ExceptionReport(message if is_plain else f"{name}: {message}", frame.group(2), parse_number(frame.group(3)))


CHUNK_CHARS = 1 << 16
"""Characters to parse at once."""
MAX_TEXT_CHARS = 60_000
"""Most characters of the text of one failure to keep."""
PYTEST_NAMES = ("pytest", "pytest tests")
"""Names of the suite and of the document of pytest. The suite's name is a setting."""


@dataclass(slots=True)
class _Document:
    """The cases of a document, and what its suites are called.

    Attributes:
        cases: The cases, in the order of the document.
        suites: The suites that enclose the current place.
        names: The names of the document and of all suites.
        is_complete: Whether the end of the document was reached.
    """

    cases: list[JunitCase] = field(default_factory=list[JunitCase])
    suites: list[JunitSuite] = field(default_factory=list[JunitSuite])
    names: set[str] = field(default_factory=set[str])
    is_complete: bool = False


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no JUnit file.

    A file with a document type is not read: it could define entities, and no test runner writes one.
    """
    start = output.raw.find("<testsuite")
    text = output.raw.lstrip()
    if start < 0 or start > 4096 + len(output.raw) - len(text) or "<!DOCTYPE" in output.raw[:4096]:
        return None
    if not text.startswith("<"):
        # some runners print lines before the report
        text = output.raw[start:] if not output.raw[:start].rpartition("\n")[2].strip() else ""
    document = _read_document(text)
    is_pytest = bool(document.names.intersection(PYTEST_NAMES))
    ids = name_cases(document.cases, is_pytest=is_pytest)
    ids_by_result = defaultdict[str, list[str]](list)
    problems, errors = list[ToolProblem](), 0
    for case, test in zip(document.cases, ids, strict=True):
        if case.is_whole_file and case.result == "passed" and not is_pytest:
            # node reports a file without tests as one test that passes
            continue
        ids_by_result[case.result].append(test)
        if case.result == "failed":
            found = [read_failure(case, failure, test, is_pytest=is_pytest) for failure in case.failures]
            problems += found
            is_error = all(p.code == COLLECTION_CODE for p in found) or (is_pytest and case.failures[0].tag == "error")
            errors += is_error
    return Digest(
        "pytest" if is_pytest else "junit",
        tuple(problems),
        len(ids_by_result["passed"]),
        len(ids_by_result["failed"]),
        len(ids_by_result["skipped"]),
        is_truncated=not document.is_complete,
        note=next((case.skip_reason for case in document.cases if case.skip_reason), ""),
        passed_tests=frozenset(ids_by_result["passed"]),
        skipped_tests=frozenset(ids_by_result["skipped"]),
        errors=errors,
    )


def remove(text: str) -> str:
    """Return a text without its JUnit document, for the other readers: the output of the tests stands in it too."""
    start = text.find("<testsuite")
    end = text.rfind("</testsuite")
    return text[:start] + (text[end:].partition(">")[2] if end > start else "")


def _read_document(text: str) -> _Document:
    document = _Document()
    for event, element in _read_elements(text):
        match event, element.tag:
            case "start", "testsuites":
                document.names.add(element.get("name", ""))
            case "start", "testsuite":
                document.names.add(element.get("name", ""))
                document.suites.append(JunitSuite(element.get("name", ""), element.get("file", "")))
            case "end", "testsuite":
                document.suites = document.suites[:-1]
                document.is_complete = not document.suites
                element.clear()
            case "end", "testsuites":
                document.is_complete = True
            case "end", "testcase":
                document.is_complete = False
                document.cases.append(JunitCase.from_element(element, tuple(document.suites), MAX_TEXT_CHARS))
                element.clear()
            case _:
                pass
    return replace(document)


def _read_elements(text: str) -> Iterator[tuple[str, ET.Element]]:
    """Yield the start and the end of each element, up to the first place that is no XML."""
    parser: ET.XMLPullParser[ET.Element] = ET.XMLPullParser(["start", "end"])
    for start in range(0, len(text), CHUNK_CHARS):
        is_broken = False
        try:
            parser.feed(
                text[start : start + CHUNK_CHARS].encode("utf-8", "replace")
                if start
                else _encode_start(text[:CHUNK_CHARS])
            )
        except ET.ParseError:
            is_broken = True
        # the parser first returns the events before the error, then raises the error again
        with suppress(ET.ParseError):
            for item in parser.read_events():
                element = item[1] if len(item) > 1 else None
                if isinstance(element, ET.Element):
                    yield item[0], element
        if is_broken:
            return


def _encode_start(text: str) -> bytes:
    # the text is decoded already, so the encoding in its declaration is wrong
    declaration, end, rest = text.partition("?>")
    return (rest if end and declaration.startswith("<?xml") else text).encode("utf-8", "replace")

"""JUnit XML, which pytest and many other test runners write.

The runners agree on the elements and on little else: `classname` is a module, a file, a suite, a class of Java or a
package. `junit_case` decides what a case is called; this module reads the document.
"""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, Problem
from lsp_harness.verify.digest.runners.junit_case import JunitCase, Suite, name_cases, read_failure
from lsp_harness.verify.digest.tool_output import ToolOutput

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
    suites: list[Suite] = field(default_factory=list[Suite])
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
    problems, errors = list[Problem](), 0
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
    for event, element in _elements(text):
        match event, element.tag:
            case "start", "testsuites":
                document.names.add(element.get("name", ""))
            case "start", "testsuite":
                document.names.add(element.get("name", ""))
                document.suites.append(Suite(element.get("name", ""), element.get("file", "")))
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


def _elements(text: str) -> Iterator[tuple[str, ET.Element]]:
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

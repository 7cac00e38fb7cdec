"""JUnit XML, which pytest and many other test runners write."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.pytest import create_problem
from lsp_harness.verify.digest.pytest_block import read_exception
from lsp_harness.verify.digest.tool_output import ToolOutput

CHUNK_CHARS = 1 << 16
"""Characters to parse at once."""


def read(output: ToolOutput) -> Digest | None:
    """Return the tests that fail, or None if this is no JUnit file.

    A file with a document type is not read: it could define entities, and no test runner writes one.
    """
    text = output.raw.lstrip()
    if not text.startswith("<") or "<testsuite" not in text[:4096] or "<!DOCTYPE" in text[:4096]:
        return None
    problems: list[Problem] = []
    passed, skipped, failed = list[str](), list[str](), 0
    tool, is_complete = "junit", False
    for element in _elements(text):
        if element.tag == "testsuite" and element.get("name") == "pytest":
            tool = "pytest"
        elif element.tag == "testcase":
            failures = _read_failures(element)
            failed += bool(failures)
            problems += failures
            if not failures:
                (passed if element.find("skipped") is None else skipped).append(_test_id(element))
            element.clear()
        is_complete = element.tag in ("testsuites", "testsuite")
    return Digest(
        tool,
        tuple(problems),
        len(passed),
        failed,
        len(skipped),
        is_truncated=not is_complete,
        passed_tests=frozenset(passed),
        skipped_tests=frozenset(skipped),
    )


def _elements(text: str) -> Iterator[ET.Element]:
    """Yield each element at its end, up to the first place that is no XML."""
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
                if isinstance(element, ET.Element) and (item[0] == "end" or element.tag == "testsuite"):
                    yield element
        if is_broken:
            return


def _encode_start(text: str) -> bytes:
    # the text is decoded already, so the encoding in its declaration is wrong
    declaration, end, rest = text.partition("?>")
    return (rest if end and declaration.startswith("<?xml") else text).encode("utf-8", "replace")


def _read_failures(case: ET.Element) -> list[Problem]:
    node = _test_id(case)
    problems: list[Problem] = []
    for element in case:
        if element.tag not in ("failure", "error"):
            continue
        exception = read_exception((element.text or "").split("\n"))
        problem = create_problem(node, exception, element.get("message") or "")
        if not problem.path and case.get("file"):
            problem = Problem(
                problem.message, case.get("file", ""), parse_number(case.get("line", "")), test=problem.test
            )
        problems.append(problem)
    return problems


def _test_id(case: ET.Element) -> str:
    """Return the id by which pytest knows the test if pytest wrote the class name, or else the plain name."""
    name, parts = case.get("name") or "?", (case.get("classname") or "").split(".")
    if not parts[0]:
        # pytest writes a file that it cannot import as a case without a class
        return case.get("file") or (name.replace(".", "/") + ".py" if case.find("error") is not None else name)
    modules = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts))
    if modules == 0 or not any(part.startswith("test") or part.endswith("test") for part in parts[:modules]):
        return name
    return "::".join(["/".join(parts[:modules]) + ".py", *parts[modules:], name])

"""JUnit's XML, which pytest and many other runners write."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.pytest import create_problem
from lsp_harness.verify.digest.pytest_block import read_exception
from lsp_harness.verify.digest.tool_output import ToolOutput

PIECE = 1 << 16


def read(output: ToolOutput) -> Digest | None:
    """None for what is no JUnit file. One with a document type is not read: no runner writes it, and it can define entities."""
    text = output.raw.lstrip()
    if not text.startswith("<") or "<testsuite" not in text[:4096] or "<!DOCTYPE" in text[:4096]:
        return None
    problems: list[Problem] = []
    cases, failed, skipped = 0, 0, 0
    tool, whole = "junit", False
    for element in _elements(text):
        if element.tag == "testsuite" and element.get("name") == "pytest":
            tool = "pytest"
        elif element.tag == "testcase":
            found = _failures(element)
            cases += 1
            failed += bool(found)
            skipped += not found and element.find("skipped") is not None
            problems += found
            element.clear()
        whole = element.tag in ("testsuites", "testsuite")
    return Digest(tool, tuple(problems), cases - failed - skipped, failed, skipped, is_truncated=not whole)


def _elements(text: str) -> Iterator[ET.Element]:
    """Elements as they end, as far as it is XML at all."""
    parser: ET.XMLPullParser[ET.Element] = ET.XMLPullParser(["start", "end"])
    for start in range(0, len(text), PIECE):
        broken = False
        try:
            parser.feed(text[start : start + PIECE].encode("utf-8", "replace") if start else _declared(text[:PIECE]))
        except ET.ParseError:
            broken = True
        # what was read before the break comes first, then the break once more
        with suppress(ET.ParseError):
            for item in parser.read_events():
                element = item[1] if len(item) > 1 else None
                if isinstance(element, ET.Element) and (item[0] == "end" or element.tag == "testsuite"):
                    yield element
        if broken:
            return


def _declared(text: str) -> bytes:
    # what was decoded already is not in the encoding that it says
    declaration, end, rest = text.partition("?>")
    return (rest if end and declaration.startswith("<?xml") else text).encode("utf-8", "replace")


def _failures(case: ET.Element) -> list[Problem]:
    node = _node(case)
    found: list[Problem] = []
    for element in case:
        if element.tag not in ("failure", "error"):
            continue
        known = read_exception((element.text or "").split("\n"))
        made = create_problem(node, known, element.get("message") or "")
        if not made.path and case.get("file"):
            made = Problem(made.message, case.get("file", ""), parse_number(case.get("line", "")), test=made.test)
        found.append(made)
    return found


def _node(case: ET.Element) -> str:
    """pytest's id of the test where the class is named as pytest does, else the bare name."""
    name, parts = case.get("name") or "?", (case.get("classname") or "").split(".")
    if not parts[0]:
        # a file that could not be imported is a case without a class
        return case.get("file") or (name.replace(".", "/") + ".py" if case.find("error") is not None else name)
    modules = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts))
    if modules == 0 or not any(part.startswith("test") or part.endswith("test") for part in parts[:modules]):
        return name
    return "::".join(["/".join(parts[:modules]) + ".py", *parts[modules:], name])

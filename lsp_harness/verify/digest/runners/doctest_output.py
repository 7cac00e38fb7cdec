"""Output of `python -m doctest`, with and without `-v`. If all examples pass, only `-v` prints anything."""

import re

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem, parse_number
from lsp_harness.verify.digest.tool_output import ToolOutput

EXAMPLE_HEAD = re.compile(r'File "([^"]+)", line (\d+), in (\S.*)$')
STARS = "*" * 70
NEW_COUNTS = re.compile(r"(?m)^(\d+) passed(?: and (\d+) failed)?\.$")
FAILURES = re.compile(r"(?m)^\*\*\*Test Failed\*\*\* (\d+) failures?")
ITEM = re.compile(r"(?m)^ +\d+ tests? in (\S.*)$")
IN_ITEMS = re.compile(r"(?m)^\d+ tests? in \d+ items?\.$")
MAX_LINES = 8


def read(output: ToolOutput) -> Digest | None:
    """Return the examples that fail, or None if this is no output of doctest."""
    text = output.text
    is_verbose = IN_ITEMS.search(text)
    failed = sum(parse_number(count) for count in FAILURES.findall(text))
    problems = _read_examples(output.lines)
    if not is_verbose and not failed and not problems:
        return None
    numbers = NEW_COUNTS.findall(text)
    passed = sum(parse_number(count) for count, _ in numbers)
    failed = failed or sum(parse_number(count) for _, count in numbers if count) or len(problems)
    if not passed and not is_verbose:
        passed = _count_passed(text)
    note = "" if passed or failed else "no test ran"
    is_truncated = not is_verbose and not FAILURES.search(text)
    return Digest(
        "doctest",
        tuple(problems),
        passed,
        failed,
        is_truncated=is_truncated,
        note=note,
        passed_tests=frozenset(ITEM.findall(text)) if is_verbose else None,
    )


def _count_passed(text: str) -> int:
    """Return the number of examples that passed in the items that have failures: `1 of 2 in calc.add`."""
    items = re.findall(r"(?m)^ +(\d+) of +(\d+) in \S", text)
    return sum(parse_number(total) - parse_number(failed) for failed, total in items)


def _read_examples(lines: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    for index, line in enumerate(lines):
        match = EXAMPLE_HEAD.match(line)
        if not match or not index or lines[index - 1] != STARS:
            continue
        ends = (i for i in range(index + 1, len(lines)) if lines[i] == STARS or lines[i].startswith("Trying:"))
        block = lines[index + 1 : next(ends, len(lines))]
        path, row, name = match.groups()
        problems.append(Problem(_describe(block), path, parse_number(row), test=name))
    return problems


def _describe(block: list[str]) -> str:
    example = " ".join(_indented(block, "Failed example:")[:2])
    if raised := _indented(block, "Exception raised:"):
        return f"{example}: {raised[-1]}"
    expected, got = (", ".join(_indented(block, head)) for head in ("Expected:", "Got:"))
    return f"{example}: expected {expected or 'nothing'}, got {got or 'nothing'}"


def _indented(block: list[str], head: str) -> list[str]:
    """Return the lines below a head, up to the first without indentation."""
    if head not in block:
        return []
    found: list[str] = []
    for line in block[block.index(head) + 1 :]:
        if line.strip() and not line.startswith("    "):
            break
        if line.strip():
            found.append(line.strip())
    return found if head == "Exception raised:" else found[:MAX_LINES]

"""Creates the digest of a tool's output: asks the readers of the named tool, or all readers."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from types import MappingProxyType

from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.verify.digest import (
    annotations,
    eslint,
    generic_output,
    jest_output,
    junit,
    mocha_output,
    node_test,
    npm_output,
    pytest,
    tap,
    tsc,
    vitest_output,
)
from lsp_harness.verify.digest.cargo import read_cargo, read_cargo_test
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.go import read_go_build, read_go_test
from lsp_harness.verify.digest.line_prefixes import TIME, remove_indent, split_sources
from lsp_harness.verify.digest.problem import SUMMARY_CODE, ToolProblem
from lsp_harness.verify.digest.ruff import read_ruff, read_ty
from lsp_harness.verify.digest.tool_output import ToolOutput
from lsp_harness.verify.digest.type_checkers import read_mypy, read_pyright
from lsp_harness.verify.digest.unittest_output import read_doctest, read_unittest

Reader = Callable[[ToolOutput], Digest | None]

READERS_BY_TOOL: MappingProxyType[str, tuple[Reader, ...]] = MappingProxyType(
    {
        "pytest": (junit.read, pytest.read),
        "junit": (junit.read,),
        "ruff": (read_ruff,),
        "ty": (read_ty, read_ruff),
        "eslint": (eslint.read,),
        "mypy": (read_mypy,),
        "pyright": (read_pyright,),
        "tsc": (tsc.read,),
        "go": (read_go_build, read_go_test),
        "cargo": (read_cargo, read_cargo_test),
        "node": (junit.read, node_test.read, tap.read),
        "vitest": (junit.read, vitest_output.read, tap.read),
        "jest": (junit.read, jest_output.read),
        "mocha": (junit.read, mocha_output.read, tap.read),
        "unittest": (junit.read, read_unittest),
        "doctest": (read_doctest,),
        "tap": (tap.read,),
        "npm": (npm_output.read,),
        "github": (annotations.read,),
    }
)
"""The readers of each tool. No two readers recognize the same lines, so a log of several tools can be read by several
readers."""
MAX_MESSAGE_CHARS = 300
"""Most characters of a message in a digest."""
MAX_LAST_LINES = 5
"""Lines to show of an output that is not understood."""
MAX_SOURCE_CHARS = 8_000
"""Most characters of the output to make a message from. It is longer than a message: only a whole secret can be
recognized."""


def digest_output(text: str, tool: str = "", root: str = "") -> Digest:
    """Return the digest of a tool's output. Any text is accepted.

    Args:
        text: The output of the tool.
        tool: The name of the tool. If it is empty, the tool is recognized by its output.
        root: A folder. Paths below it become relative to it.

    Raises:
        UsageError: The tool is not in `READERS_BY_TOOL`.
    """
    if tool and tool not in READERS_BY_TOOL:
        raise UsageError(f"the output of {tool!r} is not supported; --tool can be {', '.join(READERS_BY_TOOL)}")
    output = ToolOutput(text)
    joined = _read_sources(output, tool)
    if not joined:
        return _empty_digest(output, tool)
    if joined.failed and not any(problem.test or problem.severity == "error" for problem in joined.problems):
        counts = f"{joined.failed - joined.errors} failed" if joined.failed > joined.errors else ""
        errors = f"{joined.errors} error{'s' * (joined.errors > 1)}" if joined.errors else ""
        message = f"{', '.join(filter(None, (counts, errors)))}; the output does not say which"
        joined = replace(joined, problems=(*joined.problems, ToolProblem(message, code=SUMMARY_CODE)))
    # a junit file says itself which runner wrote it
    return replace(
        joined,
        tool=tool if tool not in ("", "junit") else joined.tool,
        problems=tuple(_finish(problem, root) for problem in joined.problems),
        passed_tests=_finish_tests(joined.passed_tests, root) if joined.passed_tests is not None else None,
        skipped_tests=_finish_tests(joined.skipped_tests, root),
        last_lines=() if joined.is_conclusive else _last_lines(output),
    )


def _read_sources(output: ToolOutput, tool: str) -> Digest | None:
    """Return the digest of an output, or None if no reader understands it. Prefixes of its lines are removed.

    If the form of the prefixes may also be something else, the output is read with them too, and what says more counts.
    """
    prefixed = split_sources(output.raw)
    if not prefixed:
        return _read_indented(output, tool)
    digests = [digest for text in prefixed.texts if (digest := _read_indented(ToolOutput(text), tool))]
    if any(digest.problems for digest in digests if digest.tool != npm_output.TOOL):
        digests = [digest for digest in digests if not npm_output.is_summary(digest)]
    stripped = _join(digests) if digests else None
    if stripped and prefixed.is_certain:
        return stripped
    whole = _read(output, tool)
    if not whole or not stripped:
        return whole or stripped
    is_misread = any(_is_in_prefix(problem, prefixed.prefixes) for problem in whole.problems)
    return stripped if is_misread or _count_known(stripped) > _count_known(whole) else whole


def _read_indented(output: ToolOutput, tool: str) -> Digest | None:
    """Return the digest of an output whose lines may all be indented, as those of a task in the log of its runner."""
    digest, text = _read(output, tool), remove_indent(output.raw)
    if text == output.raw or (digest and digest.problems and digest.tool != generic_output.TOOL):
        return digest
    digests = [read for read in (digest, _read(ToolOutput(text), tool)) if read]
    return max(digests, key=_rank, default=None)


def _rank(digest: Digest) -> tuple[bool, bool, int]:
    """Return what makes one of two digests of the same text the better one."""
    return bool(digest.problems), digest.tool != generic_output.TOOL, _count_known(digest)


def _count_known(digest: Digest) -> int:
    """Return how much a digest knows: its tests, and its problems that have a place."""
    return digest.total + sum(bool(problem.path) for problem in digest.problems)


def _is_in_prefix(problem: ToolProblem, prefixes: frozenset[str]) -> bool:
    """Return whether a reader took the prefix of the line for a part of the problem."""
    texts = (problem.path, problem.message, problem.test)
    return any(
        TIME.match(text) or any(text.startswith(prefix.rstrip(": ")) for prefix in prefixes) for text in texts if text
    )


def _read(output: ToolOutput, tool: str) -> Digest | None:
    """Return the joined digests of all readers that understand an output, or None if there is none."""
    if not output.raw.strip():
        return None
    readers = (
        READERS_BY_TOOL[tool]
        if tool
        else dict.fromkeys(reader for readers in READERS_BY_TOOL.values() for reader in readers)
    )
    marked = annotations.read(output) if not tool or annotations.read in readers else None
    tagged = output
    if annotations.MARK.search(output.raw):
        output = ToolOutput(annotations.remove(output.raw))
        tagged = ToolOutput(annotations.remove(tagged.raw, marks_errors=True))
    documents = [digest] if junit.read in readers and (digest := junit.read(output)) else []
    if documents:
        output, tagged = ToolOutput(junit.remove(output.raw)), ToolOutput(junit.remove(tagged.raw))
    others = (reader for reader in readers if reader not in (annotations.read, junit.read))
    digests = documents + [digest for reader in others if (digest := reader(output))]
    digests += _new_annotations(marked, digests)
    if any(digest.problems for digest in digests if digest.tool != npm_output.TOOL):
        digests = [digest for digest in digests if not npm_output.is_summary(digest)]
    if not digests and (generic := generic_output.read(tagged)):
        digests = [generic]
    elif not tool and not any(digest.problems for digest in digests) and (errors := generic_output.read_errors(tagged)):
        # the known tool of this log found no problem, but an unknown one did
        digests.append(errors)
    return _join(digests) if digests else None


def _new_annotations(marked: Digest | None, digests: list[Digest]) -> list[Digest]:
    """Return the annotations without the problems that the tools print as text too."""
    if not marked:
        return []
    known = [problem for digest in digests for problem in digest.problems]
    places = {(PurePath(problem.path).name, problem.line) for problem in known}
    tests = {problem.failed_id for problem in known if problem.failed_id}
    news = tuple(
        problem
        for problem in marked.problems
        if problem.test not in tests and (not problem.path or (PurePath(problem.path).name, problem.line) not in places)
    )
    return [replace(marked, problems=news)] if news or not digests else []


def read_last_line(text: str) -> str:
    """Return the last line of an output without secrets, or an empty text. A long line loses its middle."""
    lines = text.strip().splitlines()
    return _to_line(lines[-1]) if lines else ""


def _empty_digest(output: ToolOutput, tool: str) -> Digest:
    """Return the digest of an output that no reader recognizes.

    If nothing was printed, a named tool found no problems. Without a name nothing is known.
    """
    value, is_truncated = output.value
    if not output.raw.strip() or (value == [] and not is_truncated):
        return Digest(tool, note="" if tool else "no output")
    count = output.raw.strip().count("\n") + 1
    note = f"this output is not understood ({count:,} line{'s' * (count > 1)})"
    return Digest(note=note, last_lines=_last_lines(output))


def _last_lines(output: ToolOutput) -> tuple[str, ...]:
    lines = [line for line in output.raw[-MAX_SOURCE_CHARS:].split("\n") if line.strip()]
    return tuple(_to_line(line) for line in lines[-MAX_LAST_LINES:])


def _join(digests: list[Digest]) -> Digest:
    # the names are known if every digest with tests lists them
    are_listed = all(digest.passed_tests is not None or not digest.total for digest in digests)
    passed_tests = frozenset(_redact(test) for digest in digests for test in digest.passed_tests or ())
    notes = dict.fromkeys(digest.note for digest in digests if digest.note)
    return Digest(
        ", ".join(dict.fromkeys(digest.tool for digest in digests)),
        tuple(problem for digest in digests for problem in digest.problems),
        sum(digest.passed for digest in digests),
        sum(digest.failed for digest in digests),
        sum(digest.skipped for digest in digests),
        any(digest.is_truncated for digest in digests),
        note="; ".join(notes),
        errors=sum(digest.errors for digest in digests),
        passed_tests=passed_tests if are_listed else None,
        skipped_tests=frozenset(_redact(test) for digest in digests for test in digest.skipped_tests),
    )


def _finish(problem: ToolProblem, root: str) -> ToolProblem:
    return replace(
        problem,
        message=_to_line(problem.message),
        path=_redact(_relative_path(problem.path, root)),
        code=_redact(problem.code),
        test=_redact(_relative_path(problem.test, root)),
    )


def _finish_tests(tests: frozenset[str], root: str) -> frozenset[str]:
    return frozenset(_relative_path(test, root) for test in tests)


def _relative_path(path: str, root: str) -> str:
    root = root.rstrip("/\\")
    if root and path.startswith(root) and path[len(root) :][:1] in ("/", "\\"):
        path = path[len(root) + 1 :]
    return path.removeprefix("./")


def _to_line(message: str) -> str:
    """Return a message on one line, with single blanks and without secrets.

    A message that is too long loses its middle.
    """
    lines = [" ".join(line.split()) for line in _redact(message, MAX_SOURCE_CHARS).split("\n")]
    text = ""
    for line in filter(None, lines):
        text = line if not text else f"{text}{' ' if text[-1] in '.,:;' else '; '}{line}"
    if len(text) <= MAX_MESSAGE_CHARS:
        return text or "no message"
    # compilers write the kind of problem first and the difference last
    return f"{text[: MAX_MESSAGE_CHARS * 2 // 3].rstrip()} … {text[-MAX_MESSAGE_CHARS // 3 + 3 :].lstrip()}"


def _redact(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """Return a text without secrets, at most `max_chars` long.

    A long text is first cut between words, because half a secret would not be recognized.
    """
    if len(text) > MAX_SOURCE_CHARS:
        text = re.sub(r"\S*\Z", "", text[:MAX_SOURCE_CHARS], count=1) + "…"
    text = redact(text) if text else text
    return text if len(text) <= max_chars + 1 else text[:max_chars] + "…"

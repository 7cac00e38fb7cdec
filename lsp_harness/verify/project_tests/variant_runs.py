"""A plug-in of pytest that runs the same few tests on many variants of one file, each in a fork of one process.

It is copied beside `pytest_worker.py`, runs in the interpreter of the project, and imports nothing of this package. The
tests are collected once. In each fork, the functions of the file get the code that the variant has for them, so that
nothing is imported again. This cannot show what a variant changes outside of functions, or in functions that the import
of the tests has called already: such variants are left open.

The field `variants` of a request has these fields:

- `path`: the file;
- `edits`: for each variant its edits, as a list of the first byte, the byte after the last, and the new text as base64;
- `seconds`: the time after which no other variant is tried;
- `variant_s`: the time after which the tests of one variant are ended, which then counts as failed.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import signal
import sys
import time
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PASSED, FAILED, OPEN, LATE = "passed", "failed", "open", "late"
"""The results of a variant. `OPEN` is one that only a run of its own can judge, and `LATE` one that was not tried."""
NEW_LOCALS = 0x0002
"""The flag of the code of functions, which that of modules and classes has not."""
POLL_S = 0.002


class VariantRuns:
    """The plug-in, for one request.

    Args:
        request: The field `variants` of the request.
        out: The file for the results: a list with one for each variant.
    """

    def __init__(self, request: dict[str, Any], out: str) -> None:
        self._path = os.path.realpath(request["path"])
        self._edits: list[list[tuple[int, int, str]]] = request["edits"]
        self._seconds, self._variant_s, self._out = request["seconds"], request["variant_s"], out
        self._has_failed = self._has_passed = False
        self._called: set[CodeType] = set()
        # called at the start of each function of Python until the tests begin
        sys.settrace(self._note_call)

    def _note_call(self, frame: FrameType, event: str, argument: object) -> None:
        self._called.add(frame.f_code)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the collected tests on each variant in place of running them once."""
        sys.settrace(None)
        results = [LATE] * len(self._edits)
        # nobody reads how the tests failed, and the texts take longer than most tests
        session.config.option.tbstyle = "no"
        try:
            self._run_variants(session, results)
        finally:
            with open(self._out, "w", encoding="utf-8") as file:
                json.dump(results, file)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended."""
        self._has_failed = self._has_failed or report.failed
        self._has_passed = self._has_passed or (report.passed and report.when == "call")

    def _run_variants(self, session: pytest.Session, results: list[str]) -> None:
        with open(self._path, "rb") as file:
            data = file.read()
        old = list_codes(compile_source(data, self._path))
        functions = _find_functions(self._path)
        # forks then copy less memory; the collector lists no frozen objects
        gc.freeze()
        deadline = time.monotonic() + self._seconds
        # tests that pass now, in this process, say nothing about a variant
        if not session.items or not functions or self._run(session, []) != FAILED:
            results[:] = [OPEN] * len(results)
            return
        for number, edits in enumerate(self._edits):
            if time.monotonic() > deadline:
                return
            try:
                new = list_codes(compile_source(apply_edits(data, edits), self._path))
            except (SyntaxError, ValueError, RecursionError):
                results[number] = FAILED
                continue
            replaced = find_replacements(old, new, functions, self._called)
            results[number] = OPEN if replaced is None else self._run(session, replaced)

    def _run(self, session: pytest.Session, replaced: Sequence[tuple[FunctionType, CodeType]]) -> str:
        """Run the tests in a fork, in which functions have other code, until the first of them fails."""
        if sys.platform == "win32":
            # processes cannot be forked there
            return OPEN
        child = os.fork()
        if child == 0:
            code = 3
            try:
                for function, new in replaced:
                    function.__code__ = new
                code = self._run_items(session)
            except ValueError:
                # a closure needs other variables
                code = 2
            finally:
                os._exit(code)
        end = time.monotonic() + self._variant_s
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return {0: PASSED, 1: FAILED, 2: OPEN}.get(
                    os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1, FAILED
                )
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return FAILED
            time.sleep(POLL_S)

    def _run_items(self, session: pytest.Session) -> int:
        items = session.items
        for number, item in enumerate(items):
            following = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._has_failed:
                return 1
        return 0 if self._has_passed else 1


def compile_source(data: bytes, path: str) -> CodeType:
    """Return the code of a text, as the import system compiles it."""
    return compile(data, path, "exec", dont_inherit=True)


def apply_edits(data: bytes, edits: Sequence[tuple[int, int, str]]) -> bytes:
    """Return a text after edits. The new texts are base64."""
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + base64.b64decode(new) + data[end:]
    return data


def list_codes(
    code: CodeType, parent: int = -1, found: list[tuple[CodeType, int]] | None = None
) -> list[tuple[CodeType, int]]:
    """Return a code object and all those within it, in a fixed order, each with the number of the one around it."""
    found = [] if found is None else found
    number = len(found)
    found.append((code, parent))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            list_codes(constant, number, found)
    return found


def find_replacements(
    old: Sequence[tuple[CodeType, int]],
    new: Sequence[tuple[CodeType, int]],
    functions: dict[CodeType, list[FunctionType]],
    called: set[CodeType],
) -> list[tuple[FunctionType, CodeType]] | None:
    """Return the functions that have other code in a variant, or None if this does not show what the variant does.

    Args:
        old: The code of a text and all code within it (see `list_codes`).
        new: The same of a variant.
        functions: Code → the functions of the process that have it.
        called: The code that ran before the tests.
    """
    if [(code.co_name, parent) for code, parent in old] != [(code.co_name, parent) for code, parent in new]:
        return None
    replaced: list[tuple[FunctionType, CodeType]] = []
    is_covered: list[bool] = []
    for (before, parent), (after, _) in zip(old, new):  # noqa: B905 - Python 3.8 has no `strict`
        found = functions.get(before, [])
        # a function within a function is made again by each call of the outer one
        is_covered.append(bool(found) or (parent >= 0 and is_covered[parent]))
        if not before.co_flags & NEW_LOCALS:
            if _describe(before) != _describe(after):
                return None
        elif before != after:
            if not is_covered[-1] or before in called:
                return None
            replaced += [(function, after) for function in found]
    return replaced


def _describe(code: CodeType) -> tuple[object, ...]:
    """Return what a module or a class does, without the functions in it and without line numbers."""
    constants: list[Any] = [one for one in code.co_consts if not isinstance(one, CodeType)]
    plain = tuple(f"{type(one).__name__} {one!r}" for one in constants)
    return code.co_code, code.co_names, code.co_varnames, plain


def _find_functions(path: str) -> dict[CodeType, list[FunctionType]]:
    found: dict[CodeType, list[FunctionType]] = {}
    for function in _list_functions():
        if os.path.realpath(function.__code__.co_filename) == path:
            found.setdefault(function.__code__, []).append(function)
    return found


def _list_functions() -> Iterator[FunctionType]:
    return (one for one in gc.get_objects() if isinstance(one, FunctionType))

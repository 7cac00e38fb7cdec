"""A program that runs pytest again and again without starting Python each time.

It runs in the interpreter of the project, in the sandbox, in a copy of the project, and imports nothing of this
package. It reads one JSON object per line from its standard input, and answers each one with a line. It writes the
texts of a request into the copy, forks, runs pytest in the child, and writes the old texts back. The fields of a
request:

- `texts`: path in the copy → text, as base64;
- `arguments`: the arguments of pytest;
- `wall_s`: seconds until the child and all processes of its group are killed;
- `test_s`: seconds of the processor for each test;
- `traced`: the path whose executed lines are recorded for each test, or an empty text;
- `trace`: the file for these lines, as JSON: test → line → number of times, and whether the test passed.

An answer has `code`, the exit status of the child, or `timeout` instead.
"""

import base64
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Generator
from types import FrameType
from typing import Any

import pytest

POLL_S = 0.002
MAX_LINE_COUNT = 1_000_000


class SlowTest(BaseException):
    """The end of a test that takes too long. Tests often catch `Exception`."""


class LineRecorder:
    """The plug-in of pytest that limits the time of each test and records the lines that it runs.

    Args:
        path: The file whose lines are recorded, with its links resolved, or an empty text.
        test_s: Seconds of the processor for each test.
    """

    def __init__(self, path: str, test_s: float) -> None:
        self._path, self._test_s = path, test_s
        self._lines: dict[int, int] = {}
        self.tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Run one test with a limit of time, and record its lines."""
        self._lines = {}

        def end(number: int, frame: FrameType | None) -> None:
            raise SlowTest(f"the test does not end within {self._test_s:.1f} s")

        # the time of the processor does not depend on what else this machine does
        signal.signal(signal.SIGPROF, end)
        signal.setitimer(signal.ITIMER_PROF, self._test_s)
        if self._path:
            sys.settrace(self._trace_call)
        outcome = yield
        if self._path:
            sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)
        failed = outcome.excinfo is not None  # type: ignore[reportUnknownMemberType]
        self.tests[item.name] = {"passed": not failed, "lines": self._lines}

    def _trace_call(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._trace_line if frame.f_code.co_filename == self._path else None

    def _trace_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._lines[frame.f_lineno] = min(self._lines.get(frame.f_lineno, 0) + 1, MAX_LINE_COUNT)
        return self._trace_line


def main() -> None:
    """Answer requests until the standard input ends."""
    # what tests print must not be taken for an answer
    protocol, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    _run_empty_suite()
    os.write(protocol, b'{"ready": true}\n')
    for line in sys.stdin:
        answer = _run(json.loads(line), protocol)
        os.write(protocol, json.dumps(answer).encode() + b"\n")


def _run_empty_suite() -> None:
    """Run an empty test once, so that the plug-ins of pytest are imported. This takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "test_empty.py")
        _write(file, b"def test_empty():\n    pass\n")
        pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--confcutdir={folder}", file])


def _run(request: dict[str, Any], protocol: int) -> dict[str, Any]:
    old: dict[str, bytes | None] = {}
    try:
        for path, text in request["texts"].items():
            old[path] = _read(path)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            _write(path, base64.b64decode(text))
        child = os.fork()
        if child == 0:
            os.close(protocol)
            _run_child(request)
        return _wait(child, request["wall_s"])
    finally:
        for path, data in old.items():
            if data is None:
                os.remove(path)
            else:
                _write(path, data)


def _run_child(request: dict[str, Any]) -> None:
    code = 70
    try:
        # not a new session, which would have the usual priority
        os.setpgid(0, 0)
        sys.stdin = open(os.devnull)  # noqa: SIM115 - the process ends soon
        # a test that reads its standard input must not get the next request
        os.dup2(sys.stdin.fileno(), 0)
        sys.path.insert(0, os.getcwd())
        traced = os.path.realpath(request["traced"]) if request["traced"] else ""
        recorder = LineRecorder(traced, request["test_s"])
        code = int(pytest.main(request["arguments"], plugins=[recorder]))
        if traced:
            _write(request["trace"], json.dumps(recorder.tests).encode())
    finally:
        os._exit(code)


def _wait(child: int, wall_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + wall_s
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            _kill_group(child)
            return {"code": os.waitstatus_to_exitcode(status)}
        if time.monotonic() > deadline:
            _kill_group(child)
            os.waitpid(child, 0)
            return {"timeout": True}
        time.sleep(POLL_S)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()

"""A program that runs pytest again and again without starting Python each time.

    python pytest_worker.py '{"folder": …, …}'

It runs in the interpreter of the project, in the sandbox, and imports nothing of this package. Its argument is a JSON
object: `view`, a request to `namespace_launcher.py`, or null if it works in a copy of the project. In a view, each run
has its own overlay over the project, so that no run sees the files of another one.

It reads one JSON object per line from its standard input. For each one it writes the texts, forks, runs pytest in the
child, and answers. The fields of a request:

- `texts`: path → text, as base64. In a copy, the path is relative to it;
- `arguments`: the arguments of pytest;
- `folder`: the folder in which pytest runs, absolute, or relative to the copy;
- `wall_s`: seconds until the child and all its processes are killed;
- `test_s`: seconds of the processor for each test;
- `traced`: the path whose executed lines are counted for each test, or an empty text;
- `lines`: real path → the lines of which each is recorded when it first runs (see `line_evidence.py`);
- `variants`: variants of a file that the tests run on in place of one run (see `variant_runs.py`), or null;
- `files`: names of files → their paths. They are results: `report`, `trace`, `lines`, `variants` and `output`.

An answer is a line with a JSON object, and the bytes of these files. Its fields are `code`, the exit status of the
child, or `timeout`, and `files`: name → number of bytes.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Generator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lsp_harness.process.sandbox import namespace_launcher
    from lsp_harness.process.sandbox.namespace_launcher import ViewRequest
    from lsp_harness.verify.project_tests import line_evidence, variant_runs
else:
    # they are copied beside this program
    import line_evidence
    import namespace_launcher
    import variant_runs

assert sys.platform == "linux"
OWN_FILES = tuple(str(module.__file__) for module in (line_evidence, namespace_launcher, variant_runs))
POLL_S = 0.002
MAX_LINE_COUNT = 1_000_000
MAX_FILE_BYTES = 16 << 20
MAX_OUTPUT_BYTES = 1 << 20
SHARED_MEMORY = "/dev/shm"
VIEW_PROBLEM = "view"
"""Name of the result with the reason why there is no view."""


class SlowTest(BaseException):
    """The end of a test that takes too long. Tests often catch `Exception`."""


class LineRecorder:
    """The plug-in of pytest that limits the time of each test and counts the lines that it runs.

    Args:
        path: The file whose lines are counted, with its links resolved, or an empty text.
        test_s: Seconds of the processor for each test.
    """

    def __init__(self, path: str, test_s: float) -> None:
        self._path, self._test_s = path, test_s
        self._lines: dict[int, int] = {}
        self._last_line = 0
        self._real_paths: dict[str, str] = {}
        self.tests: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Run one test with a limit of time, and count its lines."""
        self._lines, self._last_line = {}, 0

        def end(number: int, frame: FrameType | None) -> None:
            raise SlowTest(f"the test does not end within {self._test_s:.1f} s")

        # the time of the processor does not depend on what else this machine does
        signal.signal(signal.SIGPROF, end)
        signal.setitimer(signal.ITIMER_PROF, self._test_s)
        if self._path:
            sys.settrace(self._trace_call)
        yield
        if self._path:
            sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Note whether a test failed, and where. A test of unittest keeps its error until its report is made."""
        outcome = yield
        if call.when == "call":
            failed, error = outcome.get_result().failed, call.excinfo
            ends = self._find_ends(error.tb) if self._path and failed and error else []
            self.tests[item.name] = {"passed": not failed, "lines": self._lines, "ends": ends}

    def _find_ends(self, traceback: TracebackType | None) -> list[int]:
        """Return the lines of the file in a traceback, the innermost first, or the last line that ran before it."""
        lines: list[int] = []
        while traceback:
            if self._is_traced(traceback.tb_frame):
                lines.insert(0, traceback.tb_lineno)
            traceback = traceback.tb_next
        return lines or [self._last_line] * bool(self._last_line)

    def _is_traced(self, frame: FrameType) -> bool:
        name = frame.f_code.co_filename
        # a module may be named by a link, or by "..", as with `pythonpath = ../core`
        if name not in self._real_paths:
            self._real_paths[name] = os.path.realpath(name)
        return self._real_paths[name] == self._path

    def _trace_call(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._trace_line if self._is_traced(frame) else None

    def _trace_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._last_line = frame.f_lineno
            self._lines[frame.f_lineno] = min(self._lines.get(frame.f_lineno, 0) + 1, MAX_LINE_COUNT)
        return self._trace_line


def main() -> None:
    """Answer requests until the standard input ends."""
    view = json.loads(sys.argv[1])["view"]
    # what tests print must not be taken for an answer
    protocol, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    # as `python -m pytest` does, and before plug-ins keep a copy of the list
    sys.path[0] = os.getcwd()
    _run_empty_suite(has_view=bool(view))
    os.write(protocol, json.dumps({"ready": True, "imported": _list_imported(os.getcwd())}).encode() + b"\n")
    for line in sys.stdin:
        request = json.loads(line)
        answer, contents = _run_in_view(request, view, protocol) if view else _run_in_copy(request, protocol)
        answer["files"] = {name: len(data) for name, data in contents.items()}
        _write_all(protocol, json.dumps(answer).encode() + b"\n" + b"".join(contents.values()))


def _run_empty_suite(*, has_view: bool) -> None:
    """Run an empty test once, so that the plug-ins of pytest are imported. This takes longer than most tests."""
    # in a view, this process itself can write nowhere else
    tempfile.tempdir = SHARED_MEMORY if has_view else None
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "test_empty.py")
        _write(file, b"def test_empty():\n    pass\n")
        pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={folder}", f"--confcutdir={folder}", file])
    tempfile.tempdir = None
    # the output of this suite must not be in that of a run
    sys.stdout.flush()
    sys.stderr.flush()


def _list_imported(folder: str) -> list[str]:
    """Return the files of a project that plug-ins have imported: a proposal for them would not be imported again."""
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    inside = os.path.realpath(folder) + os.sep
    environments = [os.path.realpath(path) + os.sep for path in (sys.prefix, sys.base_prefix)]
    own = {os.path.realpath(file) for file in (__file__, *OWN_FILES)}
    real = sorted({os.path.realpath(file) for file in files if file} - own)
    return [file for file in real if file.startswith(inside) and not any(file.startswith(e) for e in environments)]


def _run_in_view(request: dict[str, Any], view: ViewRequest, protocol: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run a request in a new view, whose overlays are gone afterwards."""
    names = [*request["files"], VIEW_PROBLEM]
    results = {name: os.memfd_create(name) for name in names}
    child = os.fork()
    if child == 0:
        code = namespace_launcher.EXIT_UNAVAILABLE
        try:
            os.close(protocol)

            def prepare() -> None:
                for path, text in request["texts"].items():
                    namespace_launcher.write_text(path, base64.b64decode(text))

            def collect() -> None:
                for name, path in request["files"].items():
                    _write_all(results[name], _read_result(path))

            def start() -> int:
                for descriptor in results.values():
                    os.close(descriptor)
                return _run_pytest(request)

            code = namespace_launcher.run_in_view(view, start, prepare, collect)
        except OSError as error:
            os.write(results[VIEW_PROBLEM], namespace_launcher.describe(error).encode())
        finally:
            os._exit(code if code >= 0 else 128 - code)
    try:
        answer = _wait(child, request["wall_s"])
        contents = {name: _read_memory(descriptor) for name, descriptor in results.items()}
        return answer, contents
    finally:
        for descriptor in results.values():
            os.close(descriptor)


def _run_in_copy(request: dict[str, Any], protocol: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Run a request in the copy of the project, and write the old texts back."""
    old: dict[str, bytes | None] = {}
    try:
        for path, text in request["texts"].items():
            old[path] = _read(path)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            _write(path, base64.b64decode(text))
        for path in request["files"].values():
            # a run that is ended early writes nothing, and must not be taken for the one before it
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        child = os.fork()
        if child == 0:
            code = namespace_launcher.EXIT_UNAVAILABLE
            try:
                os.close(protocol)
                # not a new session, which would have the usual priority
                os.setpgid(0, 0)
                code = _run_pytest(request)
            finally:
                os._exit(code)
        answer = _wait(child, request["wall_s"])
        return answer, {name: _read_result(path) for name, path in request["files"].items()}
    finally:
        for path, data in old.items():
            if data is None:
                os.remove(path)
            else:
                _write(path, data)


def _run_pytest(request: dict[str, Any]) -> int:
    files = request["files"]
    # a test that reads its standard input must not get the next request
    sys.stdin = open(os.devnull)  # noqa: SIM115 - it stays open
    os.dup2(sys.stdin.fileno(), 0)
    output = os.open(files["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"] or ".")
    sys.path[0] = os.getcwd()
    if request["lines"]:
        settings = f"{files['lines']}.json"
        _write(settings, json.dumps({"files": request["lines"], "out": files["lines"]}).encode())
        # processes that the tests start record their lines, too
        os.environ[line_evidence.VARIABLE] = settings
        line_evidence.install()
    traced = os.path.realpath(request["traced"]) if request["traced"] else ""
    recorder = LineRecorder(traced, request["test_s"])
    plugins: list[object] = [recorder]
    if request["variants"]:
        plugins.append(variant_runs.VariantRuns(request["variants"], files["variants"]))
    code = int(pytest.main(request["arguments"], plugins=plugins))
    if traced:
        _write(files["trace"], json.dumps(recorder.tests).encode())
    sys.stdout.flush()
    return code


def _wait(child: int, wall_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + wall_s
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            _kill_group(child)
            return {"code": namespace_launcher.wait_status(status)}
        if time.monotonic() > deadline:
            _kill_group(child)
            with contextlib.suppress(ProcessLookupError):
                # the first process of a view ends with this one
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"timeout": True}
        time.sleep(POLL_S)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _read_result(path: str) -> bytes:
    """Return the content of a file of the run, in whose place tests may have put anything."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:
        return file.read(MAX_FILE_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


def _read_memory(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main()

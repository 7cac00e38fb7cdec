"""The warm process of pytest, in the sandbox of this machine."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.text.edit import Edit
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice
from lsp_harness.verify.project_tests.runner_registry import find_runner
from lsp_harness.verify.project_tests.suite_worker import SuiteWorker, Variants

pytestmark = pytest.mark.process

SOURCE = "def halve(n):\n    if n > 5:\n        return n / 2\n    return n\n"
TESTS = """import os
from pathlib import Path
from code_module import halve


def test_large():
    assert halve(8) == 4


def test_small():
    assert halve(3) == 1


def test_home():
    for name in ("marker", Path(__file__).parent / "written"):
        try:
            Path.home().parent.joinpath(name).write_text("x")
        except OSError:
            pass
"""
CHOICE = SuiteChoice(("test_code_module.py",), 0, ResourceLimits(wall_s=60.0))


@pytest.fixture(params=[PrivateView, Landlock], ids=lambda sandbox: sandbox.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found: Sandbox = request.param()
    if problem := found.find_problem():
        pytest.skip(f"{found.name} does not work here: {problem}")
    return found


@pytest.fixture
async def worker(tmp_path: Path, sandbox: Sandbox) -> AsyncGenerator[SuiteWorker]:
    (tmp_path / "code_module.py").write_text(SOURCE)
    (tmp_path / "test_code_module.py").write_text(TESTS)
    runner = find_runner(tmp_path, "code_module.py")
    assert runner
    found = await SuiteWorker.start(runner, tmp_path, sandbox, ResourceLimits(), 0.5)
    yield found
    await found.aclose()


async def test_each_run_sees_its_own_texts_and_leaves_the_files_of_the_user(
    worker: SuiteWorker, tmp_path: Path
) -> None:
    file = tmp_path / "code_module.py"
    first = await worker.run({}, CHOICE)
    assert first.digest.failing_tests == {"test_small"}
    right = await worker.run({file: SOURCE.replace("return n\n", "return n // 2\n").encode()}, CHOICE)
    assert (right.digest.passed, right.digest.failed, right.is_complete) == (3, 0, True)
    again = await worker.run({}, CHOICE)
    assert again.digest.failing_tests == {"test_small"}
    assert file.read_text() == SOURCE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code_module.py", "test_code_module.py"]


async def test_the_lines_of_each_test_are_recorded(worker: SuiteWorker, tmp_path: Path) -> None:
    _, tests = await worker.trace({}, CHOICE, tmp_path / "code_module.py")
    assert (tests["test_large"].is_passed, dict(tests["test_large"].lines)) == (True, {2: 1, 3: 1})
    assert (tests["test_small"].is_passed, dict(tests["test_small"].lines)) == (False, {2: 1, 4: 1})


async def test_a_failing_test_says_where_it_ended(worker: SuiteWorker, tmp_path: Path) -> None:
    _, tests = await worker.trace({}, CHOICE, tmp_path / "code_module.py")
    # its own assertion fails, after the last line of the module
    assert (tests["test_small"].ends, tests["test_large"].ends) == ((4,), ())
    broken = SOURCE.replace("return n\n", "return none\n").encode()
    _, tests = await worker.trace({tmp_path / "code_module.py": broken}, CHOICE, tmp_path / "code_module.py")
    assert tests["test_small"].ends == (4,)


async def test_a_failing_test_of_unittest_is_no_passing_one(worker: SuiteWorker, tmp_path: Path) -> None:
    case = b"import unittest, code_module\nclass Case(unittest.TestCase):\n    def test_case(self):\n"
    test = tmp_path / "test_code_module.py"
    _, tests = await worker.trace({test: case + b"        self.assertEqual(code_module.halve(1), 9)\n"}, CHOICE, test)
    assert not tests["test_case"].is_passed


def edit_source(old: str, new: str) -> tuple[Edit, ...]:
    start = SOURCE.index(old)
    return (Edit(start, start + len(old), new.encode()),)


async def test_variants_of_a_file_run_in_one_process(worker: SuiteWorker, tmp_path: Path) -> None:
    file, text = tmp_path / "code_module.py", SOURCE.encode()
    edits = [
        edit_source("return n\n", "return n // 2\n"),
        edit_source("return n\n", "return -n\n"),
        edit_source("return n\n", "while True:\n        pass\n"),
        edit_source("return n\n", "return (\n"),
        edit_source("def halve(n)", "def halve(n=1)"),
    ]
    choice = replace(CHOICE, files=("test_code_module.py::test_small",))
    results = await worker.run_variants({}, choice, Variants(file, edits, 30.0, 2.0))
    # the import has already made the default, so only a run of its own can show another one
    assert results == ["passed", "failed", "failed", "failed", "open"]
    assert file.read_bytes() == text
    passing = replace(CHOICE, files=("test_code_module.py::test_large",))
    assert await worker.run_variants({}, passing, Variants(file, edits[:1], 30.0, 2.0)) == ["open"]
    assert await worker.run_variants({}, choice, Variants(file, edits[:2], 0.0, 2.0)) == ["late", "late"]


async def test_a_test_without_an_end_fails_and_other_tests_run(worker: SuiteWorker, tmp_path: Path) -> None:
    text = SOURCE.replace("        return n / 2", "        while True:\n            pass")
    run = await worker.run({tmp_path / "code_module.py": text.encode()}, CHOICE)
    messages = {problem.title: problem.message for problem in run.digest.problems}
    assert "does not end within 0.5 s" in messages["test_large"]
    assert run.digest.passed == 1


async def test_a_text_that_ends_the_process_does_not_end_the_worker(worker: SuiteWorker, tmp_path: Path) -> None:
    file = tmp_path / "code_module.py"
    run = await worker.run({file: b"import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"}, CHOICE)
    assert not run.is_complete
    assert (await worker.run({}, CHOICE)).digest.failing_tests == {"test_small"}


async def test_a_closed_worker_raises_an_error(worker: SuiteWorker) -> None:
    await worker.aclose()
    with pytest.raises(OSError, match="has ended"):
        await worker.run({}, CHOICE)


async def test_a_cancelled_run_leaves_no_answer_for_the_next_one(worker: SuiteWorker, tmp_path: Path) -> None:
    text = SOURCE.replace("        return n / 2", "        import time\n        time.sleep(30)").encode()
    run = asyncio.ensure_future(worker.run({tmp_path / "code_module.py": text}, CHOICE))
    await asyncio.sleep(0.5)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert worker.is_broken
    with pytest.raises(OSError, match="has ended"):
        await worker.run({}, CHOICE)


async def test_a_text_cannot_end_the_parent_process(worker: SuiteWorker, tmp_path: Path, sandbox: Sandbox) -> None:
    text = b"import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + SOURCE.encode()
    if sandbox.has_overlays:
        # the process above is the first one of a view, which no signal of its view ends
        assert (await worker.run({tmp_path / "code_module.py": text}, CHOICE)).is_complete
        return
    with pytest.raises(OSError, match="gave no answer"):
        await worker.run({tmp_path / "code_module.py": text}, CHOICE)
    assert worker.is_broken


async def test_too_many_processes_end_the_worker(worker: SuiteWorker, tmp_path: Path) -> None:
    choice = SuiteChoice(CHOICE.files, 0, ResourceLimits(wall_s=30.0, processes=20))
    text = b"import subprocess, time\nhalve = [subprocess.Popen(['sleep', '30']) for _ in range(40)]\ntime.sleep(30)\n"
    with pytest.raises(OSError, match="gave no answer"):
        await worker.run({tmp_path / "code_module.py": text}, choice)


async def test_a_worker_that_does_not_start_leaves_no_folder(
    tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, temporary = tmp_path / "project", tmp_path / "temporary"
    root.mkdir()
    temporary.mkdir()
    (root / "test_one.py").write_text(TESTS)
    runner = find_runner(root, "test_one.py")
    assert runner
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    broken = replace(runner, python=Path("/bin/false"))
    for _ in range(2):
        with pytest.raises(OSError, match="does not start"):
            await SuiteWorker.start(broken, root, sandbox, ResourceLimits(), 0.5)
    assert [*temporary.iterdir()] == []


async def test_each_run_has_its_own_files(worker: SuiteWorker, tmp_path: Path, sandbox: Sandbox) -> None:
    if not sandbox.has_overlays:
        pytest.skip("without overlays, all runs share a copy")
    text = b"from pathlib import Path\nwith Path('left').open('x'): pass\n" + SOURCE.encode()
    for _ in range(2):
        run = await worker.run({tmp_path / "code_module.py": text}, CHOICE)
        assert (run.digest.passed, run.digest.failing_tests) == (2, {"test_small"})
    assert not (tmp_path / "left").exists()


async def test_the_lines_that_ran_are_known(worker: SuiteWorker, tmp_path: Path) -> None:
    file = tmp_path / "code_module.py"
    text = SOURCE.replace("    return n\n", "    if n < 0:\n        return 0\n    return n // 2\n")
    lines = {file: frozenset({4, 5, 6})}
    run = await worker.run({file: text.encode()}, replace(CHOICE, lines=lines))
    assert run.lines == {file: {4, 6}}


async def test_a_proposal_for_an_imported_plug_in_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "plugin_module.py").write_text("VALUE = 1\n")
    (tmp_path / "test_one.py").write_text(
        "from plugin_module import VALUE\n\n\ndef test_one():\n    assert VALUE == 1\n"
    )
    runner = find_runner(tmp_path, "test_one.py")
    assert runner
    runner = replace(runner, env={"PYTEST_PLUGINS": "plugin_module"})
    worker = await SuiteWorker.start(runner, tmp_path, sandbox, ResourceLimits(), 0.5)
    choice = replace(CHOICE, files=("test_one.py",))
    try:
        with pytest.raises(OSError, match="imported the proposed file"):
            await worker.run({tmp_path / "plugin_module.py": b"VALUE = 2\n"}, choice)
        assert not worker.follow(tmp_path / "plugin_module.py")
    finally:
        await worker.aclose()


def test_the_checks_can_be_imported_without_pytest() -> None:
    program = "import sys; sys.modules['pytest'] = None; import lsp_harness.verify.checks"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr == ""

"""Usual programs in a sandbox: what tests of projects do with files of their own works as it does outside."""

import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.confined_run import confined_environment, run_confined
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SANDBOXES
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

PYTHON_WORK = """
import os, shutil, tarfile, tempfile
from pathlib import Path

work = Path(tempfile.mkdtemp(), "work")
work.mkdir()
(work / "a").write_text("x")
os.chmod(work / "a", 0o754)
os.utime(work / "a", ns=(1_500, 2_500_000_000))
shutil.copy(work / "a", work / "b")
shutil.copy2(work / "a", work / "c")
assert [oct((work / name).stat().st_mode) for name in "bc"] == ["0o100754"] * 2
assert (work / "c").stat().st_mtime_ns == 2_500_000_000
shutil.copytree(work, work.parent / "tree")
tarfile.open(shutil.make_archive(str(work.parent / "archive"), "gztar", work)).extractall(work.parent / "out")
closed = work / "closed"
closed.mkdir()
descriptor = os.open(closed, os.O_RDONLY)
os.fchmod(descriptor, 0o500)
os.chmod("closed", 0o700, dir_fd=os.open(work, os.O_RDONLY))
os.chmod(f"/proc/self/fd/{descriptor}", 0o711)
os.symlink("a", work / "link")
os.utime(work / "link", (1, 1), follow_symlinks=False)
os.chown(work / "a", os.getuid(), os.getgid())
os.lchown(work / "link", -1, -1)
os.chdir(closed)
os.chmod("../a", 0o600)
try:
    os.chmod("missing", 0o600)
except FileNotFoundError:
    print(oct(closed.stat().st_mode), oct((work / "a").stat().st_mode), (work / "link").lstat().st_mtime)
"""
SHELL_WORK = """
set -e
cd "$TMPDIR"
echo x > a
chmod 755 a
cp -a a b
cp -p a c
install -m 640 a d
touch -d 2001-01-01 b
touch -h b
mkdir t
tar cf - a b c d | tar xpf - -C t
stat -c %a t/a t/b t/c t/d | tr '\\n' ' '
"""


@pytest.fixture(params=SANDBOXES, ids=lambda sandbox: sandbox.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found: Sandbox = request.param()
    if problem := found.find_problem():
        pytest.skip(f"{found.name} does not work here: {problem}")
    return found


@pytest.mark.parametrize(
    ("argv", "printed"),
    [
        ([sys.executable, "-c", PYTHON_WORK], "0o40711 0o100600 1.0"),
        (["/bin/sh", "-c", SHELL_WORK], "755 755 755 640"),
    ],
    ids=["python", "shell"],
)
async def test_files_of_their_own_are_changed(argv: list[str], printed: str, sandbox: Sandbox, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    policy = SandboxPolicy(scratch, (scratch,), visible=(Path(sys.prefix), Path(sys.base_prefix)))
    result = await run_confined(argv, sandbox, policy, confined_environment(str(scratch), str(scratch)))
    assert (result.exit_code, result.output.decode().strip()) == (0, printed)


async def test_a_python_in_a_hidden_home_starts_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    # the interpreter of lsp-harness itself is not among the visible folders
    policy = SandboxPolicy(tmp_path, hidden=(Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()))
    result = await run_confined(["/bin/echo", "started"], sandbox, policy)
    assert result.output == b"started\n"


def test_a_signal_of_the_program_ends_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    command = sandbox.wrap(["/bin/sh", "-c", "kill -TERM $$"], SandboxPolicy(tmp_path))
    assert subprocess.run(command, check=False).returncode in (-15, 143)

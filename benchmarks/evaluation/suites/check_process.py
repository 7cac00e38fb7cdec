"""Runs a hidden check as a program in the sandbox of this machine, in a folder of its own."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.process.sandbox.confined_run import confined_environment, run_confined
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import GIBIBYTE, ResourceLimits, SandboxPolicy
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tests.hidden_files import list_private_paths

PYTHON_MARK = "{python}"
"""The word of a command that stands for the interpreter of this program."""
MEMORY_BYTES = 3 * GIBIBYTE
FILE_BYTES = 32 << 20
MAX_REASON = 300
TIME_FACTOR = 2.0
"""The limits of the sets are for a quiet machine, and the model may run meanwhile."""
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a hidden check.

    Attributes:
        passed: Whether the answer is right.
        reason: Why it is not, in one line.
        missing: The tool that the check needs and that this machine lacks. Then nothing was checked.
    """

    passed: bool
    reason: str = ""
    missing: str = ""


async def judge_by_program(
    files: Mapping[str, str], command: Sequence[str], limit_s: float, env: Mapping[str, str] | None = None
) -> Judgement:
    """Write files into a new folder and run a command there. It passed if its exit status is 0.

    Args:
        files: Path → text.
        command: The command. `{python}` stands for the interpreter of this program.
        limit_s: The time after which the answer has failed, on a quiet machine.
        env: More variables of the environment.
    """
    choice = machine_sandbox()
    if not choice.is_confined:
        return Judgement(False, missing=f"a sandbox ({', '.join(choice.problems)})")
    argv = [sys.executable if word == PYTHON_MARK else word for word in command]
    program = argv[0] if Path(argv[0]).is_absolute() else find_tool(argv[0])
    if program is None:
        return Judgement(False, missing=argv[0])
    # the sandbox hides links: /tmp may be one
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="lsp-harness-check-")).resolve()
    try:
        await asyncio.to_thread(write_files, folder, files)
        limits = ResourceLimits(limit_s * TIME_FACTOR, MEMORY_BYTES, FILE_BYTES)
        home = Path.home()
        hidden = (home,) if home != Path("/") and home.is_dir() else ()
        policy = SandboxPolicy(
            folder, (folder,), hidden=hidden, visible=(*find_interpreter_folders(), folder), limits=limits
        )
        policy = replace(policy, absent=await asyncio.to_thread(list_private_paths, folder))
        variables = confined_environment(str(folder), str(folder), {**ENVIRONMENT, **(env or {})})
        result = await run_confined([program, *argv[1:]], choice.sandbox, policy, variables)
    except OSError as error:
        return Judgement(False, missing=f"{argv[0]} ({error})")
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    if result.end != "exited":
        return Judgement(False, f"the check was ended: {result.end.replace('_', ' ')}")
    lines = result.output.decode("utf-8", "replace").strip().splitlines()
    return Judgement(result.exit_code == 0, "" if result.exit_code == 0 else _find_last_reason(lines))


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts below a folder. Raises ValueError for a path that leads out of it."""
    for path, text in files.items():
        file = folder / path
        if not file.resolve().is_relative_to(folder):
            raise ValueError(f"{path} is outside of the folder of the task")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")


def find_interpreter_folders() -> tuple[Path, ...]:
    """Return the folders that the interpreter of this program needs, even in a hidden home."""
    python = Path(sys.executable)
    folders = {Path(sys.prefix), Path(sys.base_prefix), python.parent.parent, python.resolve().parent.parent}
    return tuple(sorted(folders))


def _find_last_reason(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith("E  ") or "Error" in line]
    return (errors or list(lines) or ["it printed nothing"])[-1].strip()[:MAX_REASON]

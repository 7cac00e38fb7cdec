"""The runs of tools on the files of a project: what is kept, and why there may be no answer."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.sandbox import NoSandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tools.new_findings import NewFinding, NothingComparedError, join_comparisons
from lsp_harness.verify.project_tools.project_tool import ProjectTool, ToolJob
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from tests.verify.project_tools.workbench import Workbench

pytestmark = pytest.mark.process

PROGRAM = """
import pathlib, sys
print(len(sys.argv), file=open(sys.argv[1] + "/runs", "a"))
for file in sorted(pathlib.Path().glob("*.txt")):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if "bad" in line or line == ")]}":
            print(f"{file}({number},1): error TS1: {line}")
        elif "poor" in line:
            print(f"{file}({number},1): warning TS2: {line}")
        elif line == "sleep":
            import time; time.sleep(60)
        elif line == "write":
            pathlib.Path("b.txt").write_text("gone"); pathlib.Path("../../outside").write_text("gone")
        elif line.startswith("link "):
            text = pathlib.Path(sys.argv[1]).parent / "text-0"
            text.unlink(); text.symlink_to(line[5:])
        elif line == "crash":
            sys.exit("it broke")
sys.exit(0)
"""


class WordTool(ProjectTool):
    """A tool that finds words in all files of a project."""

    name = "words check"
    check = "lint"
    reader = "tsc"
    suffixes = (".txt",)
    install_hint = "install it"

    def __init__(self) -> None:
        self.program: str | None = sys.executable

    def find_configuration(self, root: Path, file: Path) -> str:
        return "words.toml"

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return self.program

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        return [[job.program, "-c", PROGRAM, str(job.cache)]]

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        return {"PYTHONNOUSERSITE": "1"}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (Path(sys.prefix), Path(sys.base_prefix), Path(program).resolve().parent.parent)


@pytest.fixture
def needs_sandbox() -> None:
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")


@pytest.fixture
def word_workbench(workbench: Workbench, needs_sandbox: None) -> Workbench:
    workbench.write({"a.txt": "bad one\n", "b.txt": "bad two\n"})
    return workbench


async def compare(bench: Workbench, text: str, tool: ProjectTool | None = None) -> list[str]:
    changes = bench.propose({"a.txt": text})
    return [new.finding.message for new in await bench.tools.compare(tool or WordTool(), changes, "error")]


async def test_only_new_errors_in_the_project_count(word_workbench: Workbench) -> None:
    assert await compare(word_workbench, "fine\nbad one\npoor\n") == []
    assert await compare(word_workbench, "bad one\nbad three\n") == ["bad three"]
    assert [*(word_workbench.root / "a.txt").read_text().splitlines()] == ["bad one"]


async def test_the_earlier_answer_is_reused_until_a_file_changes(word_workbench: Workbench) -> None:
    await compare(word_workbench, "x\n")
    await compare(word_workbench, "y\n")
    scratch = next(iter(word_workbench.tools._scratch.values())).path
    assert (scratch / "cache" / "runs").read_text().count("\n") == 3
    word_workbench.tools.record_file_change()
    await compare(word_workbench, "z\n")
    assert (scratch / "cache" / "runs").read_text().count("\n") == 5
    await word_workbench.tools.aclose()
    assert not scratch.exists()


async def test_a_file_that_the_tool_does_not_read_is_not_taken_for_a_good_one(word_workbench: Workbench) -> None:
    word_workbench.write({"apart/c.txt": "fine\n", "d.txt": "fine\n"})
    with pytest.raises(NothingComparedError, match=r"does not look at apart/c.txt, which is no part of the build"):
        await word_workbench.tools.compare(WordTool(), word_workbench.propose({"apart/c.txt": "bad\n"}), "error")
    mixed = {"d.txt": "bad three\n", "apart/c.txt": "good\n"}
    # what is found counts in any case
    [new] = await word_workbench.tools.compare(WordTool(), word_workbench.propose(mixed), "error")
    assert new.finding.message == "bad three"
    assert await word_workbench.tools.compare(WordTool(), word_workbench.propose({"d.txt": "good\n"}), "error") == []


async def test_a_tool_that_writes_changes_no_file_of_the_user(word_workbench: Workbench) -> None:
    # it may write into a copy, and then there is an answer
    with suppress(NothingComparedError):
        await compare(word_workbench, "write\n")
    assert (word_workbench.root / "b.txt").read_text() == "bad two\n"
    assert not (word_workbench.root.parent / "outside").exists()


async def test_a_link_that_a_tool_leaves_for_the_next_text_is_not_followed(word_workbench: Workbench) -> None:
    await compare(word_workbench, f"link {word_workbench.root / 'b.txt'}\n")
    assert await compare(word_workbench, "bad one\nbad three\n") == ["bad three"]
    assert (word_workbench.root / "b.txt").read_text() == "bad two\n"


async def test_the_error_says_why_a_tool_gave_no_answer(word_workbench: Workbench) -> None:
    tool = WordTool()
    with pytest.raises(NothingComparedError, match="words check failed: it broke"):
        await compare(word_workbench, "crash\n")
    word_workbench.objection = "python may not run: a rule denies it"
    with pytest.raises(NothingComparedError, match="a rule denies it"):
        await compare(word_workbench, "x\n")
    assert word_workbench.asked[-1] == (sys.executable, "check")
    assert word_workbench.confinements[-1] == machine_sandbox().confine(word_workbench.root, sys.executable)
    word_workbench.objection, word_workbench.sandbox = "", SandboxChoice(NoSandbox(), {"landlock": "it is too old"})
    with pytest.raises(
        NothingComparedError, match=r"only in a sandbox, and none works here \(landlock: it is too old\)"
    ):
        await compare(word_workbench, "x\n")
    tool.program = None
    with pytest.raises(NothingComparedError, match=r"words.toml asks for words check, which is not installed"):
        await compare(word_workbench, "x\n", tool)


async def test_no_comparison_is_started_after_a_failure() -> None:
    begun: list[str] = []

    async def fail(name: str) -> list[NewFinding]:
        begun.append(name)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        await join_comparisons([partial(fail, "first"), partial(fail, "second")])
    assert begun == ["first"]


async def test_a_tool_without_an_end_is_killed(workbench: Workbench, needs_sandbox: None) -> None:
    async def allow(argv: Sequence[str], confinement: object) -> str:
        return ""

    workbench.write({"a.txt": "x\n"})
    tools = ToolComparison(ToolAccess(allow, machine_sandbox), ResourceLimits(wall_s=2.0))
    with pytest.raises(NothingComparedError, match="words check does not end in time"):
        await tools.compare(WordTool(), workbench.propose({"a.txt": "sleep\n"}), "error")
    await tools.aclose()

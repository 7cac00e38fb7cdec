"""Type checkers that only read run in a sandbox."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from lsp_harness.process.sandbox.sandbox import NoSandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.checkers import TyChecker, TypeScriptChecker
from lsp_harness.verify.types.conversation import CheckerConversation
from lsp_harness.verify.types.message_child import Json
from lsp_harness.verify.types.type_checker import Program, TypeChecker

pytestmark = pytest.mark.process

WRITE = "open('written', 'w')"


class WritingChecker(TyChecker):
    """A checker whose program writes into the folder."""

    def __init__(self) -> None:
        self.codes: list[int] = []

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        return Program([sys.executable, "-c", WRITE], self._run)

    async def _run(self, argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> CheckerConversation:
        result = await asyncio.to_thread(subprocess.run, argv, cwd=root, check=False, capture_output=True)
        self.codes.append(result.returncode)
        raise OSError("it is no server")


class NeedyChecker(WritingChecker):
    """A checker that needs more permissions than to read."""

    only_reads: ClassVar[bool] = False


@pytest.mark.parametrize(
    ("checker", "choice", "can_write"),
    [
        (WritingChecker(), None, False),
        (WritingChecker(), SandboxChoice(NoSandbox()), True),
        (NeedyChecker(), None, True),
    ],
    ids=["sandbox", "no sandbox", "needy"],
)
async def test_a_checker_that_only_reads_cannot_write(
    checker: WritingChecker, choice: SandboxChoice | None, can_write: bool, tmp_path: Path
) -> None:
    found = choice or machine_sandbox()
    if not choice and not found.confine(tmp_path):
        pytest.skip("no sandbox without network works here")
    session = CheckerSession(checker, tmp_path, str, tuple, choose_sandbox=lambda: found)
    assert not await session.wait_until_ready(Document.from_text((tmp_path / "a.py").as_uri(), b""))
    assert (session.find_confinement() is None) == can_write
    assert ((tmp_path / "written").exists(), checker.codes == [0]) == (can_write, can_write)
    await session.aclose()


@pytest.mark.parametrize("checker", [TyChecker(), TypeScriptChecker()], ids=lambda checker: checker.name)
def test_edits_of_a_trusted_folder_are_checked_without_a_question(checker: TypeChecker, tmp_path: Path) -> None:
    confinement = machine_sandbox().confine(tmp_path)
    session = CheckerSession(checker, tmp_path, str, tuple)
    assert (session.find_confinement() is None) == (confinement is None)


class CuriousChecker(WritingChecker):
    """A checker whose program tries to read a private file."""

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        code = f"import sys; sys.exit(7 if open({str(Path.home() / '.netrc')!r}).read() else 1)"
        return Program([sys.executable, "-c", code], self._run)


async def test_a_checker_reads_no_private_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine_sandbox()
    if not found.confine(tmp_path):
        pytest.skip("no sandbox without network works here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "home/project"
    root.mkdir(parents=True)
    (tmp_path / "home/.netrc").write_text("private")
    checker = CuriousChecker()
    session = CheckerSession(checker, root, str, tuple, choose_sandbox=lambda: found)
    await session.wait_until_ready(Document.from_text((root / "a.py").as_uri(), b""))
    await session.aclose()
    assert checker.codes
    assert 7 not in checker.codes

"""The real `ty`, and where it is found."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.types import checkers
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checkers import TY_VARIABLE, TyChecker
from lsp_harness.verify.types.type_gate import TypeGate
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.folder_stamps import ChangedFile
from lsp_harness.workspace.workspace import Workspace
from tests.harness.tools import make_settings
from tests.support.real_checkers import REAL_TY
from tests.verify.types.desk import wait_for

HEAD = "import os\nfrom other import Shape\n\n\ndef area(width, height):\n    return width * height\n\n\n"
CASES = [
    ("print(os.<|>\n", "getcwd())", "passed"),
    ("print(os.<|>\n", "getcwdd())", "failed"),
    ("Shape().<|>\n", "name.upper()", "passed"),
    ("Shape().<|>\n", "nam", "failed"),
    ("<|>\n", "area(1, 2)", "passed"),
    ("<|>\n", "area(1, heigth=2)", "failed"),
    ("<|>\n", "area(1)", "failed"),
    ("<|>\n", "area(1", "passed"),
    ("<|>\n", "area(1, 2, 3)", "failed"),
    ("<|>\n", "from os import pathh", "failed"),
    ("<|>\n", "import nothing_of_this_name", "failed"),
    ("<|>\n", "print(undefined_name)", "failed"),
    ("def f(p):\n    return p.<|>\n", "anything", "passed"),
    ("def f(p: str | None):\n    return p.<|>\n", "upper()", "passed"),
]


@pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")
async def test_ty_finds_names_that_do_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    (tmp_path / "other.py").write_text("class Shape:\n    name: str = ''\n")
    config = make_settings(completion={"type_gate_ms": 20_000})
    pool = CheckerPool()
    gate = TypeGate(Workspace([tmp_path]), lambda: config, pool)
    uri = (tmp_path / "a.py").as_uri()
    gate.prepare(Document.from_text(uri, HEAD, language="python"))
    await wait_for(lambda: pool.state()[0]["state"] == "ready")
    statuses: list[str] = []
    for marked, text, _ in CASES:
        before, _, after = (HEAD + marked).partition("<|>")
        document = Document.from_text(uri, before + after, language="python")
        [outcome] = await gate.check(Cursor(document, None, len(before), "a.py"), [text])
        statuses.append(outcome.status)
    # a file that is written by another program
    (tmp_path / "other.py").write_text("class Shape:\n    title: str = ''\n")
    pool.record_file_changes([ChangedFile(tmp_path / "other.py", "changed")])
    document = Document.from_text(uri, HEAD, language="python")
    [outcome] = await gate.check(Cursor(document, None, len(HEAD), "a.py"), ["Shape().name"])
    await gate.aclose()
    await pool.aclose()
    assert statuses == [status for _, _, status in CASES]
    assert outcome.status == "failed"


@pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")
async def test_ty_follows_modules_and_packages_that_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    packages = tmp_path / ".venv/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.11.0\nhome = /usr/bin\n")
    pool = CheckerPool()
    session = pool.find("ty", tmp_path)
    assert session
    text = "from made import VALUE\nfrom installed import NAME\n\nprint(VALUE, NAME)\n"
    document = Document.from_text((tmp_path / "a.py").as_uri(), text, language="python")

    async def count() -> int:
        assert await session.wait_until_ready(document)
        return len(await session.find_findings(document))

    counts = [await count()]
    (tmp_path / "made.py").write_text("VALUE = 1\n")
    pool.record_file_changes([ChangedFile(tmp_path / "made.py", "created")])
    counts.append(await count())
    (packages / "installed.py").write_text("NAME = 1\n")
    pool.record_file_changes([ChangedFile(packages / "installed.py", "created", "packages")])
    counts.append(await count())
    (tmp_path / "made.py").unlink()
    pool.record_file_changes([ChangedFile(tmp_path / "made.py", "deleted")])
    counts.append(await count())
    await pool.aclose()
    assert counts == [2, 1, 0, 1]


def test_the_program_of_the_workspace_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(TY_VARIABLE, raising=False)
    monkeypatch.setattr(checkers, "find_tool", lambda name: f"/usr/bin/{name}")

    def command() -> list[str] | None:
        found = TyChecker().find_program(tmp_path, tmp_path / "a.py")
        return [*found.argv] if found else None

    assert command() == ["/usr/bin/ty", "server"]
    program = tmp_path / ".venv" / "bin" / "ty"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    assert command() == [str(program), "server"]
    assert [*TyChecker().find_static_program().argv] == ["/usr/bin/ty", "server"]  # type: ignore[union-attr]
    monkeypatch.setenv(TY_VARIABLE, str(tmp_path / "none"))
    assert command() is None


def test_ty_gets_the_environment_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    checker, file = TyChecker(), tmp_path / "backend" / "src" / "a.py"

    def environment(setting: str = "") -> str | None:
        folder, found = checker.find_folder(tmp_path, file), checker.find_environment(tmp_path, file, setting)
        settings = checker.settings(folder, found)
        return settings.get("configuration", {}).get("environment", {}).get("python")

    assert environment() is None
    for folder in (tmp_path / "env", tmp_path / "backend" / ".venv"):
        folder.mkdir(parents=True)
        (folder / "pyvenv.cfg").touch()
    assert environment() == str(tmp_path / "backend" / ".venv")
    assert environment("other") == str(tmp_path / "other")
    (tmp_path / "backend" / "pyproject.toml").write_text("[tool.ty.environment]\npython = 'own'\n")
    assert environment() is None


def test_the_project_of_a_file_is_the_nearest_one_that_configures_the_checker(tmp_path: Path):
    checker, file = TyChecker(), tmp_path / "packages" / "a" / "src" / "a.py"
    assert checker.find_folder(tmp_path, file) == tmp_path
    for folder in (tmp_path, tmp_path / "packages" / "a"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text("[project]\n")
    assert checker.find_folder(tmp_path, file) == tmp_path / "packages" / "a"
    (tmp_path / "ty.toml").touch()
    assert checker.find_folder(tmp_path, file) == tmp_path
    (tmp_path / "packages" / "a" / "ty.toml").touch()
    assert checker.find_folder(tmp_path, file) == tmp_path / "packages" / "a"


async def test_without_trust_no_checker_that_could_run_code_of_the_folder_is_started(tmp_path: Path):
    program = tmp_path / "node_modules" / ".bin" / "pyright-langserver"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    pool = CheckerPool(may_run_code=lambda root: False)
    session = pool.find("pyright", tmp_path)
    assert session
    assert not await session.wait_until_ready(Document.from_text((tmp_path / "a.py").as_uri(), b""))
    assert session.state == "missing"
    assert "pyright could run code of this folder" in session.reason
    assert "permissions.trusted_folders" in session.reason
    await pool.aclose()

"""No setting of a project changes how ruff's answer is read, by the command and by the server."""

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.process.tool_run import find_tool
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tools.warm_ruff import WarmRuff
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed, RuffReport
from lsp_harness.verify.types.checker_pool import CheckerPool

pytestmark = pytest.mark.process

TEXT = "import os\n\n\ndef f():\n    x = 1\n    return pi\n"
CODES = ["F401", "F821", "F841"]
"""The findings of ruff in the text by rules about errors."""
OTHERS = (
    *(f'output-format = "{name}"' for name in ("concise", "github", "junit", "sarif", "json-lines")),
    "fix = true\nunsafe-fixes = true\nshow-fixes = true",
    "fix-only = true\nshow-fixes = true",
    "preview = true\noutput-prefer-rule-codes = true",
    "respect-gitignore = false",
    'include = ["other/*.py"]',
    'extension = { py = "ipynb" }',
    'required-version = ">=99"',
    'exclude = ["a.py"]\nforce-exclude = true',
    'extend = "gone.toml"',
    "line-length = 1",
    "unsafe-fixes = false",
)
"""Values that the description of ruff does not give, and settings that belong together."""


REASONS = ("settings exclude", "Required version", "No such file", "as a notebook")
"""Parts of the reasons why ruff looks at nothing: it does not do what such a setting asks for."""
HEAD = '[tool.ruff.lint]\nselect = ["F"]\n[tool.ruff]\n'


def list_settings() -> list[str]:
    """Return a line for each top-level setting: the other value of a switch, or else ruff's own example."""
    answer = subprocess.run(
        [find_tool("ruff") or "ruff", "config", "--output-format", "json"], capture_output=True, check=True
    )
    table: dict[str, Any] = json.loads(answer.stdout)
    lines: list[str] = []
    for name, option in table.items():
        if name.startswith("lint."):
            continue
        *tables, key = name.split(".")
        head = "".join(f"[tool.ruff.{table}]\n" for table in tables)
        if option["value_type"] == "bool":
            lines.append(f"{head}{key} = {'false' if option['default'] == 'true' else 'true'}")
        elif option["scope"]:
            scope = ".".join(("tool.ruff", *tables, option["scope"]))
            lines.append(f"[{scope}]\n{option['example']}")
        else:
            lines.append(f"{head}{option['example']}")
    return lines


async def ask(ruff: Ruff, document: Document, file: Path) -> list[str] | str:
    """Return the codes of the rules that a text breaks, or why ruff did not look at it."""
    try:
        findings = await ruff.find_findings(document, file, file.parent)
    except RuffFailed as error:
        return error.message
    return sorted(finding.code for finding in findings)


@pytest.fixture
async def pool() -> AsyncIterator[CheckerPool]:
    pool = CheckerPool()
    yield pool
    await pool.aclose()


@pytest.mark.parametrize("settings", [*list_settings(), *OTHERS])
async def test_the_ruff_command_reports_and_never_fixes(tmp_path: Path, settings: str) -> None:
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    (tmp_path / "pyproject.toml").write_text(f"{HEAD}{settings}\n")
    document = Document.from_text(file.as_uri(), TEXT, language="python")
    reports, reason = (), ""
    try:
        reports = await Ruff().check(document, file, tmp_path)
    except RuffFailed as error:
        reason = error.message
    if reason:
        assert any(word in reason for word in REASONS), reason
        assert "\n" not in reason
    else:
        assert sorted(map(_read_code, reports)) == CODES
        assert {_read_code(report) for report in reports if report.fix} == {"F401", "F841"}
    assert file.read_text() == TEXT


def _read_code(report: RuffReport) -> str:
    return report.finding.code


async def test_the_server_and_the_command_report_the_same_findings(pool: CheckerPool, tmp_path: Path) -> None:
    session = pool.find("ruff", tmp_path)
    assert session
    start = Document.from_text((tmp_path / "start.py").as_uri(), "", language="python")
    assert await session.wait_until_ready(start)
    warm, command = WarmRuff(pool), Ruff()
    for number, settings in enumerate([*list_settings(), *OTHERS]):
        folder = tmp_path / str(number)
        folder.mkdir()
        # a folder of its own, so that nothing that was read before counts
        (folder / "pyproject.toml").write_text(f"{HEAD}{settings}\n")
        file = folder / "a.py"
        document = Document.from_text(file.as_uri(), TEXT, language="python")
        assert await ask(warm, document, file) == await ask(command, document, file), settings


async def test_an_environment_that_sends_the_answer_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUFF_OUTPUT_FILE", str(tmp_path / "out"))
    monkeypatch.setenv("RUFF_OUTPUT_FORMAT", "github")
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = tmp_path / "a.py"
    document = Document.from_text(file.as_uri(), TEXT, language="python")
    assert sorted(map(_read_code, await Ruff().check(document, file, tmp_path))) == CODES
    (tmp_path / "ruff.toml").write_text("wrong = 1\n")
    with pytest.raises(RuffFailed) as raised:
        await Ruff().check(document, file, tmp_path)
    assert "\x1b" not in raised.value.message


# -- texts whose file has a suffix that changes how ruff reads
CELLS = {
    "cells": [
        {"cell_type": "code", "source": ["import math\n", "values = [1]\n"]},
        {"cell_type": "markdown", "source": "# Sum"},
        {"cell_type": "code", "source": "print(sum(values))\n"},
        {"cell_type": "code", "source": "print(math.pi)\n"},
    ]
}


async def check_cell(folder: Path, text: str, name: str = "nb.ipynb") -> list[str]:
    file = folder / name
    uri = f"vscode-notebook-cell:{file}#W0sZmlsZQ%3D%3D"
    findings = await Ruff().find_findings(Document.from_text(uri, text, language="python"), file, folder)
    return [f"{finding.code} {text[finding.start : finding.end]}" for finding in findings]


async def test_a_cell_of_a_notebook_is_python(tmp_path: Path) -> None:
    assert await check_cell(tmp_path, "values = [1]\nprint(sum(valeus))\n") == ["F821 valeus"]
    assert await check_cell(tmp_path, "%matplotlib inline\n!ls\nprint(sum(valeus))\n") == ["F821 valeus"]
    assert "invalid-syntax )" in await check_cell(tmp_path, "x = )\n")


async def test_other_cells_define_names_and_use_imports(tmp_path: Path) -> None:
    (tmp_path / "nb.ipynb").write_text(json.dumps(CELLS))
    (tmp_path / "ruff.toml").write_text('lint.select = ["F"]\n')
    # a later state of the second cell with code, of the first one, and a new cell
    assert await check_cell(tmp_path, "print(sum(values) + valeus)\n") == ["F821 valeus"]
    assert await check_cell(tmp_path, "import math\nimport os\nvalues = [1]\n") == ["F401 os"]
    assert await check_cell(tmp_path, "import json\nx = [v for v in values if v not in y]\n") == ["F821 y"]


async def test_a_cell_that_is_no_python_is_not_called_checked(tmp_path: Path) -> None:
    with pytest.raises(RuffFailed, match="begins with %%bash"):
        await check_cell(tmp_path, "# a list\n%%bash\nls $HOME\n")
    assert await check_cell(tmp_path, "%%time\nprint(x)\n") == ["F821 x"]


@pytest.mark.parametrize("name", ["notes.md", "notes.qmd", "script", "page.vue", "a.pyi", "odd.p-y"])
async def test_python_is_checked_in_a_file_of_any_suffix(tmp_path: Path, name: str) -> None:
    assert await check_cell(tmp_path, "print(x)\n", name) == ["F821 x"]


async def test_a_notebook_that_changes_on_disk_is_read_again(tmp_path: Path) -> None:
    ruff, file = Ruff(), tmp_path / "nb.ipynb"
    document = Document.from_text(f"vscode-notebook-cell:{file}#W0", "print(values)\n", language="python")
    found: list[tuple[Finding, ...]] = [await ruff.find_findings(document, file, tmp_path)]
    file.write_text(json.dumps(CELLS))
    found.append(await ruff.find_findings(document, file, tmp_path))
    assert [len(findings) for findings in found] == [1, 0]


async def test_a_byte_order_mark_is_no_part_of_a_fix(tmp_path: Path) -> None:
    file, mark = tmp_path / "a.py", b"\xef\xbb\xbf"
    (tmp_path / "ruff.toml").write_text('lint.select = ["F", "I"]\n')
    text = mark + b"import os\nimport sys\nprint(sys)\n"
    document = Document.from_text(file.as_uri(), text, language="python")
    for report in await Ruff().check(document, file, tmp_path):
        assert document.data[report.finding.start :].startswith((b"import os", b"os"))
        for edit in report.fix:
            assert document.apply_edit(edit, 2).data.startswith(mark + b"import")

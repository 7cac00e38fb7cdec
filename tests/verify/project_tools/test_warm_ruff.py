"""Ruff's server says what the command says, and the command answers when the server cannot."""

import gzip
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.project_tools.warm_ruff import WarmRuff
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool

pytestmark = pytest.mark.process

TEXTS = [
    "import os\n\n\ndef f():\n    x = 1\n    return pi\n",
    "def f(:\n    return 1\n",
    "x = 'ä' * tau  # noqa: F821\ny = '日本' + tau\n",
    "# ruff: noqa\nimport os\n",
    "\tif a:\n  b\n",
    "",
    "class A:\n    def f(self): return l\n",
    "import os, sys\nprint(f'{os}')\r\nprint(undefined)\r\n",
    "match x:\n    case 1: pass\n",
]


@pytest.fixture
async def pool() -> AsyncIterator[CheckerPool]:
    pool = CheckerPool()
    yield pool
    await pool.aclose()


def make_document(file: Path, text: str) -> Document:
    return Document.from_text(file.as_uri(), text, language="python")


async def start(pool: CheckerPool, root: Path) -> None:
    session = pool.find("ruff", root)
    assert session
    assert await session.wait_until_ready(make_document(root / "start.py", ""))


def read_fixtures() -> list[str]:
    """Return the texts above, and those of the evaluation set if it is here."""
    file = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", "../shared/data/dev")) / "fix_ruff.jsonl.gz"
    if not file.exists():
        return TEXTS
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [*TEXTS, *(json.loads(line)["input"]["code"] for line in lines)][:60]


@pytest.mark.parametrize("preview", ["false", "true"])
async def test_the_server_finds_the_same_as_the_command(pool: CheckerPool, tmp_path: Path, preview: str) -> None:
    rules = 'lint.select = ["ALL"]\n[lint.per-file-ignores]\n"b.py" = ["D", "ANN"]\n'
    (tmp_path / "ruff.toml").write_text(f"preview = {preview}\n{rules}")
    await start(pool, tmp_path)
    warm, command = WarmRuff(pool), Ruff()
    for number, text in enumerate(read_fixtures()):
        file = tmp_path / ("a.py" if number % 2 else "b.py")
        found = await warm.find_findings(make_document(file, text), file, tmp_path)
        assert set(found) == set(await command.find_findings(make_document(file, text), file, tmp_path)), text


async def test_the_command_runs_only_if_the_server_cannot_answer(
    pool: CheckerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    async def check(self: Ruff, document: Document, file: Path, root: Path | None, **options: str) -> tuple[()]:
        asked.append(file)
        return ()

    monkeypatch.setattr(Ruff, "check", check)
    warm, file, elsewhere = WarmRuff(pool), tmp_path / "a.py", tmp_path.parent / "b.py"
    await warm.find_findings(make_document(file, "import os\n"), file, tmp_path)
    # the server was only starting
    assert asked == [file]
    await start(pool, tmp_path)
    [finding] = await warm.find_findings(make_document(file, "import os\n"), file, tmp_path)
    assert (finding.code, finding.severity) == ("F401", "warning")
    assert await warm.find_findings(make_document(file, "x = 1\n"), file, tmp_path) == ()
    assert asked == [file]
    await warm.find_findings(make_document(elsewhere, "import os\n"), elsewhere, None)
    await warm.find_findings(make_document(elsewhere, "import os\n"), elsewhere, tmp_path)
    assert asked == [file, elsewhere, elsewhere]


async def test_settings_that_change_are_read_again(pool: CheckerPool, tmp_path: Path) -> None:
    file, settings = tmp_path / "a.py", tmp_path / "ruff.toml"
    settings.write_text('lint.select = ["F"]\n')
    await start(pool, tmp_path)
    warm = WarmRuff(pool)
    assert [f.code for f in await warm.find_findings(make_document(file, "import os\n"), file, tmp_path)] == ["F401"]
    settings.write_text('lint.select = ["E"]\n# another size\n')
    assert await warm.find_findings(make_document(file, "import os\n"), file, tmp_path) == ()
    settings.unlink()
    assert [f.code for f in await warm.find_findings(make_document(file, "import os\n"), file, tmp_path)] == ["F401"]


async def test_a_file_that_the_settings_exclude_is_left_to_the_command(pool: CheckerPool, tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text('exclude = ["a.py"]\n')
    await start(pool, tmp_path)
    file, text = tmp_path / "a.py", "import os\n"
    found = await WarmRuff(pool).find_findings(make_document(file, text), file, tmp_path)
    assert found == await Ruff().find_findings(make_document(file, text), file, tmp_path)

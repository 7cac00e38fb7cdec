"""Harnesses that are closed after the test, and one ruff for all of them."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import QUICK, Bench


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    return Ruff()


@pytest.fixture
async def bench(tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    made: list[Bench] = []

    def bench(*replies: Any, config: Config = QUICK) -> Bench:
        made.append(Bench(tmp_path, ruff, config, replies))
        return made[-1]

    yield bench
    for one in made:
        await one.harness.aclose()
        assert one.stale == []

"""Harnesses that are closed after the test, and one ruff for all of them."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.bench import QUICK, Bench
from tests.harness.tools import require_verified_proposals


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    return Ruff()


@pytest.fixture
async def bench(tmp_path: Path, ruff: Ruff, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    benches: list[Bench] = []

    def bench(*replies: Any, config: Config = QUICK, verifier: Verifier | None = None, **options: Any) -> Bench:
        # the linter is shared, so that a text is checked once in a run
        benches.append(Bench(tmp_path, verifier or Verifier(CheckTools(ruff)), config, replies, **options))
        return benches[-1]

    yield bench
    for used in benches:
        log = used.harness.services.session.log
        await used.harness.aclose()
        assert used.stale == []
        if log.is_saved and log.path.exists():
            require_verified_proposals(read_log(log.path))

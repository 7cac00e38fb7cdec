"""A project folder in which ruff checks names and nothing else."""

from pathlib import Path

import pytest

from lsp_harness.verify.ruff_linter import Ruff


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    return tmp_path


@pytest.fixture(scope="session")
def ruff() -> Ruff:
    """Return one linter for all tests, which remembers its answers by the content of the text."""
    return Ruff()


class NoRuff(Ruff):
    """A machine without ruff."""

    @property
    def missing_reason(self) -> str:
        return "ruff is not installed (pip install ruff)"


@pytest.fixture
def no_ruff() -> Ruff:
    return NoRuff()

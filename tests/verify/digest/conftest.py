"""Outputs of real tools; how they were made is in `fixtures/README.md`."""

from pathlib import Path

import pytest

from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.digest_result import Digest

FIXTURES = Path(__file__).parent / "fixtures"


def read_fixture(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def digest_of_fixture(name: str, tool: str = "") -> Digest:
    return digest_output(read_fixture(name), tool, "/project")


def digest_lines(name: str, tool: str = "") -> list[str]:
    return digest_of_fixture(name, tool).lines(100)


NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.suffix != ".md")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param

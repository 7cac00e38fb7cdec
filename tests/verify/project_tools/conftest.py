"""A workbench for each test, whose processes and folders end with it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.verify.project_tools.workbench import Workbench


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    root = tmp_path / "project"
    root.mkdir()
    bench = Workbench(root)
    yield bench
    await bench.aclose()

"""Real terminals for tests. Nothing of them is left afterwards."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

import pytest

from lsp_harness.runtime.terminal.terminal import Terminal
from lsp_harness.text.ulid import make_ulid
from tests.runtime.terminal.process_count import find_processes_with_mark


class StartTerminal(Protocol):
    async def __call__(
        self, *argv: str, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None, log: Path | None = None
    ) -> Terminal: ...


@pytest.fixture
def mark() -> str:
    return make_ulid()


@pytest.fixture
async def start(mark: str, tmp_path: Path) -> AsyncIterator[StartTerminal]:
    """Start a program in a terminal in a temporary folder."""
    started: list[Terminal] = []

    async def start_terminal(
        *argv: str, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None, log: Path | None = None
    ) -> Terminal:
        terminal = await Terminal.start(
            argv,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **(env or {})},
            columns=columns,
            rows=rows,
            log_file=log,
            # each agent has its own
            mark=f"{mark}-{len(started)}",
        )
        started.append(terminal)
        return terminal

    yield start_terminal
    for terminal in started:
        await terminal.end(force=True)
        terminal.close()
    assert find_processes_with_mark(mark) == []

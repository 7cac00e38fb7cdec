"""Real terminals for tests, with each of the emulators. Nothing of them is left afterwards."""

import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest
from ulid import ULID

from lsp_harness.runtime.terminal import terminal as terminal_module
from lsp_harness.runtime.terminal.screen import Screen
from lsp_harness.runtime.terminal.screen_choice import ScreenKind, open_screen
from lsp_harness.runtime.terminal.terminal import Terminal
from tests.runtime.terminal.process_count import marked_processes

KINDS: tuple[ScreenKind, ...] = ("ghostty", "pyte")
OpenScreen = Callable[[int, int], Screen]


class StartTerminal(Protocol):
    async def __call__(
        self, *argv: str, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None, log: Path | None = None
    ) -> Terminal: ...


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> ScreenKind:
    return request.param


@pytest.fixture
def new_screen(kind: ScreenKind) -> OpenScreen:
    return partial(open_screen, kind=kind)


@pytest.fixture
def mark() -> str:
    return str(ULID())


@pytest.fixture
async def start(
    kind: ScreenKind, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StartTerminal]:
    """Start a program in a terminal in a temporary folder."""
    monkeypatch.setattr(terminal_module, "open_screen", partial(open_screen, kind=kind))
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
    assert marked_processes(mark) == []

"""A test that a signal before the connection ends the server like any other signal."""

import asyncio
import os
import signal

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.server import main


def test_a_signal_before_the_connection_ends_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(tcp: str | None, ws: str | None) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()

    def unused(*_: object) -> Config:
        raise AssertionError("nothing is read before an editor is connected")

    monkeypatch.setattr(main, "_connect", connect)
    assert main.serve(unused, unused) == 128 + signal.SIGTERM  # type: ignore[arg-type]

"""The engine that is measured: a process of this run, used through the same client as a language server."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.process.process_table import resident_bytes

HOME_VARIABLE = "LSP_HARNESS_HOME"
PROBE_FILE = "probe.json"
IDLE_LIMIT_S = 3600.0
"""Longer than any pause of a benchmark; an engine whose run was killed still ends."""
END_TIMEOUT_S = 10.0
"""How long an engine may take to end before it is killed."""


@contextmanager
def make_temporary_home() -> Generator[Path]:
    """Give this run its own folders, so that it does not use or end another engine, and finds no stored prompts."""
    probe_file = paths.cache_folder() / PROBE_FILE
    home = Path(tempfile.mkdtemp(prefix="lh-"))
    previous = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(home)
    try:
        if probe_file.exists():
            shutil.copy(probe_file, paths.cache_folder() / PROBE_FILE)
        yield home
    finally:
        os.environ.pop(HOME_VARIABLE) if previous is None else os.environ.update({HOME_VARIABLE: previous})
        shutil.rmtree(home, ignore_errors=True)


class BenchEngine:
    """The engine that is measured, and its client."""

    def __init__(self, config: Config) -> None:
        self.model = resolve_model(config.model.path)
        self.config = replace(config, engine=replace(config.engine, url="", script="", idle_seconds=IDLE_LIMIT_S))
        self.client = EngineClient(self.config)
        self.pid = 0

    async def start(self) -> dict[str, Any]:
        """Start the engine if it does not run, and return the properties that it reports."""
        props = await self.client.props()
        self.pid = props.pid
        return props.raw

    async def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal and wait until the process has ended. Kill it if it takes too long."""
        if not self.pid:
            return
        with suppress(ProcessLookupError, TimeoutError):
            os.kill(self.pid, number)
            async with asyncio.timeout(END_TIMEOUT_S):
                await _wait_until_ended(self.pid)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            await _wait_until_ended(self.pid)
        self.pid = 0

    @property
    def rss(self) -> int:
        """Return the resident memory in bytes."""
        return resident_bytes(self.pid)


async def _wait_until_ended(pid: int) -> None:
    """Wait until the process does not exist. Raise ProcessLookupError then."""
    while True:
        os.kill(pid, 0)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def start_engine(config: Config) -> AsyncGenerator[BenchEngine]:
    """Start an engine with its own folders. End it afterwards and delete the folders."""
    engine = BenchEngine(config)
    with make_temporary_home():
        try:
            await engine.start()
            yield engine
        finally:
            await engine.client.aclose()
            await engine.end()

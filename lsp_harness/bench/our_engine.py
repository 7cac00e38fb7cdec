"""The engine under test: a process of this run's own, reached as every front end reaches one."""

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
from lsp_harness.process.memory import resident

HOME_VARIABLE = "LSP_HARNESS_HOME"
PROBE_FILE = "probe.json"
IDLE_LIMIT_S = 3600.0
"""Seconds: longer than any pause of a benchmark, but an engine whose run was killed does not stay for ever."""
END_TIMEOUT_S = 10.0
"""Seconds an engine gets to end before it is killed."""


@contextmanager
def temporary_home() -> Generator[Path]:
    """User's directories of this run's own, so that nobody else's engine is used, ended or slowed by its files."""
    probed = paths.cache_folder() / PROBE_FILE
    home = Path(tempfile.mkdtemp(prefix="lh-"))
    before = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(home)
    try:
        if probed.exists():
            shutil.copy(probed, paths.cache_folder() / PROBE_FILE)
        yield home
    finally:
        os.environ.pop(HOME_VARIABLE) if before is None else os.environ.update({HOME_VARIABLE: before})
        shutil.rmtree(home, ignore_errors=True)


class BenchEngine:
    """The engine and its client."""

    def __init__(self, config: Config) -> None:
        self.model = resolve_model(config.model.path)
        self.config = replace(config, engine=replace(config.engine, url="", script="", idle_seconds=IDLE_LIMIT_S))
        self.client = EngineClient(self.config)
        self.pid = 0

    async def start(self) -> dict[str, Any]:
        """Start it where it does not run; what it says of itself."""
        props = await self.client.props()
        self.pid = props.pid
        return props.raw

    async def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal and wait until the process is gone; one that lingers is killed."""
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
        """Bytes of resident memory."""
        return resident(self.pid)


async def _wait_until_ended(pid: int) -> None:
    """Returns by ProcessLookupError once there is no such process."""
    while True:
        os.kill(pid, 0)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def start_engine(config: Config) -> AsyncGenerator[BenchEngine]:
    """An engine that is gone afterwards, with everything it wrote."""
    ours = BenchEngine(config)
    with temporary_home():
        try:
            await ours.start()
            yield ours
        finally:
            await ours.client.aclose()
            await ours.end()

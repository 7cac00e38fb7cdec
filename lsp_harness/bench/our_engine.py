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
from lsp_harness.inference.models.model_files import resolve
from lsp_harness.process.memory import resident_bytes

HOME = "LSP_HARNESS_HOME"
PROBED = "probe.json"
IDLE = 3600.0
"""Seconds: longer than any pause of a benchmark, but an engine whose run was killed does not stay for ever."""
PATIENCE = 10.0
"""Seconds an engine gets to end before it is killed."""


@contextmanager
def own_home() -> Generator[Path]:
    """User's directories of this run's own, so that nobody else's engine is used, ended or slowed by its files."""
    probed = paths.cache() / PROBED
    home = Path(tempfile.mkdtemp(prefix="lh-"))
    before = os.environ.get(HOME)
    os.environ[HOME] = str(home)
    try:
        if probed.exists():
            shutil.copy(probed, paths.cache() / PROBED)
        yield home
    finally:
        os.environ.pop(HOME) if before is None else os.environ.update({HOME: before})
        shutil.rmtree(home, ignore_errors=True)


class Ours:
    """The engine and its client."""

    def __init__(self, config: Config) -> None:
        self.model = resolve(config.model.path)
        self.config = replace(config, engine=replace(config.engine, url="", script="", idle_seconds=IDLE))
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
            async with asyncio.timeout(PATIENCE):
                await _gone(self.pid)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            await _gone(self.pid)
        self.pid = 0

    @property
    def rss(self) -> int:
        """Bytes of resident memory."""
        return resident_bytes(self.pid)


async def _gone(pid: int) -> None:
    """Returns by ProcessLookupError once there is no such process."""
    while True:
        os.kill(pid, 0)
        await asyncio.sleep(0.02)


@asynccontextmanager
async def engine(config: Config) -> AsyncGenerator[Ours]:
    """An engine that is gone afterwards, with everything it wrote."""
    ours = Ours(config)
    with own_home():
        try:
            await ours.start()
            yield ours
        finally:
            await ours.client.aclose()
            await ours.end()

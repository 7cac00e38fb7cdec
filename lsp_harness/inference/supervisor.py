"""Finding the engine of a model, or starting it: one per model identity, whoever asks first.

A start that fails is not tried again at once: the wait doubles from half a second to half a minute, and meanwhile
requests fail at once with the reason.
"""

import asyncio
import hashlib
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.notice import warn_once
from lsp_harness.disk.writing import clear
from lsp_harness.errors import ConfigError, EngineUnavailable
from lsp_harness.inference.embed.recipe import pooling_of
from lsp_harness.inference.models.catalogue import FimRecipe, ModelCard, cards
from lsp_harness.inference.models.place import resolve
from lsp_harness.process import detached, openmp

ORDERS = ("auto", "suffix-first", "prefix-suffix-middle")
LEAVING_SECONDS = 15.0
SOCKET_LIMIT = 100
"""Bytes of a Unix socket's path; the system's limit is 108."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine listens, and where it writes its log."""

    socket: Path
    log: Path


def identity(model: Path, config: Config) -> str:
    """One engine process per value: the file's bytes (by size and time) and what the context depends on."""
    info = model.stat()
    parts = (
        str(model.resolve()),
        info.st_size,
        info.st_mtime_ns,
        config.model.context_length,
        config.model.n_gpu_layers,
        _order(model, config),
        config.index.embedding_model,
        pooling_of(config.index),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def address(model: Path, config: Config) -> Address:
    name = f"engine-{identity(model, config)}"
    path = paths.runtime() / f"{name}.sock"
    if len(os.fsencode(path)) > SOCKET_LIMIT:
        raise EngineUnavailable(
            f"{path} is too long for a socket; set XDG_RUNTIME_DIR or LSP_HARNESS_HOME to a shorter path"
        )
    return Address(path, _log(name))


def _log(name: str) -> Path:
    try:
        return paths.state() / f"{name}.log"
    except ConfigError as error:
        # an engine that says nothing is better than none
        warn_once(error.message)
        return Path(os.devnull)


def listening(path: Path) -> bool:
    """Whether somebody answers at this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def peer(path: Path) -> int | None:
    """Who listens there, from the kernel and not from what it says."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
            return struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        except OSError:
            return None


async def end(config: Config) -> None:
    """Asks the engine of these settings to end, and waits until it is gone; one that does not run is left alone.

    Raises EngineUnavailable when it is still there after a while."""
    where = address(resolve(config.model.path), config)
    pid = peer(where.socket)
    if pid is None:
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(LEAVING_SECONDS):
            while peer(where.socket) == pid:  # noqa: ASYNC110 - nobody tells when another process ends
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise EngineUnavailable(f"the engine (process {pid}) does not end; see lsp-harness engine logs") from None


async def responding(path: Path) -> bool:
    """Whether the engine at this socket still answers. The kernel accepts connections for a process that is dying."""
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/1.1 200")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


def _card(model: Path, config: Config) -> ModelCard | None:
    return next((c for c in cards() if c.name == config.model.path or c.file == model.name), None)


def _order(model: Path, config: Config) -> str:
    """What the settings say, else the model's card. Raises ConfigError."""
    chosen = config.model.fim_order
    if chosen not in ORDERS:
        raise ConfigError(f"model.fim_order must be one of {', '.join(ORDERS)}, not {chosen!r}")
    card = _card(model, config)
    return chosen if chosen != "auto" else (card.fim if card else FimRecipe()).order


class Supervisor:
    """Makes sure that the configured engine runs; `ensure` gives its socket."""

    FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0

    def __init__(self, config: Config) -> None:
        self._config = config
        self._starting: asyncio.Task[None] | None = None
        self._wait = 0.0
        self._not_before = 0.0
        self._why = ""
        self._doubted = False

    def doubt(self) -> None:
        """A request failed on the way: look closely before the next one is sent there."""
        self._doubted = True

    async def ensure(self) -> Path:
        """The socket of a running engine. Raises ModelMissing or EngineUnavailable."""
        if self._config.engine.url:
            return Path(self._config.engine.url.removeprefix("unix:"))
        model = resolve(self._config.model.path)
        where = address(model, self._config)
        if await responding(where.socket) if self._doubted else listening(where.socket):
            self._doubted = False
            return where.socket
        if self._starting is None:
            if (left := self._not_before - monotonic()) > 0:
                raise EngineUnavailable(
                    f"the engine does not start: {self._why}; next try in {left:.0f} s (see lsp-harness engine logs)"
                )
            self._starting = asyncio.create_task(self._start(model, where))
            self._starting.add_done_callback(self._started)
        # a request that is cancelled meanwhile, as typing does, must not take the start with it
        await asyncio.shield(self._starting)
        return where.socket

    def _started(self, task: asyncio.Task[None]) -> None:
        self._starting = None
        if not task.cancelled():
            # those who wait hear of it; when nobody does any more, it is not an error of the loop
            task.exception()

    async def _start(self, model: Path, where: Address) -> None:
        lock = FileLock(clear(where.socket.with_suffix(".lock")), thread_local=False)
        try:
            await asyncio.to_thread(lock.acquire, 120)
        except Timeout:
            raise EngineUnavailable("another process has been starting the engine for two minutes") from None
        try:
            if await responding(where.socket):
                return
            said = await detached.start(self._argv(model, where), openmp.environment(), where.log)
        finally:
            lock.release()
        if error := said.get("error"):
            self._wait = min(max(self._wait * 2, self.FIRST_WAIT), self.LONGEST_WAIT)
            self._not_before = monotonic() + self._wait
            self._why = str(error)
            raise EngineUnavailable(f"the engine does not start: {error} (see lsp-harness engine logs)")
        self._wait = 0.0

    def _argv(self, model: Path, where: Address) -> list[str]:
        config = self._config
        card = _card(model, config)
        return [
            # -P: what is called like a module in the current folder, which is a workspace's, is none
            *(sys.executable, "-P", "-m", "lsp_harness.inference.engine"),
            *("--model", str(model), "--socket", str(where.socket)),
            *("--name", card.name if card else model.stem),
            *("--fim-order", _order(model, config)),
            *("--n-ctx", str(config.model.context_length), "--n-gpu-layers", str(config.model.n_gpu_layers)),
            *("--threads", str(config.engine.threads), "--idle", str(config.engine.idle_seconds)),
            *("--kv-disk", str(config.engine.kv_disk_mb), "--cache-reuse", str(config.engine.cache_reuse)),
            # one argument: what begins with a dash is no option
            f"--embedding-model={config.index.embedding_model}",
            f"--embedding-pooling={pooling_of(config.index)}",
            *(("--tcp", str(config.engine.port)) if config.engine.port > 0 else ()),
        ]

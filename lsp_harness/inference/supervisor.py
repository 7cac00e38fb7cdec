"""Finding the engine of a model, or starting it: one per model identity, whoever asks first.

A start that fails is not tried again at once: the wait doubles from half a second to half a minute, and meanwhile
requests fail at once with the reason.
"""

import asyncio
import errno
import hashlib
import math
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.disk.file_writing import remove_irregular_file
from lsp_harness.errors import ConfigError, EngineUnavailable
from lsp_harness.inference.embedding_recipe import pooling_of
from lsp_harness.inference.models.catalogue import FimRecipe, ModelCard, cards
from lsp_harness.inference.models.model_files import resolve
from lsp_harness.inference.running_engines import STUCK_GRACE_S, end, health, listening
from lsp_harness.process import detached_process, openmp

ORDERS = ("auto", "suffix-first", "prefix-suffix-middle")
TURN_S = 120.0
"""How long another process may take to start the same engine before a request says so."""
IMPORT_S = 10.0
"""How long a process that starts may give no sign of life at least: it can give none before Python has come up."""
TURN_POLL_S = 0.05
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


async def end_engine(config: Config) -> None:
    """End the engine of these settings, and wait until it is gone; one that does not run is left alone. Raises
    EngineUnavailable when it is still there after SIGKILL."""
    ended = await end(address(resolve(config.model.path), config).socket)
    if ended and not ended.ending:
        raise EngineUnavailable(f"the engine {ended.words}")


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
        if await health(where.socket) is not None if self._doubted else listening(where.socket):
            self._doubted = False
            return where.socket
        if self._starting is None:
            if (left := self._not_before - monotonic()) > 0:
                raise EngineUnavailable(
                    f"the engine does not start: {self._why}; the next attempt is possible in {math.ceil(left)} s (see lsp-harness engine logs)"
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
        silence_s = self._config.engine.silence_s
        async with _turn(_lock_file(where.socket)):
            if listening(where.socket):
                if await health(where.socket, silence_s) is not None:
                    return
                # a process that listens and does not answer: its socket is needed, and so is its memory
                await end(where.socket, grace_s=STUCK_GRACE_S)
            limit_s = max(silence_s, IMPORT_S)
            said = await detached_process.start_detached(
                self._argv(model, where), openmp.openmp_environment(), where.log, limit_s
            )
        if error := said.get("error"):
            self._wait = min(max(self._wait * 2, self.FIRST_WAIT), self.LONGEST_WAIT)
            self._not_before = monotonic() + self._wait
            self._why = str(error)
            raise EngineUnavailable(f"the engine does not start: {error} (see lsp-harness engine logs)")
        self._wait, self._doubted = 0.0, False

    def _argv(self, model: Path, where: Address) -> list[str]:
        config = self._config
        card = _card(model, config)
        return [
            # -P: what is called like a module in the current folder, which is a workspace's, is none
            *(sys.executable, "-P", "-m", "lsp_harness.engine.main"),
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


def _lock_file(socket: Path) -> Path:
    """The file that lets one process start an engine. Raises EngineUnavailable where a folder lies under its name or the socket's."""
    lock = socket.with_suffix(".lock")
    try:
        if socket.is_dir() and not socket.is_symlink():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(socket))
        return remove_irregular_file(lock)
    except OSError as error:
        raise EngineUnavailable(
            f"the engine does not start: {paths.not_written(paths.RUNTIME, lock, error)}"
        ) from error


@asynccontextmanager
async def _turn(file: Path) -> AsyncGenerator[None]:
    """The right to start an engine, which one process has at a time. Raises EngineUnavailable where it takes too long to get."""
    lock, until = FileLock(file, thread_local=False), monotonic() + TURN_S
    while True:
        try:
            # not in a thread: a program that ends would have to wait for it
            lock.acquire(timeout=0)
            break
        except Timeout:
            if monotonic() > until:
                said = (
                    f"another process has been starting the engine for {TURN_S:.0f} s; end that process, or try again"
                )
                raise EngineUnavailable(said) from None
        except OSError as error:
            said = paths.not_written(paths.RUNTIME, file, error)
            raise EngineUnavailable(f"the engine does not start: {said}") from error
        await asyncio.sleep(TURN_POLL_S)
    try:
        yield
    finally:
        lock.release()

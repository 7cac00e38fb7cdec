"""Finds the engine of a model or starts it.

There is one engine for each model identity; the first process that needs it starts it.

After a failed start the next attempt waits, from half a second up to half a minute. Until then requests fail at once
with the reason.
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

from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_lock import LOCK_POLL_S, FileLock
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import ConfigError, EngineUnavailable
from lsp_harness.extras import describe_missing_extra
from lsp_harness.inference.embedding_recipe import pooling_or_auto
from lsp_harness.inference.models.catalogue import FimRecipe, ModelCard, cards
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.running_engines import STUCK_GRACE_S, end_engine_at, is_listening, query_health
from lsp_harness.process import detached_process, openmp

FIM_ORDERS = ("auto", "suffix-first", "prefix-suffix-middle")
START_TURN_TIMEOUT_S = 120.0
"""How long a request waits for another process that starts the same engine."""
MIN_STARTUP_SILENCE_S = 10.0
"""Minimum silence allowed for a process that starts, because it can give no sign of life before Python has started."""
SOCKET_PATH_LIMIT_BYTES = 100
"""Length limit of the path of a Unix socket; the limit of the system is 108."""


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """The socket of an engine and its log file."""

    socket: Path
    log: Path


def engine_identity(model: Path, config: Config) -> str:
    """Return the identity of an engine: a hash of its model file (by size and time) and of its settings."""
    info = model.stat()
    parts = (
        str(model.resolve()),
        info.st_size,
        info.st_mtime_ns,
        config.model.context_length,
        config.model.n_gpu_layers,
        _order(model, config),
        config.index.embedding_model,
        pooling_or_auto(config.index),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def engine_address(model: Path, config: Config) -> EngineAddress:
    """Return where the engine of a model listens. Raise EngineUnavailable if the path is too long for a socket."""
    name = f"engine-{engine_identity(model, config)}"
    path = paths.runtime_folder() / f"{name}.sock"
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT_BYTES:
        raise EngineUnavailable(
            f"{path} is too long for a socket; set XDG_RUNTIME_DIR or LSP_HARNESS_HOME to a shorter path"
        )
    return EngineAddress(path, _log(name))


def _log(name: str) -> Path:
    try:
        return paths.state_folder() / f"{name}.log"
    except ConfigError as error:
        # an engine without a log is better than no engine
        warn_once(error.message)
        return Path(os.devnull)


async def end_engine(config: Config) -> None:
    """End the engine of these settings, if it runs, and wait until the process has ended.

    Raises:
        EngineUnavailable: The process still exists after SIGKILL.
    """
    end = await end_engine_at(engine_address(resolve_model(config.model.path), config).socket)
    if end and not end.ending:
        raise EngineUnavailable(f"the engine {end.description}")


def _find_card(model: Path, config: Config) -> ModelCard | None:
    return next((c for c in cards() if c.name == config.model.path or c.file == model.name), None)


def _order(model: Path, config: Config) -> str:
    """Return the order of a prompt by the settings, or else by the catalogue. Raise ConfigError."""
    chosen = config.model.fim_order
    if chosen not in FIM_ORDERS:
        raise ConfigError(f"model.fim_order must be one of {', '.join(FIM_ORDERS)}, not {chosen!r}")
    card = _find_card(model, config)
    return chosen if chosen != "auto" else (card.fim if card else FimRecipe()).order


class EngineSupervisor:
    """Starts the configured engine if it does not run."""

    FIRST_WAIT_S, MAX_WAIT_S = 0.5, 30.0
    """Wait after a failed start; it doubles with each failure."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._starting: asyncio.Task[None] | None = None
        self._wait_s = 0.0
        self._not_before = 0.0
        self._failure = ""
        self._is_suspect = False

    def suspect_engine(self) -> None:
        """Note that a request failed, so that the engine must answer a health check before the next request."""
        self._is_suspect = True

    async def ensure_running(self) -> Path:
        """Return the socket of a running engine. Raise ModelMissing or EngineUnavailable."""
        if problem := describe_missing_extra("engine"):
            raise EngineUnavailable(problem)
        if self._config.engine.url:
            return Path(self._config.engine.url.removeprefix("unix:"))
        model = resolve_model(self._config.model.path)
        address = engine_address(model, self._config)
        if await query_health(address.socket) is not None if self._is_suspect else is_listening(address.socket):
            self._is_suspect = False
            return address.socket
        if self._starting is None:
            if (wait_s := self._not_before - monotonic()) > 0:
                raise EngineUnavailable(
                    f"the engine does not start: {self._failure}; the next attempt is possible in {math.ceil(wait_s)} "
                    "s (see lsp-harness engine logs)"
                )
            self._starting = asyncio.create_task(self._start(model, address))
            self._starting.add_done_callback(self._record_start)
        # typing cancels requests, and that must not cancel the start
        await asyncio.shield(self._starting)
        return address.socket

    def _record_start(self, task: asyncio.Task[None]) -> None:
        self._starting = None
        if not task.cancelled():
            # waiting requests get the error; without any, asyncio must not log it as an error that was never read
            task.exception()

    async def _start(self, model: Path, address: EngineAddress) -> None:
        silence_s = self._config.engine.silence_s
        async with _start_lock(address.socket):
            if is_listening(address.socket):
                if await query_health(address.socket, silence_s) is not None:
                    return
                # the process listens but does not answer; its socket and its memory are needed
                await end_engine_at(address.socket, grace_s=STUCK_GRACE_S)
            limit_s = max(silence_s, MIN_STARTUP_SILENCE_S)
            report = await detached_process.start_detached(
                self._argv(model, address), openmp.openmp_environment(), address.log, limit_s
            )
        if error := report.get("error"):
            self._wait_s = min(max(self._wait_s * 2, self.FIRST_WAIT_S), self.MAX_WAIT_S)
            self._not_before = monotonic() + self._wait_s
            self._failure = str(error)
            raise EngineUnavailable(f"the engine does not start: {error} (see lsp-harness engine logs)")
        self._wait_s, self._is_suspect = 0.0, False

    def _argv(self, model: Path, address: EngineAddress) -> list[str]:
        config = self._config
        card = _find_card(model, config)
        return [
            # -P: a file of the workspace with the name of a module must not be imported
            *(sys.executable, "-P", "-m", "lsp_harness.engine.main"),
            *("--model", str(model), "--socket", str(address.socket)),
            *(("--library", config.engine.library) if config.engine.library else ()),
            *("--name", card.name if card else model.stem),
            *("--fim-order", _order(model, config)),
            *("--n-ctx", str(config.model.context_length), "--n-gpu-layers", str(config.model.n_gpu_layers)),
            *("--threads", str(config.engine.threads), "--idle", str(config.engine.idle_seconds)),
            *("--kv-disk", str(config.engine.kv_disk_mb), "--cache-reuse", str(config.engine.cache_reuse)),
            # in one argument, so that a value that begins with a dash is not taken for an option
            f"--embedding-model={config.index.embedding_model}",
            f"--embedding-pooling={pooling_or_auto(config.index)}",
            *(("--tcp", str(config.engine.port)) if config.engine.port > 0 else ()),
        ]


@asynccontextmanager
async def _start_lock(socket: Path) -> AsyncGenerator[None]:
    """Hold the lock for starting the engine of a socket.

    Raises:
        EngineUnavailable: Another process holds the lock for too long, or the lock or the socket is a folder.
    """
    file, deadline = socket.with_suffix(".lock"), monotonic() + START_TURN_TIMEOUT_S
    lock = FileLock(file)
    while True:
        try:
            if socket.is_dir() and not socket.is_symlink():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(socket))
            # not in a thread, because the program could not end before the thread does
            lock.acquire()
            break
        except BlockingIOError:
            if monotonic() > deadline:
                message = (
                    f"another process has been starting the engine for {START_TURN_TIMEOUT_S:.0f} s; "
                    "end that process, or try again"
                )
                raise EngineUnavailable(message) from None
        except OSError as error:
            problem = paths.describe_write_failure(paths.RUNTIME, file, error)
            raise EngineUnavailable(f"the engine does not start: {problem}") from error
        await asyncio.sleep(LOCK_POLL_S)
    try:
        yield
    finally:
        lock.release()

"""The engine process: `python -m lsp_harness.engine.main`. It serves one model on one socket and ends when it is idle.

It holds no state that must be kept: it may be killed at any time, and the next request of a client starts it again.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from lsp_harness.config import paths
from lsp_harness.disk.channel_form import LocalChannel
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.inference.running_engines import pid_file, write_pid_file
from lsp_harness.process.detached_process import Heartbeat
from lsp_harness.process.inherited_descriptors import open_inherited

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from lsp_harness.engine.http.engine_host import EngineHost

MAX_SEQUENCES = 32
SPARE_CELLS, SPARE_SLOTS = 2048, 4
"""Cells and slots only interactive requests may take: room for two completions with the longest prompt of the default
settings (about 1,000 tokens each). The cells are added to the context length of the settings."""
MAX_BATCH_TOKENS = 256
MIB = 2**20


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line of the engine process."""
    parser = argparse.ArgumentParser(prog="lsp-harness engine process", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--library", default="", help="the library of llama.cpp, as in the setting engine.library")
    parser.add_argument("--name", default="")
    parser.add_argument(
        "--embedding-model",
        default="all-minilm-l6-v2",
        help="name or path of the embedding model; it is loaded when the first text is embedded",
    )
    parser.add_argument(
        "--embedding-pooling",
        default="auto",
        help="pooling of the embedding model: auto (as its file says), mean, cls or last",
    )
    parser.add_argument("--n-ctx", type=int, default=8192)
    parser.add_argument("--n-gpu-layers", type=int, default=-1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--idle", type=float, default=900.0)
    parser.add_argument(
        "--kv-disk", type=int, default=512, help="size in MiB of the prompts that are saved on disk; 0 saves none"
    )
    parser.add_argument(
        "--cache-reuse",
        type=int,
        default=32,
        help="number of consecutive tokens from which on they are reused when lines move; 0 reuses none",
    )
    parser.add_argument("--fim-order", choices=["suffix-first", "prefix-suffix-middle"], default="prefix-suffix-middle")
    parser.add_argument("--tcp", type=int, default=-1, help="also listen on this loopback port; 0 takes any free port")
    parser.add_argument("--ready-fd", type=open_inherited, default=-1)
    return parser.parse_args(argv)


def load_engine(args: argparse.Namespace) -> "EngineHost":
    """Load the model, measure what this machine can do with it, and start the thread of the model."""
    from lsp_harness.engine.cache.disk_cache import DiskCache, prune_folders
    from lsp_harness.engine.cache.host_cache import FAST_CELLS, HostCache
    from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
    from lsp_harness.engine.cache.kv_shift import KvShift
    from lsp_harness.engine.decode.library_check import check_library
    from lsp_harness.engine.decode.llama import Llama, TokenRow
    from lsp_harness.engine.decode.memory_probe import measure_move_ms, probe_memory
    from lsp_harness.engine.decode.model_runtime import ModelRuntime
    from lsp_harness.engine.decode.repack_probe import can_repack, identify_processor
    from lsp_harness.engine.decode.scheduler import Scheduler
    from lsp_harness.engine.decode.step_cost import StepCost
    from lsp_harness.engine.embed.embedder import Embedder, load_encoder
    from lsp_harness.engine.http.engine_host import EngineHost
    from lsp_harness.engine.meter import Meter
    from lsp_harness.engine.native.loaded_library import lib
    from lsp_harness.inference.libraries.library_choice import find_library
    from lsp_harness.inference.measured_speed import make_speed_key, speed_file
    from lsp_harness.inference.models.model_files import fingerprint
    from lsp_harness.process.allowed_cores import count_allowed_cores

    start_s = monotonic()
    # Files that are written from here on, above all prompts, are for this user only.
    os.umask(0o077)
    library = find_library(args.library)
    check_library(library)
    repack = can_repack(args.model, library)
    lib.load(library)
    threads = args.threads or count_allowed_cores()
    llama = Llama(
        args.model,
        n_ctx=args.n_ctx + SPARE_CELLS,
        n_seq=MAX_SEQUENCES,
        n_batch=MAX_BATCH_TOKENS,
        threads=threads,
        n_gpu_layers=args.n_gpu_layers,
        repack=repack,
    )
    # This builds the table of token texts, which takes half a second, now and not at the first keystroke.
    llama.vocabulary.matching_tokens(b" ")
    memory = probe_memory(llama)
    # For a sliding window llama.cpp packs only the cells that the end of the sequence still uses. A prompt that differs
    # before the end cannot continue them.
    is_movable = memory["cuts"] and not memory["window"]
    weights = "repacked" if repack else "plain"
    model_hash = fingerprint(args.model)
    key = make_speed_key(
        identify_processor(),
        library.identity,
        model_hash,
        weights=weights,
        threads=threads,
        gpu_layers=args.n_gpu_layers,
        context=llama.n_ctx,
    )
    file = speed_file()
    step_cost = StepCost.load(file, key)
    if step_cost is None:
        step_cost = StepCost.measure(
            lambda tokens: llama.decode([TokenRow(0, 0, [token % llama.n_vocab for token in tokens])]),
            lambda: llama.truncate(0, 0),
            lambda: measure_move_ms(llama) if is_movable else None,
        )
        step_cost.save(file, key)
    memory["shifts"] = step_cost.move_ms is not None
    disk_cache, folder, max_bytes = None, paths.cache_folder() / "kv", args.kv_disk * MIB
    try:
        # Files of other models and of earlier settings count, too: no other engine may ever remove them.
        prune_folders(folder, max_bytes)
        if max_bytes > 0 and is_movable:
            disk_cache = DiskCache(llama, folder / f"{model_hash}-{llama.n_ctx}-{library.identity}", max_bytes)
    except OSError as error:
        sys.stderr.write(f"evaluated prompts cannot be saved for the next start: {error}\n")
    # Fused attention skips the cells of other sequences. Without it only few cells should be in use.
    is_full_cache_fast = llama.has_fused_attention or not is_movable
    limits = CacheLimits(
        cells=llama.n_ctx,
        slots=MAX_SEQUENCES,
        spare_cells=SPARE_CELLS,
        spare_slots=SPARE_SLOTS,
        fast_cells=llama.n_ctx if is_full_cache_fast else min(FAST_CELLS, llama.n_ctx),
    )
    kv = KvCache(llama, limits, can_truncate=memory["cuts"])
    host_cache = HostCache(llama, kv.context_length) if limits.fast_cells < llama.n_ctx else None
    kv_shift = KvShift(llama, kv, host_cache, min_run_tokens=args.cache_reuse) if memory["shifts"] else None
    model = ModelRuntime(llama, kv, step_cost, disk_cache, host_cache, kv_shift)
    facts: dict[str, Any] = {
        "model_path": str(args.model),
        "library": {
            "name": library.name,
            "version": library.version,
            "folder": str(library.folder),
            "devices": list(lib.devices),
            # without layers on it, a graphics card says nothing about the speed
            "device_memory": lib.graphics_memory if args.n_gpu_layers else {},
        },
        "n_ctx_train": llama.n_ctx_train,
        "weights_repacked": repack,
        "threads": threads,
        "memory": memory,
        "load_ms": round((monotonic() - start_s) * 1000),
    }
    meter = Meter()
    scheduler = Scheduler(model, observer=meter)
    encoder_loader = partial(load_encoder, pooling=args.embedding_pooling)
    embedder = Embedder(args.embedding_model, is_busy=scheduler.is_busy, load=encoder_loader)
    name = args.name or args.model.stem
    return EngineHost(model, scheduler, embedder, meter, name=name, order=args.fim_order, facts=facts)


def bind_socket(path: Path, channel: LocalChannel) -> socket.socket:
    """Return a listening socket that only this user can reach by the channel.

    The caller holds the start lock, so a file at `path` is left over from an engine that has ended.
    """
    listener = channel.listen()
    write_pid_file(path)
    return listener


def report_to_parent(descriptor: int, message: dict[str, object]) -> None:
    """Send the only message to the parent process. It may have given up; other processes can still use the engine."""
    if descriptor >= 0:
        with suppress(BrokenPipeError):
            os.write(descriptor, json.dumps(message).encode())
        os.close(descriptor)


def identify_socket(path: Path) -> tuple[int, int]:
    """Return what tells our socket file from one that another engine made at the same path; (0, 0) if there is none."""
    try:
        info = path.lstat()
    except OSError:
        return 0, 0
    return info.st_ino, info.st_ctime_ns


def open_port(args: argparse.Namespace, engine: "EngineHost") -> tuple[str, list[socket.socket]]:
    """Return the token for the port of the settings, and its listener.

    If the settings have no port or the port is not available, there is neither.
    """
    from lsp_harness.engine.http import access_guard
    from lsp_harness.errors import HarnessError
    from lsp_harness.inference import access_token

    if args.tcp < 0:
        return "", []
    try:
        token, listener = access_token.ensure_token(), access_guard.listen(args.tcp)
    except HarnessError as error:
        # Editors use the channel, so the engine starts all the same.
        engine.facts["tcp_error"] = error.message
        sys.stderr.write(error.message + "\n")
        return "", []
    engine.facts["tcp_port"] = listener.getsockname()[1]
    return token, [listener]


async def serve(
    args: argparse.Namespace, engine: "EngineHost", token: str, listener: socket.socket, beats: Heartbeat
) -> None:
    """Answer requests until a signal comes, the engine was idle for `args.idle` seconds, or its program was removed.

    Modules that are imported late are missing then. The next client starts an engine of its own environment.
    """
    import uvicorn

    from lsp_harness.engine.http.access_guard import AccessGuard
    from lsp_harness.engine.http.app import make_app

    port_token, ports = open_port(args, engine)
    # a channel without a token is a file that keeps other users out
    tokens = [text for text in (token, port_token) if text]
    app: ASGIApp = make_app(engine)
    if tokens:
        app = AccessGuard(app, tokens)
    config = uvicorn.Config(
        app,
        log_level="warning",
        lifespan="off",
        access_log=False,
        timeout_graceful_shutdown=1,
        proxy_headers=False,
        ws="none",
    )
    server = uvicorn.Server(config)

    async def exit_when_idle() -> None:
        while True:
            is_removed = not Path(__file__).exists()
            remaining_s = 0.0 if is_removed else engine.last_used_s + args.idle - monotonic()
            if remaining_s <= 0 and not engine.scheduler.pending and not engine.embedder.pending:
                server.should_exit = True
                return
            await asyncio.sleep(max(0.05, min(remaining_s, 5.0)))

    def exit_on_signal(*_: object) -> None:
        server.should_exit = True

    # uvicorn raises the signal that stopped it again. Without these handlers that would kill the process too early.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, exit_on_signal)
    idle_watch = asyncio.create_task(exit_when_idle())
    beats.stop()
    report_to_parent(args.ready_fd, {"pid": os.getpid()})
    await server.serve(sockets=[listener, *ports])
    idle_watch.cancel()
    engine.embedder.close()
    engine.scheduler.close()


def main(argv: list[str] | None = None) -> int:
    """Run the engine process. It ends inside this function unless the start fails."""
    args = parse_arguments(argv)
    beats = Heartbeat(args.ready_fd)
    try:
        engine = load_engine(args)
        channel = open_channel(args.socket)
        listener = bind_socket(args.socket, channel)
        identity = identify_socket(args.socket)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent must get one sentence
        beats.stop()
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        report_to_parent(args.ready_fd, {"error": message})
        sys.stderr.write(message + "\n")
        return 1
    asyncio.run(serve(args, engine, channel.token, listener, beats))
    # Since the server closed, another engine may have made its own socket at this path.
    if identify_socket(args.socket) == identity:
        args.socket.unlink(missing_ok=True)
        pid_file(args.socket).unlink(missing_ok=True)
    # The process ends without freeing the model: the system does that, and llama.cpp's own order may crash.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())

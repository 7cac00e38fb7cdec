"""The engine process: `python -m lsp_harness.engine.main`. One model, one socket, gone when idle.

It holds no truth: it may be killed at any time, and the next request of any front end starts it again.
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
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from lsp_harness.config import paths
from lsp_harness.inference.running_engines import record, record_file
from lsp_harness.process.detached_process import Heartbeat

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from lsp_harness.engine.http.engine_host import Host

SLOTS = 32
SPARE_CELLS, SPARE_SLOTS = 2048, 4
"""What only interactive requests may take: room for two completions of the longest prompt the settings have by default
(about 1,000 tokens each), whatever else goes on. The cells come on top of the context that is asked for."""
BATCH = 256
"""Tokens in one step at most."""


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lsp-harness engine process", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--name", default="")
    parser.add_argument(
        "--embedding-model", default="all-minilm-l6-v2", help="embedding model, loaded with the first text to embed"
    )
    parser.add_argument("--embedding-pooling", default="auto", help="how: auto (as its file says), mean, cls, last")
    parser.add_argument("--n-ctx", type=int, default=8192)
    parser.add_argument("--n-gpu-layers", type=int, default=-1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--idle", type=float, default=900.0)
    parser.add_argument("--kv-disk", type=int, default=512, help="MiB of prompts saved on disk; 0 saves none")
    parser.add_argument(
        "--cache-reuse",
        type=int,
        default=32,
        help="smallest number of tokens that are reused when lines move; 0 reuses none",
    )
    parser.add_argument("--fim-order", choices=["suffix-first", "prefix-suffix-middle"], default="prefix-suffix-middle")
    parser.add_argument(
        "--tcp", type=int, default=-1, help="a loopback port to listen on as well; 0 takes any free one"
    )
    parser.add_argument("--ready-fd", type=int, default=-1)
    return parser.parse_args(argv)


def load(args: argparse.Namespace) -> "Host":
    """Load the model, learn what this machine can do with it, and start its thread."""
    from lsp_harness.engine.decode.disk_cache import Saved, prune
    from lsp_harness.engine.decode.generation import Model
    from lsp_harness.engine.decode.host_cache import HOT, Lot
    from lsp_harness.engine.decode.kv_cache import Kv
    from lsp_harness.engine.decode.kv_shift import Shift
    from lsp_harness.engine.decode.llama import Llama, Row
    from lsp_harness.engine.decode.repack_probe import processor, repacking_works
    from lsp_harness.engine.decode.scheduler import Scheduler
    from lsp_harness.engine.decode.step_cost import Machine
    from lsp_harness.engine.embed.embedder import Embedder
    from lsp_harness.engine.embed.embedder import load as load_encoder
    from lsp_harness.engine.http.engine_host import Host
    from lsp_harness.engine.meter import Meter
    from lsp_harness.inference.models.model_files import fingerprint

    began = monotonic()
    # what is written from here on, saved sequences above all, is for this user alone
    os.umask(0o077)
    repack = repacking_works(args.model)
    threads = args.threads or os.cpu_count() or 1
    llama = Llama(
        args.model,
        n_ctx=args.n_ctx + SPARE_CELLS,
        n_seq=SLOTS,
        n_batch=BATCH,
        threads=threads,
        decode_threads=threads,
        n_gpu_layers=args.n_gpu_layers,
        repack=repack,
    )
    # the table that healing looks tokens up in takes half a second to make: now, not at the first keystroke
    llama.spelled(b" ")
    traits = llama.traits()
    # of a sliding window llama.cpp packs only what the end still sees, which a prompt that leaves earlier cannot use
    movable = traits["cuts"] and not traits["window"]
    binding, weights = version("llama-cpp-python"), "repacked" if repack else "plain"
    known = fingerprint(args.model)
    key = f"{processor()}/{binding}/{known}/{weights}/{threads}/{args.n_gpu_layers}/{llama.n_ctx}"
    file = paths.cache() / "machine.json"
    machine = Machine.remembered(file, key)
    if machine is None:
        machine = Machine.measured(
            lambda tokens: llama.decode([Row(0, 0, [token % llama.n_vocab for token in tokens])]),
            lambda: llama.cut(0, 0),
            lambda: llama.move_ms() if movable else None,
        )
        machine.remember(file, key)
    traits["shifts"] = machine.move_ms is not None
    saved, folder, limit = None, paths.cache() / "kv", args.kv_disk * 2**20
    # of other models and earlier settings too: nobody else would ever remove them
    try:
        prune(folder, limit)
        if limit > 0 and movable:
            saved = Saved(llama, folder / f"{known}-{llama.n_ctx}-{binding}", limit)
    except OSError as error:
        sys.stderr.write(f"evaluated prompts cannot be saved for the next start: {error}\n")
    # fused attention passes over what is not its own; without it only few cells should be in use
    hot = llama.n_ctx if llama.fused or not movable else min(HOT, llama.n_ctx)
    kv = Kv(
        llama,
        cells=llama.n_ctx,
        slots=SLOTS,
        spare_cells=SPARE_CELLS,
        spare_slots=SPARE_SLOTS,
        hot=hot,
        cuts=traits["cuts"],
    )
    lot = Lot(llama, kv.context) if hot < llama.n_ctx else None
    shift = Shift(llama, kv, lot, least=args.cache_reuse) if traits["shifts"] else None
    model = Model(llama, kv, machine, saved, lot, shift)
    facts: dict[str, Any] = {
        "model_path": str(args.model),
        "n_ctx_train": llama.n_ctx_train,
        "weights_repacked": repack,
        "threads": threads,
        "memory": traits,
        "load_ms": round((monotonic() - began) * 1000),
    }
    meter = Meter()
    scheduler = Scheduler(model, observer=meter)
    encoder = partial(load_encoder, pooling=args.embedding_pooling)
    embedder = Embedder(args.embedding_model, busy=scheduler.busy, load=encoder)
    name = args.name or args.model.stem
    return Host(model, scheduler, embedder, meter, name=name, order=args.fim_order, facts=facts)


def bind(path: Path) -> socket.socket:
    """A listening socket only this user can open. The caller holds the start lock, so what is there is stale."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(mask)
    listener.listen(128)
    record(path)
    return listener


def tell(descriptor: int, said: dict[str, object]) -> None:
    """The one word to the parent, which may have given up meanwhile: others can still use the engine."""
    if descriptor >= 0:
        with suppress(BrokenPipeError):
            os.write(descriptor, json.dumps(said).encode())
        os.close(descriptor)


def bound(path: Path) -> tuple[int, int]:
    """Tells our socket file from one that a successor made at the same place; (0, 0) when there is none."""
    try:
        info = path.lstat()
    except OSError:
        return 0, 0
    return info.st_ino, info.st_ctime_ns


def open_port(args: argparse.Namespace, engine: "Host", app: "ASGIApp") -> "tuple[ASGIApp, list[socket.socket]]":
    """The application behind its guard, and the TCP listener; neither where no port is asked for or to be had."""
    from lsp_harness.engine.http import access_guard
    from lsp_harness.errors import HarnessError
    from lsp_harness.inference import access_token

    if args.tcp < 0:
        return app, []
    try:
        token, listener = access_token.token(), access_guard.listen(args.tcp)
    except HarnessError as error:
        # a port that is taken must not cost the editors their engine
        engine.facts["tcp_error"] = error.message
        sys.stderr.write(error.message + "\n")
        return app, []
    engine.facts["tcp_port"] = listener.getsockname()[1]
    return access_guard.Guard(app, token), [listener]


async def run(args: argparse.Namespace, engine: "Host", listener: socket.socket, beats: Heartbeat) -> None:
    """Serve until told to stop or idle for `args.idle` seconds."""
    import uvicorn

    from lsp_harness.engine.http.app import make_app

    app, ports = open_port(args, engine, make_app(engine))
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

    async def leave_when_idle() -> None:
        while True:
            left = engine.last_used + args.idle - monotonic()
            if left <= 0 and not engine.scheduler.pending and not engine.embedder.pending:
                server.should_exit = True
                return
            await asyncio.sleep(max(0.05, min(left, 5.0)))

    def leave(*_: object) -> None:
        server.should_exit = True

    # uvicorn raises the signals it was stopped by again: without handlers of ours that would kill us before the end
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    watch = asyncio.create_task(leave_when_idle())
    beats.stop()
    tell(args.ready_fd, {"pid": os.getpid()})
    await server.serve(sockets=[listener, *ports])
    watch.cancel()
    engine.embedder.close()
    engine.scheduler.close()


def main(argv: list[str] | None = None) -> int:
    """Entry point of the process."""
    args = arguments(argv)
    beats = Heartbeat(args.ready_fd)
    try:
        engine = load(args)
        listener = bind(args.socket)
        ours = bound(args.socket)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent must hear one sentence
        beats.stop()
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        tell(args.ready_fd, {"error": message})
        sys.stderr.write(message + "\n")
        return 1
    asyncio.run(run(args, engine, listener, beats))
    # nobody answers here since the server closed: a successor may have bound the path already
    if bound(args.socket) == ours:
        args.socket.unlink(missing_ok=True)
        record_file(args.socket).unlink(missing_ok=True)
    # llama.cpp's own teardown order is not ours to get right; the system takes everything back
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())

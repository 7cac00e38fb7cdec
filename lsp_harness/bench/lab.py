"""What every benchmark runs in: our engine, a llama-server beside it where there is one, and real edits."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.bench.figures import Figure, Result
from lsp_harness.bench.our_engine import BenchEngine, start_engine
from lsp_harness.bench.real_edits import RealEdit, load_real_edits
from lsp_harness.bench.reference_server import PROGRAM_VARIABLE, ReferenceServer, find_program, start_llama_server
from lsp_harness.bench.workspaces import Workspaces, open_workspaces
from lsp_harness.config.load import load

Reporter = Callable[[str], None]
NO_REFERENCE_NOTE = f"no llama-server was given (--anchor or {PROGRAM_VARIABLE}): only our own figures"


@dataclass(frozen=True, slots=True)
class Options:
    """What a run may be told. `limit` 0 is the full size; llama-server does every `anchor_every`-th part of it. `rest`: before
    each edit the cursor rests until its full prompt is evaluated."""

    anchor: Path | None = None
    repo: Path | None = None
    limit: int = 0
    anchor_every: int = 1
    rest: bool = False


@dataclass(slots=True)
class Lab:
    """`props` is what our engine says of itself."""

    ours: BenchEngine
    anchor: ReferenceServer | None
    options: Options
    props: dict[str, Any]
    say: Reporter
    edits: Sequence[RealEdit] = ()
    """Real edits, languages taking turns; none for a benchmark with a text of its own."""
    workspaces: Workspaces = field(default_factory=lambda: Workspaces({}))
    """What is known of the folders that they are of."""
    machine: dict[str, Any] = field(default_factory=dict[str, Any])

    def size(self, full: int) -> int:
        """`full`, or what the user limited it to."""
        return min(full, self.options.limit) if self.options.limit else full

    def anchor_does(self, number: int) -> bool:
        """Whether part `number` is one for llama-server, too."""
        return number % self.options.anchor_every == 0

    def result(
        self, name: str, title: str, figures: Sequence[Figure], *notes: str, series: dict[str, dict[str, list[float]]]
    ) -> Result:
        """With what is known of this run."""
        if self.anchor is None:
            notes = (*notes, NO_REFERENCE_NOTE)
        elif self.options.anchor_every > 1:
            notes = (*notes, f"llama-server did one of {self.options.anchor_every} parts: edits, jumps or keys")
        if self.options.limit:
            notes = (*notes, f"a short run (--limit {self.options.limit}): not a measurement")
        return Result(name, title, figures, notes, series, self.machine)


@asynccontextmanager
async def open_lab(options: Options, say: Reporter, *, replays: bool = True) -> AsyncGenerator[Lab]:
    """Start what is needed; everything is gone afterwards. `replays`: real edits are wanted.

    Raises UsageError, ModelMissing, EngineUnavailable.
    """
    program = find_program(options.anchor)
    # before an engine is started: they may be missing
    edits = load_real_edits(options.repo) if replays else ()
    # other work on the machine shows in every figure: what there was before we began is kept with the result
    load_before = os.getloadavg()[0]
    config, _ = load()
    async with AsyncExitStack() as stack:
        say("starting our engine")
        ours = await stack.enter_async_context(start_engine(config))
        props = await ours.start()
        threads, repack = int(props.get("threads") or os.cpu_count() or 1), bool(props.get("weights_repacked", True))
        anchor: ReferenceServer | None = None
        if program:
            say("starting llama-server")
            running = start_llama_server(
                program, ours.model, threads=threads, n_ctx=config.model.context_length, repack=repack
            )
            anchor = await stack.enter_async_context(running)
        machine: dict[str, Any] = {
            "model": ours.model.name,
            "cores": os.cpu_count(),
            "threads": threads,
            "weights_repacked": repack,
            "context": config.model.context_length,
            "load_before": round(load_before, 2),
        }
        folders = stack.enter_context(open_workspaces(edits, options.repo, say))
        machine["repositories"] = folders.count
        yield Lab(ours, anchor, options, props, say, edits, folders, machine)

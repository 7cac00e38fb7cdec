"""The environment of a benchmark: our engine, a llama-server for comparison if there is one, and real edits."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.engine.figures import Figure, Result
from benchmarks.engine.our_engine import BenchEngine, start_engine
from benchmarks.engine.real_edits import RealEdit, load_real_edits
from benchmarks.engine.reference_server import PROGRAM_VARIABLE, ReferenceServer, find_program, start_llama_server
from benchmarks.engine.workspaces import Workspaces, open_workspaces
from lsp_harness.config.load import load

Reporter = Callable[[str], None]
NO_REFERENCE_NOTE = f"no llama-server was given (--anchor or {PROGRAM_VARIABLE}): only our own figures"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    Attributes:
        anchor: The llama-server for comparison.
        repo: The repository whose edits are used; by default the development set.
        limit: Limit of the size of the run; 0 is the full size.
        anchor_every: llama-server runs every n-th part.
        rest: Before each edit, the cursor rests until its full prompt is evaluated.
    """

    anchor: Path | None = None
    repo: Path | None = None
    limit: int = 0
    anchor_every: int = 1
    rest: bool = False


@dataclass(slots=True)
class Lab:
    """The environment of one run. `props` are the properties that our engine reports."""

    engine: BenchEngine
    reference: ReferenceServer | None
    options: Options
    props: dict[str, Any]
    say: Reporter
    edits: Sequence[RealEdit] = ()
    """Real edits, languages in turn; none for a benchmark that has its own text."""
    workspaces: Workspaces = field(default_factory=lambda: Workspaces({}))
    """The indexes of the folders of the edits."""
    machine: dict[str, Any] = field(default_factory=dict[str, Any])

    def size(self, full: int) -> int:
        """Return `full`, or the limit of the user if it is smaller."""
        return min(full, self.options.limit) if self.options.limit else full

    def runs_on_reference(self, number: int) -> bool:
        """Return whether llama-server runs part `number` too."""
        return number % self.options.anchor_every == 0

    def result(
        self, name: str, title: str, figures: Sequence[Figure], *notes: str, series: dict[str, dict[str, list[float]]]
    ) -> Result:
        """Return a result with the notes and the machine of this run."""
        if self.reference is None:
            notes = (*notes, NO_REFERENCE_NOTE)
        elif self.options.anchor_every > 1:
            notes = (*notes, f"llama-server did one of {self.options.anchor_every} parts: edits, jumps or keys")
        if self.options.limit:
            notes = (*notes, f"a short run (--limit {self.options.limit}): not a measurement")
        return Result(name, title, figures, notes, series, self.machine)


@asynccontextmanager
async def open_lab(options: Options, say: Reporter, *, replays: bool = True) -> AsyncGenerator[Lab]:
    """Start the servers, and end them afterwards.

    Args:
        options: The options of the run.
        say: Receives the progress.
        replays: The benchmark needs real edits.

    Raises:
        UsageError: There are no edits, or an option is wrong.
        ModelMissing: The model is not downloaded.
        EngineUnavailable: A server does not start.
    """
    program = find_program(options.anchor)
    # read before the engine starts, because the edits may be missing
    edits = load_real_edits(options.repo) if replays else ()
    # other work on the machine affects every figure, so the result contains the load before the run
    load_before = os.getloadavg()[0]
    config, _ = load()
    async with AsyncExitStack() as stack:
        say("starting our engine")
        bench_engine = await stack.enter_async_context(start_engine(config))
        props = await bench_engine.start()
        threads, repack = int(props.get("threads") or os.cpu_count() or 1), bool(props.get("weights_repacked", True))
        reference: ReferenceServer | None = None
        if program:
            say("starting llama-server")
            running = start_llama_server(
                program, bench_engine.model, threads=threads, n_ctx=config.model.context_length, repack=repack
            )
            reference = await stack.enter_async_context(running)
        machine: dict[str, Any] = {
            "model": bench_engine.model.name,
            "cores": os.cpu_count(),
            "threads": threads,
            "weights_repacked": repack,
            "context": config.model.context_length,
            "load_before": round(load_before, 2),
        }
        folders = stack.enter_context(open_workspaces(edits, options.repo, say))
        machine["repositories"] = folders.count
        yield Lab(bench_engine, reference, options, props, say, edits, folders, machine)

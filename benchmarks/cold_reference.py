"""Completions of a llama-server that gets the requests of llama.vim, for a comparison on the same cases.

The requests have the values of the plugin's first request at a place: 128 tokens, and 250 ms for the answer after its
first line. `t_max_prompt_ms` is sent, too, although llama-server does not support it. The answer is the first line that
the plugin shows, or all lines if the hole has several, because a hole of one line would otherwise count every further
line as an error.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.engine.reference_server import start_llama_server
from benchmarks.engine.suite.threads import keep_cores_busy
from benchmarks.fim import Case, print_progress
from lsp_harness.config.load import load
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.process.allowed_cores import count_allowed_cores

LIMITS = {"t_max_prompt_ms": 500, "t_max_predict_ms": 250}
MAX_TOKENS = 128


async def measure_reference(
    rows: Sequence[Case], program: Path, keep: Callable[[dict[str, Any]], None], *, busy: bool
) -> None:
    """Request each case from a llama-server, and call `keep` with its answer and time."""
    config, _ = load()
    model = resolve_model(config.model.path)
    threads = count_allowed_cores()
    async with start_llama_server(
        program, model, threads=threads, n_ctx=config.model.context_length, repack=True
    ) as server:
        with keep_cores_busy((os.cpu_count() or 1) if busy else 0):
            for number, case in enumerate(rows):
                before, after = case["input"]["prefix"], case["input"]["suffix"]
                start_s = perf_counter()
                chunks = server.infill(before, after, MAX_TOKENS, limits=LIMITS)
                text = "".join([chunk.text async for chunk in chunks])
                ms = round((perf_counter() - start_s) * 1000)
                keep({"id": case["id"], "answer": choose_shown_text(case, text), "ms": ms})
                print_progress(number, list(rows))


def choose_shown_text(case: Case, text: str) -> str:
    """Return the part of an answer that counts, at the cursor's column and without blank lines at its end."""
    line = case["input"]["prefix"].rpartition("\n")[2]
    if not line.strip():
        # the plugin completes a blank line from its first column
        text = text.removeprefix(line)
    lines = text.rstrip("\n").split("\n")
    # at the end of a line, the answer begins with the line break
    first = next((number for number, text in enumerate(lines) if text.strip()), 0)
    shown_text = "\n".join(lines if "\n" in case["gold"].strip("\n") else lines[: first + 1])
    # the hole is a whole line where the suffix begins one
    is_whole_line = case["input"]["prefix"].endswith("\n") and not case["input"]["suffix"].startswith("\n")
    return f"{shown_text}\n" if is_whole_line else shown_text

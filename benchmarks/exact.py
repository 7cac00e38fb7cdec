"""Comparison of greedy answers of the engine with the model. Every path beside llama-cpp-python's high-level class.

    python -m benchmarks.exact [--prompts 40] [--tokens 48] [--repo PATH] [--json]

Paths: a fresh prompt; a prompt of which the first half was resident; one restored from disk after a SIGKILL; four at
once
in one batch; with drafting from the prompt. The same sums in another order differ in their last bits, and llama.cpp
takes other kernels for small batches than for large ones, so where two tokens are almost equally likely another one may
win. Of each difference the margin is shown by which the reference preferred its token at that place (logits). It is
explained where that is no more than what the size of the batches alone does to margins of the reference itself; else it
is a fault.
"""

import argparse
import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.engine.our_engine import BenchEngine, start_engine
from benchmarks.engine.real_edits import load_real_edits
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError
from lsp_harness.inference.request import Continuation, Owner, Sampling, Usage

CHARACTERS = 480
TOGETHER = 4
HOT = 16
"""Prompts that are resident at the same time, and so on disk after a kill."""
SOME = 16
"""Tokens: fewer than so many reused are the first words that all prompts share."""
PATIENCE = 60.0
"""Seconds an idle engine gets to save what is hot."""


@dataclass
class Outcome:
    """The result of one path: how many answers equal those of the reference, and how many prompts took this path.

    `gaps` has the reference's margin at each difference; `noise` is the largest that counts as a tie.
    """

    path: str
    prompts: int
    equal: int = 0
    taken: int = 0
    noise: float = 0.0
    gaps: list[float] = field(default_factory=list[float])

    @property
    def faults(self) -> int:
        return sum(gap > self.noise for gap in self.gaps)


@dataclass(frozen=True)
class Answer:
    """An answer of the reference: the text and the margin of each token."""

    pieces: list[str]
    margins: list[float]

    def gap(self, others: Sequence[str]) -> float | None:
        """Return the margin of the first token that differs in `others`, or None if all are the same."""
        for other, piece, margin in zip(others, self.pieces, self.margins, strict=False):
            if other != piece:
                return margin
        # one of them ended, by a token without text
        return None if len(others) == len(self.pieces) else self.margins[min(len(others), len(self.margins) - 1)]


@dataclass(frozen=True)
class EngineAnswer:
    """An answer of the engine: the text of each token, and the usage."""

    pieces: list[str]
    usage: Usage


@dataclass(frozen=True)
class Trial:
    """A path over all prompts. `took` says whether an answer used this path."""

    path: str
    answers: Callable[[BenchEngine, Sequence[str], int], Awaitable[list[EngineAnswer]]]
    took: Callable[[Usage], bool]


async def ask(
    ours: BenchEngine, prompt: str, tokens: int, *, lookup: bool = False, persist: bool = False
) -> EngineAnswer:
    """Ask for an answer with the text of each token."""
    sampling = Sampling(n_predict=tokens, lookup=lookup, top_logprobs=1)
    pieces, usage = list[str](), Usage()
    async for chunk in ours.client.stream(Continuation(prompt, sampling, owner=Owner("exact", persist=persist))):
        pieces += [item.text for item in chunk.logprobs]
        usage = chunk.usage
    return EngineAnswer(pieces, usage)


async def ask_once(ours: BenchEngine, prompts: Sequence[str], tokens: int) -> list[EngineAnswer]:
    return [await ask(ours, prompt, tokens) for prompt in prompts]


async def ask_with_drafts(ours: BenchEngine, prompts: Sequence[str], tokens: int) -> list[EngineAnswer]:
    return [await ask(ours, prompt, tokens, lookup=True) for prompt in prompts]


async def ask_twice(ours: BenchEngine, prompts: Sequence[str], tokens: int) -> list[EngineAnswer]:
    answers: list[EngineAnswer] = []
    for prompt in prompts:
        await ask(ours, prompt[: len(prompt) // 2], 0)
        answers.append(await ask(ours, prompt, tokens))
    return answers


async def ask_together(ours: BenchEngine, prompts: Sequence[str], tokens: int) -> list[EngineAnswer]:
    answers: list[EngineAnswer] = []
    for at in range(0, len(prompts), TOGETHER):
        answers += await asyncio.gather(*(ask(ours, prompt, tokens) for prompt in prompts[at : at + TOGETHER]))
    return answers


async def ask_after_restore(ours: BenchEngine, prompts: Sequence[str], tokens: int) -> list[EngineAnswer]:
    answers: list[EngineAnswer] = []
    for at in range(0, len(prompts), HOT):
        group = prompts[at : at + HOT]
        for prompt in group:
            await ask(ours, prompt, 0, persist=True)
        await wait_until_saved(ours, len(group))
        await ours.end(signal.SIGKILL)
        await ours.start()
        answers += [await ask(ours, prompt, tokens, persist=True) for prompt in group]
    return answers


async def wait_until_saved(ours: BenchEngine, wanted: int) -> None:
    """Wait until an engine that was just started has saved so many sequences, or has had time enough."""
    until = monotonic() + PATIENCE
    while monotonic() < until:
        kv: dict[str, Any] = (await ours.client.props()).raw.get("kv") or {}
        if int(kv.get("saved") or 0) >= wanted:
            return
        await asyncio.sleep(0.1)


TRIALS = (
    Trial("fresh", ask_once, lambda usage: usage.reused < SOME),
    Trial("reused prefix", ask_twice, lambda usage: usage.reused >= SOME),
    Trial("restored from disk", ask_after_restore, lambda usage: usage.reused >= SOME),
    Trial("batched beside three others", ask_together, lambda usage: True),
    Trial("with drafting", ask_with_drafts, lambda usage: usage.drafted > 0),
)


def ask_reference(
    ours: BenchEngine, props: dict[str, Any], prompts: Sequence[str], tokens: int
) -> tuple[list[Answer], float]:
    """Ask the reference for its answers, and return them with the largest change of a margin by batch size."""
    asked = {
        "model": str(ours.model),
        "threads": props.get("threads") or 1,
        "context": 2048,
        "repack": props.get("weights_repacked", True),
        "tokens": tokens,
        "prompts": list(prompts),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.reference"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        sys.exit(f"the reference failed: {ran.stderr.strip()[-300:]}")
    said = json.loads(ran.stdout)
    return [Answer(**answer) for answer in said["answers"]], max(said["noise"])


def read_prompts_from(repo: Path | None, count: int) -> list[str]:
    """Return beginnings of real files, each with a different first line, so that none continues another."""
    edits = load_real_edits(repo)
    texts = [(edit.before + edit.text + edit.after)[:CHARACTERS].rstrip() for edit in edits]
    return [f"// {number}\n{texts[number % len(texts)]}" for number in range(count)]


@asynccontextmanager
async def start_new_engine() -> AsyncGenerator[tuple[BenchEngine, dict[str, Any]]]:
    async with start_engine(load()[0]) as ours:
        yield ours, await ours.start()


async def measure(prompts: Sequence[str], tokens: int, say: Callable[[str], None]) -> list[Outcome]:
    """Measure each path on its own empty engine."""
    async with start_new_engine() as (ours, props):
        say("reference")
        expected, noise = await asyncio.to_thread(ask_reference, ours, props, prompts, tokens)
    outcomes: list[Outcome] = []
    for trial in TRIALS:
        say(trial.path)
        async with start_new_engine() as (ours, _):
            answers = await trial.answers(ours, prompts, tokens)
            outcome = Outcome(
                trial.path, len(prompts), taken=sum(trial.took(answer.usage) for answer in answers), noise=noise
            )
            for answer, right in zip(answers, expected, strict=True):
                gap = right.gap(answer.pieces)
                if gap is None:
                    outcome.equal += 1
                else:
                    outcome.gaps.append(gap)
        outcomes.append(outcome)
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--repo", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        prompts = read_prompts_from(args.repo, args.prompts)
        outcomes = asyncio.run(measure(prompts, args.tokens, lambda text: print(text, file=sys.stderr)))
    except HarnessError as error:
        sys.exit(error.message)
    if args.json:
        print(json.dumps([asdict(outcome) | {"faults": outcome.faults} for outcome in outcomes], indent=2))
        return
    for outcome in outcomes:
        gaps = ", ".join(f"{value:.3f}" for value in sorted(outcome.gaps))
        print(
            f"{outcome.path}: {outcome.equal} of {outcome.prompts} equal, {outcome.taken} took this path, "
            f"{len(outcome.gaps)} differ{f' (gaps {gaps})' if gaps else ''}, {outcome.faults} by more than the "
            f"{outcome.noise:.3f} that batch sizes do to the reference"
        )


if __name__ == "__main__":
    main()

"""Whether cells that were moved to other positions are worth having: after a small jump, shifted against fresh.

    python -m tests.benchmarks.shift --out shift

For each hole of one line in fim_repo (`LSP_HARNESS_EVAL_DATA`, see docs/benchmarks.md): the prompt of a cursor `JUMP`
lines above is evaluated, then the hole's own, once from the beginning and once with the longest run of near-prefix tokens
that both have moved from the first (`llama_memory_seq_add`), everything else of it evaluated. The layout is the
completion pipeline's, with the indentation before the cursor left to the model. Greedy, the first line. Into the folder
go `fresh.jsonl` and `shifted.jsonl` for the set's own scorer; printed are tokens and times.
"""

import argparse
import asyncio
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from time import perf_counter

import llama_cpp as lib

from lsp_harness.config.load import load
from lsp_harness.context.infill import infill
from lsp_harness.inference.decode.fim import assemble
from lsp_harness.inference.decode.llama import Llama, Row
from lsp_harness.inference.models.place import resolve
from lsp_harness.inference.request import Around, Infill
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from tests.benchmarks.fim import Case, progress, save
from tests.benchmarks.healing import lines

JUMP = 6
LEAST = 32
"""Tokens of a run that is worth moving."""
TOKENS = 48
HERE, ASIDE = 0, 1


@dataclass(frozen=True)
class Prompt:
    tokens: Sequence[int]
    near: int
    """Where the near prefix begins."""


@dataclass(frozen=True)
class Outcome:
    text: str
    evaluated: int
    ms: float


class Bench:
    def __init__(self, llama: Llama) -> None:
        self.llama = llama
        self.settings = load()[0].completion

    async def prompt(self, row: Case, jump: int = 0) -> Prompt:
        prefix: str = row["input"]["prefix"].rstrip(" \t")
        document = Document.of(f"file:///{row['input']['path']}", row["input"]["prefix"] + row["input"]["suffix"])
        offset = len(encode(prefix))
        if jump:
            offset = document.line_span(max(0, document.line_of(offset) - jump))[1]

        async def count(texts: Sequence[str]) -> list[int]:
            return [len(self.llama.tokenize(text)) for text in texts]

        made = await infill(document, parse(document), offset, row["input"]["path"], self.settings, count)
        around = Around(made.prefix.text, made.suffix.text, made.extra)
        [given] = assemble(self.llama, Infill(around, heal=False), "suffix-first").prompts
        return Prompt(given.tokens, len(given.tokens) - len(self.llama.tokenize(made.prefix.text)))

    def read(self, tokens: Sequence[int], at: int) -> None:
        """Evaluate `tokens` at position `at`."""
        for start in range(0, len(tokens), self.llama.n_batch):
            self.llama.decode([Row(HERE, at + start, tokens[start : start + self.llama.n_batch])])

    def answer(self, at: int, last: int) -> str:
        """Greedy, up to the end of the first line with text; `last` is the number of the last token in its batch."""
        data = b""
        for position in range(at, at + TOKENS):
            token = int(self.llama.logits(last).argmax())
            data += self.llama.piece(token)
            if self.llama.ends(token) or b"\n" in data.lstrip(b"\n"):
                break
            self.llama.decode([Row(HERE, position, [token])])
            last = 0
        return data.decode("utf-8", "replace").lstrip("\n").split("\n", 1)[0].strip()

    def fresh(self, prompt: Prompt) -> Outcome:
        return self._outcome(prompt, 0, 0)

    def shifted(self, before: Prompt, now: Prompt) -> Outcome | None:
        """None where the two have no run worth moving, or share it as a common prefix anyway."""
        old, new = before.tokens[before.near :], now.tokens[now.near :]
        run = SequenceMatcher(None, old, new, autojunk=False).find_longest_match()
        source, target = before.near + run.a, now.near + run.b
        # the last token is always evaluated: its logits are wanted
        size = min(run.size, len(now.tokens) - 1 - target)
        if size < LEAST or source == target:
            return None
        self._outcome(before, 0, 0)
        memory = self.llama.memory
        assert memory
        self.llama.copy(HERE, ASIDE, source + size)
        self.llama.cut(HERE, 0)
        lib.llama_memory_seq_rm(memory, ASIDE, 0, source)
        lib.llama_memory_seq_add(memory, ASIDE, source, source + size, target - source)
        return self._outcome(now, target, size)

    def _outcome(self, prompt: Prompt, target: int, size: int) -> Outcome:
        """Evaluate a prompt of which `size` tokens from `target` on may lie aside, and answer."""
        began = perf_counter()
        self.llama.cut(HERE, 0)
        if size:
            self.read(prompt.tokens[:target], 0)
            assert self.llama.memory
            lib.llama_memory_seq_cp(self.llama.memory, ASIDE, HERE, target, target + size)
            self.llama.cut(ASIDE, 0)
        rest = prompt.tokens[target + size :]
        self.read(rest, target + size)
        ms = (perf_counter() - began) * 1000
        text = self.answer(len(prompt.tokens), (len(rest) - 1) % self.llama.n_batch)
        return Outcome(text, target + len(rest), ms)


async def run(bench: Bench, rows: list[Case], out: Path) -> None:
    answers: dict[str, list[dict[str, str]]] = {"fresh": [], "shifted": []}
    pairs: list[tuple[Outcome, Outcome]] = []
    for row in rows:
        now = await bench.prompt(row)
        moved = bench.shifted(await bench.prompt(row, JUMP), now)
        if moved is None:
            continue
        pairs.append((bench.fresh(now), moved))
        for name, outcome in zip(answers, pairs[-1], strict=True):
            answers[name].append({"id": row["id"], "answer": outcome.text})
        progress(len(pairs) - 1, rows)
    if not pairs:
        sys.exit("no case has a run worth moving: take more of them with --limit")
    out.mkdir(parents=True, exist_ok=True)
    for number, (name, given) in enumerate(answers.items()):
        save(out / f"{name}.jsonl", given)
        ms = statistics.median(pair[number].ms for pair in pairs)
        evaluated = statistics.median(pair[number].evaluated for pair in pairs)
        print(f"{name}: {len(pairs)} cases, {evaluated:.0f} tokens evaluated, {ms:.0f} ms to read the prompt (medians)")
    print(f"the same line in {sum(a.text == b.text for a, b in pairs)} of {len(pairs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--repack", action="store_true", help="not on machines where repacked weights crash")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = lines("fim_repo")
    llama = Llama(
        resolve(load()[0].model.path),
        n_ctx=8192,
        n_seq=4,
        n_batch=256,
        threads=2,
        n_gpu_layers=0,
        decode_threads=2,
        repack=args.repack,
    )
    asyncio.run(run(Bench(llama), rows[: args.limit] if args.limit else rows, args.out))


if __name__ == "__main__":
    main()

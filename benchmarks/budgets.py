"""Budgets of prompts, counted by the model's own tokenizer, at random places with random shares.

    python -m benchmarks.budgets [--places 1000] [--seed 1]

Files and repositories are those of `fim_repo`, read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). Of each
prompt, every rung of it (and of that of an edit of the function there): its parts' tokens and the marks between them
are together the tokens the engine would evaluate; no part is more than its share; no part begins or ends within a line,
but for the two at the cursor, or within a character.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.edit_budgets import EditJudge
from benchmarks.repository import read_repositories, write_checkout
from lsp_harness.config.load import load
from lsp_harness.config.schema import Completion
from lsp_harness.context.infill_prompt import InfillPrompt, build_prompt_ladder
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.engine.decode.fim_prompt import tokenize_infill
from lsp_harness.engine.decode.llama import Llama
from lsp_harness.errors import NoAnswer
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_executor import DirectExecutor
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.inference.infill_text import heal
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.request import Infill
from lsp_harness.store.database import DatabaseReader, DatabaseWriter
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor

SHARES = {
    "prefix_tokens": (0, 1024),
    "suffix_tokens": (0, 512),
    "outline_tokens": (0, 768),
    "repository_tokens": (0, 1536),
}


class Judge:
    """The counts of faults in prompts, by kind."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama
        self.wrong: dict[str, int] = {"sum": 0, "over a share": 0, "within a line": 0, "not in the text": 0}
        self.prompts = 0
        self.tokens = list[int]()
        self.estimated = list[int]()

    def count(self, text: str) -> int:
        return len(self._llama.vocabulary.tokenize(text))

    def look(self, prompt: InfillPrompt, shares: Completion, text: str) -> None:
        self.prompts += 1
        [evaluated] = tokenize_infill(self._llama.vocabulary, Infill(prompt.engine_input), "suffix-first").prompts
        parts = [self.count(part) for _, part in prompt.extra_files]
        parts += [self.count(prompt.suffix.text), self.count(heal(prompt.prefix.text)[0])]
        self.tokens.append(len(evaluated.tokens))
        self.estimated.append(prompt.tokens)
        self.wrong["sum"] += len(evaluated.tokens) != len(self._llama.vocabulary.bos_tokens) + 3 + sum(parts)
        repository = sum(self.count(one.text) for one in prompt.repository)
        self.wrong["over a share"] += (
            repository > shares.repository_tokens
            or self.count(prompt.outline.text) > shares.outline_tokens
            or self.count(prompt.suffix.text) > shares.suffix_tokens
            or self.count(prompt.prefix.text) > shares.prefix_tokens
        )
        whole = (part.endswith("\n") for _, part in prompt.extra_files)
        self.wrong["within a line"] += not all(whole)
        self.wrong["not in the text"] += prompt.prefix.text + prompt.suffix.text not in text


async def run(places: int, seed: int) -> None:
    config, _ = load()
    chance = random.Random(seed)
    path = resolve_model(config.model.path)
    llama = Llama(path, n_ctx=256, n_seq=1, n_batch=64, threads=1, n_gpu_layers=0)
    judge, edits = Judge(llama), EditJudge(llama)

    async def count(texts: Sequence[str]) -> list[int]:
        return [judge.count(text) for text in texts]

    texts = read_repositories()
    for repo, files in sorted(texts.items()):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / repo
            write_checkout(root, files)
            database = root.parent / "index.db"
            with (
                closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
                closing(Indexer(root, writer)) as indexer,
            ):
                indexer.scan()
            with closing(DatabaseReader(database)) as reader:
                for _ in range(places // len(texts)):
                    name = chance.choice(sorted(files))
                    document = Document.from_text((root / name).as_uri(), files[name])
                    shares = replace(
                        config.completion, **{key: chance.randint(*limits) for key, limits in SHARES.items()}
                    )
                    offset = chance.randint(0, len(document.data))
                    while document.data[offset : offset + 1] and document.data[offset] & 0xC0 == 0x80:
                        offset += 1
                    tree = parse(document)
                    if tree:
                        await edits.look(tree, offset, name, IndexQuery(DirectExecutor(reader)), count, chance)
                    elsewhere = RepositoryContext(IndexQuery(DirectExecutor(reader)), count)
                    cursor = Cursor(document, tree, offset, name)
                    fragments = await elsewhere.find_fragments(cursor, shares.repository_tokens)
                    try:
                        rungs = await build_prompt_ladder(cursor, shares, 256, count, repository=fragments)
                    except NoAnswer:
                        continue
                    for rung in rungs:
                        judge.look(rung, shares, files[name])
        print(f"\r{judge.prompts} prompts ", end="", flush=True)
    over = sum(judge.estimated) / max(1, sum(judge.tokens))
    print(
        f"\r{judge.prompts} prompts at {places} places, {sum(judge.tokens):,} tokens; costs as counted before: "
        f"{over:.3f} of that"
    )
    print(f"{edits.prompts} prompts of edits, {sum(edits.tokens):,} tokens")
    for kind, count_ in (judge.wrong | edits.wrong).items():
        print(f"{kind}: {count_}")
    llama.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    asyncio.run(run(args.places, args.seed))


if __name__ == "__main__":
    main()

"""Completion with what other files say, beside the same without: same model, same places, prompts evaluated before they
are asked.

    python -m benchmarks.repository fim_repo --arm none ours ring --out FOLDER

Cases and repositories are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md); score the answers with that set's
own scorer. A case is an open document with the cursor in the hole, in a folder with the whole repository, whose index
does not have the document's own text. The arms: `none` (the file alone), `ours`, and `ring` (chunks of the other files
of the same folder, as an editor extension keeps of what was looked at last: 64 lines each, the nearest file by name
first, in the same budget). Of `fim_cceval`, whose cases bring pieces of other files along, the folder has these pieces,
those of one file in one. Each answer is written to `FOLDER/<arm>.jsonl` as it comes, with whether one of the files that
define what the hole needs was in the prompt; of each case one arm is asked after the other, and a run with the same
folder goes on where the last one ended. How much can be said in time depends on the machine: a longer
`completion.latency_ms` (in the user's settings) compares what is said.
"""

import argparse
import asyncio
import json
import lzma
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.fim import LANGUAGES, Case, print_progress, read_cases
from lsp_harness.completion.completer import Completer
from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.context.fragment import Fragment, TokenCounter
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_executor import DirectExecutor
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.inference.client import Engine
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.process.background_permit import BackgroundPermit
from lsp_harness.store.database import DatabaseReader, DatabaseWriter
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor
from tests.support.desk import Desk

ARMS = ["none", "ours", "ring"]
Known = dict[str, dict[str, dict[str, Any]]]
"""Answers by arm and case."""
FOUND_IN = "# the below code fragment can be found in:"
CHUNK = 64
"""Lines of a chunk of the ring."""


class Ring(RepositoryContext):
    """A context source with the beginnings of the other files of the folder."""

    def __init__(self, root: Path, count: TokenCounter) -> None:
        super().__init__(IndexQuery(DirectExecutor(DatabaseReader(root / "none.db"))), count)
        self._root = root
        self._tokens = count

    async def of(
        self, document: Document, tree: SyntaxTree | None, offset: int, path: str, budget: int, *, rests: bool
    ) -> tuple[Fragment, ...]:
        here = self._root / path
        beside = sorted(file for file in here.parent.iterdir() if file.is_file() and file.suffix == here.suffix)
        near = sorted(beside, key=lambda file: abs(beside.index(file) - beside.index(here)))
        fragments: list[Fragment] = []
        for file in near[1:]:
            lines = [f"{line}\n" for line in file.read_text().split("\n")[:CHUNK]]
            costs = await self._tokens(lines)
            while costs and sum(costs) > budget:
                costs.pop()
            if costs:
                budget -= sum(costs)
                fragments.append(Fragment("".join(lines[: len(costs)]), sum(costs), file.name, "looked at"))
        return tuple(fragments)


def split_cross_files(cross: str) -> dict[str, str]:
    """Return the pieces of other files that a case has, joined by file."""
    found: dict[str, list[str]] = defaultdict(list)
    for piece in cross.split(f"{FOUND_IN}\n")[1:]:
        path, *lines = [line[2:] for line in piece.strip().split("\n") if line.startswith("#")]
        found[path] += [*lines, ""]
    return {path: "\n".join(lines) for path, lines in found.items()}


def group_folders_by_name(rows: list[Case]) -> dict[str, dict[str, str]]:
    """Return the name of a folder → the path and the text of each of its files."""
    if not any("cross" in row["input"] for row in rows):
        return read_repositories()
    for row in rows:
        row["input"]["repo"] = row["id"].replace("/", "-")
    return {row["input"]["repo"]: split_cross_files(row["input"]["cross"]) for row in rows}


def read_repositories() -> dict[str, dict[str, str]]:
    """Return repository → path → text."""
    file = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", "../shared/data/dev")) / "repos_fim.jsonl.xz"
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[row["repo"]][row["path"]] = row["text"]
    return found


def write_checkout(root: Path, files: Mapping[str, str]) -> None:
    """Write the files of a repository into a folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


async def answer_case(
    engine: Engine, config: Config, root: Path, elsewhere: RepositoryContext | None, case: Case
) -> dict[str, Any]:
    given, language = case["input"], LANGUAGES.get(case["lang"], case["lang"])
    data, offset = encode(given["prefix"] + given["suffix"]), len(encode(given["prefix"]))
    document = Document.from_text((root / given["path"]).as_uri(), data, language=language or "")
    tree = parse(document)
    completer = Desk(Completer(engine, config.completion, background=BackgroundPermit(), repository=elsewhere))
    try:
        completer.warm(document, tree, offset, given["path"])
        await completer.settled(document.uri)
        began = perf_counter()
        found = await completer.complete(document, tree, offset, given["path"])
        seconds = perf_counter() - began
    finally:
        await completer.aclose()
    cursor, tokens = Cursor(document, tree, offset, given["path"]), config.completion.repository_tokens
    shown = await elsewhere.find_fragments(cursor, tokens) if elsewhere else ()
    wanted = set(case["meta"].get("defined_in") or ())
    return {
        "id": case["id"],
        "answer": found.text if found else "",
        "ms": round(seconds * 1000),
        "evaluated": found.stats["evaluated"] if found else 0,
        "rung": found.stats.get("rung", 0) if found else 0,
        "tokens": sum(fragment.tokens for fragment in shown),
        "defined": bool(wanted & {fragment.origin for fragment in shown}) if wanted else None,
    }


async def run(rows: list[Case], arms: list[str], known: Known, keep: Callable[[str, dict[str, Any]], None]) -> None:
    config, _ = load()
    engine = make_engine(config)
    texts = group_folders_by_name(rows)
    done = 0
    for repo in sorted({row["input"]["repo"] for row in rows}):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / repo
            write_checkout(root, texts[repo])
            database = root.parent / "index.db"
            with (
                closing(DatabaseWriter(database, SCHEMA, read_schema_version())) as writer,
                closing(Indexer(root, writer)) as indexer,
            ):
                indexer.scan()
                for row in (row for row in rows if row["input"]["repo"] == repo):
                    # the document is not indexed as it was committed
                    file = root / row["input"]["path"]
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(row["input"]["prefix"] + row["input"]["suffix"])
                    indexer.scan()
                    with closing(DatabaseReader(database)) as reader:
                        for arm in (arm for arm in arms if row["id"] not in known[arm]):
                            elsewhere = {
                                "none": lambda: None,
                                "ours": lambda reader=reader: RepositoryContext(
                                    IndexQuery(DirectExecutor(reader)), engine.count
                                ),
                                "ring": lambda root=root: Ring(root, engine.count),
                            }[arm]()
                            keep(arm, await answer_case(engine, config, root, elsewhere, row))
                    file.write_text(texts[repo].get(row["input"]["path"], ""))
                    print_progress(done := done + 1, rows)
    await engine.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", default="fim_repo")
    parser.add_argument("--arm", choices=ARMS, nargs="+", required=True)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    rows = read_cases(args.set, smoke=args.smoke, limit=args.limit)
    args.out.mkdir(exist_ok=True)
    files = {arm: args.out / f"{arm}.jsonl" for arm in args.arm}
    known: Known = {
        arm: {row["id"]: row for row in map(json.loads, file.read_text().splitlines())} if file.exists() else {}
        for arm, file in files.items()
    }

    def keep(arm: str, answer: dict[str, Any]) -> None:
        known[arm][answer["id"]] = answer
        with files[arm].open("a") as out:
            out.write(json.dumps(answer) + "\n")

    wanted = [row for row in rows if any(row["id"] not in known[arm] for arm in args.arm)]
    asyncio.run(run(wanted, args.arm, known, keep))
    sys.stderr.write("\n")
    for arm in args.arm:
        answers = [known[arm][row["id"]] for row in rows]
        defined = [answer["defined"] for answer in answers if answer["defined"] is not None]
        print(
            f"{args.set}, {arm}: {len(answers)} answers, {statistics.median(a['ms'] for a in answers):.0f} ms median, "
            f"{statistics.mean(a['tokens'] for a in answers):.0f} tokens of other files, {sum(defined)} of "
            f"{len(defined)} "
            f"with a file that defines what the hole needs"
        )


if __name__ == "__main__":
    main()

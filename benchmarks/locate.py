"""The share of tasks whose code comes first: by the index alone, and by a model's choice among eight.

    python -m benchmarks.locate [--words] [--model]            the tasks of locate_tasks.py over the repositories
    of `repos_fim` python -m benchmarks.locate --queries [--words] [--model]  the queries of `search_repodoc`,
    over its documents

Data are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). Vectors are made by the engine, unless with
`--words`. The model is that of the settings, and is asked with `--model`. The difference is given with a paired
bootstrap of 10,000 samples.
"""

import argparse
import asyncio
import json
import lzma
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.fim import read_cases
from benchmarks.locate_tasks import TASKS
from benchmarks.retrieval import Place, compute_confidence_interval, find_data_folder, find_nearest, read_documents
from lsp_harness.coding.location.task_location import TaskPlace, choose_place, find_task_places
from lsp_harness.config.load import load
from lsp_harness.index.index_executor import DirectExecutor
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.client import Engine
from lsp_harness.inference.embedding_recipe import make_recipe
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode

Right = Callable[[TaskPlace], bool]


def read_repositories() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with lzma.open(find_data_folder() / "repos_fim.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[row["repo"]][row["path"]] = row["text"]
    return found


def read_tasks(*, queries: bool) -> Iterator[tuple[Mapping[str, str], list[tuple[str, Right]]]]:
    """Yield the texts of each folder with its tasks."""
    if not queries:
        for name, texts in read_repositories().items():
            mine = [(task, path, names) for repo, task, path, names in TASKS if repo == name]
            yield texts, [(task, match_expected_places(path, names)) for task, path, names in mine]
        return
    rows = read_cases("search_repodoc", smoke=False, limit=0)
    files = read_documents(rows[0]["input"]["corpus"])

    def gold(ids: list[str]) -> Right:
        def right(one: TaskPlace) -> bool:
            file = files[one.path]
            start = Document.from_text("file:///it.py", encode(file.text)).line_starts[one.first - 1]
            return file.at(start) in ids

        return right

    yield (
        {path: file.text for path, file in files.items()},
        [(row["input"]["query"], gold(row["gold"])) for row in rows],
    )


def match_expected_places(path: str, names: str) -> Right:
    return lambda one: one.path in path.split("|") and one.symbol in names.split("|")


@contextmanager
def index_texts(texts: Mapping[str, str]) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), texts)
        yield place
        place.close()


async def measure_locations(engine: Engine, *, queries: bool, words: bool, model: bool) -> None:
    config, _ = load()
    ranks, first, chosen, times = list[int](), list[bool](), list[bool](), list[float]()
    for texts, tasks in read_tasks(queries=queries):
        with index_texts(texts) as place:
            if not words:
                await place.embed(engine, make_recipe(config.index))
            close = (
                {}
                if words
                else await find_nearest(place, engine, make_recipe(config.index), [task for task, _ in tasks])
            )

            def text(path: str, texts: Mapping[str, str] = texts) -> Document:
                return Document.from_text(f"file:///{path}", encode(texts[path]))

            for task, right in tasks:
                task_places = await find_task_places(
                    IndexQuery(DirectExecutor(place.reader)), "", task, text, close.get(task, ())
                )
                if task_places is None:
                    sys.exit(f"nothing was found for {task!r}")
                ranks.append(next((n for n, one in enumerate(task_places.candidates) if right(one)), -1))
                began = perf_counter()
                picked = (
                    await choose_place(engine, task, task_places, config.context.task_budget) if model else task_places
                )
                times.append(perf_counter() - began)
                first.append(ranks[-1] == 0)
                chosen.append(right(picked.best))
                shown = f"{picked.best.place} {picked.best.symbol}"
                print(f"{ranks[-1]:2} {'✓' if first[-1] else '✗'}{'✓' if chosen[-1] else '✗'} {task[:70]:70} {shown}")
    among, top = statistics.fmean(rank >= 0 for rank in ranks), statistics.fmean(first)
    print(f"{len(ranks)} tasks: {top:.3f} first by the index, {among:.3f} among the candidates")
    if not model:
        return
    low, high = compute_confidence_interval([float(a) - float(b) for a, b in zip(chosen, first, strict=True)])
    print(
        f"{statistics.fmean(chosen):.3f} first by the model ({low:+.3f} … {high:+.3f}), which takes "
        f"{statistics.median(times):.2f} s"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", action="store_true")
    parser.add_argument("--words", action="store_true", help="without vectors")
    parser.add_argument("--model", action="store_true", help="ask the model as well")
    args = parser.parse_args()
    engine = make_engine(load()[0])
    try:
        await measure_locations(engine, queries=args.queries, words=args.words, model=args.model)
    finally:
        await engine.aclose()


if __name__ == "__main__":
    asyncio.run(main())

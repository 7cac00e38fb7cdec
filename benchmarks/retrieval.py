"""Search quality: our words alone, beside words, names and vectors together.

    python -m benchmarks.retrieval search_repodoc search_cosqa [--words]
    python -m benchmarks.retrieval locate_swelite

Cases and documents are read from `LSP_HARNESS_EVAL_DATA` (see docs/benchmarks.md). Documents whose ids say of which
file and class they are stand there in the index as they do in their project, but for those that are part of another;
every other is a file by itself. Vectors are made by the engine with the model of the settings (not with `--words`). MRR
counts the first right document among ten; the interval is a paired bootstrap of 10,000 samples over the same cases.
Times are those of a query on the index alone, embedding it apart, in this process. For `locate_swelite` the answer is
files, and recall is that of the first five.
"""

import argparse
import asyncio
import gzip
import json
import lzma
import os
import random
import statistics
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.fim import Case, read_cases
from lsp_harness.config.load import load
from lsp_harness.files.walk import WalkedFile
from lsp_harness.harness.indexes.embedding_index import MAX_NEAREST
from lsp_harness.index.builder.chunks import make_embedding_text
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.index.query.code_search import CodeSearch, SearchRequest
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.store.database import DatabaseReader, DatabaseWriter
from lsp_harness.text.position import encode

Ranked = Callable[[str, Sequence[bytes]], list[str]]
SAMPLES = 10_000


def find_data_folder() -> Path:
    return Path(os.environ.get("LSP_HARNESS_EVAL_DATA", "../shared/data/dev"))


@dataclass
class File:
    """A file of the index, and the places of the documents in it."""

    text: str = ""
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    ids: list[str] = field(default_factory=list[str])
    names: set[str] = field(default_factory=set[str])

    def add(self, id: str, text: str, name: str = "") -> None:
        """Add a document. `name` is dotted, with the class of a method."""
        around = name.rpartition(".")[0]
        if around in self.names:
            return
        self.names.add(name)
        if around and text[:1].isspace():
            self.text += f"class {around.rpartition('.')[2]}:\n"
        self.starts.append(len(encode(self.text)))
        self.ids.append(id)
        self.text += f"{text}\n"
        self.ends.append(len(encode(self.text)))
        self.text += "\n\n"

    def at(self, offset: int) -> str:
        """Return the document that contains these bytes, or an empty text outside of all methods."""
        n = bisect_right(self.starts, offset) - 1
        return self.ids[n] if n >= 0 and offset < self.ends[n] else ""


def read_documents(corpus: str) -> dict[str, File]:
    """Return path → document of the set."""
    found: dict[str, File] = defaultdict(File)
    with gzip.open(find_data_folder() / corpus, "rt", encoding="utf-8") as lines:
        for n, row in enumerate(map(json.loads, lines)):
            project, path, name, *_ = [*row["id"].split(":"), "", ""]
            if name:
                found[f"{project}/{path}"].add(row["id"], row["text"], name)
            else:
                found[f"{n}/code.py"].add(row["id"], row["text"])
    return found


class Place:
    """An index of some texts, and the vectors of what they declare."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        self.folder = folder
        with closing(DatabaseWriter(folder / "index.db", SCHEMA, read_schema_version())) as writer:
            filling = IndexWriter(writer)
            filling.write(extract_file(WalkedFile(path, 1, len(text)), encode(text)) for path, text in texts.items())
            filling.link_imports(ImportLinks(filling.files, lambda path: ""))
        self.reader = DatabaseReader(folder / "index.db")
        self.search = CodeSearch(self.reader)
        self.vectors = Vectors(folder)

    async def embed(self, engine: Any, how: EmbeddingRecipe) -> None:
        rows = self.reader.rows(
            "SELECT digest, names, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE digest != x'' "
            "GROUP BY digest"
        )
        for at in range(0, len(rows), 64):
            batch = {key: make_embedding_text(names, text) for key, names, text in rows[at : at + 64]}
            made = await engine.embed([how.document_prefix + text for text in batch.values()], max_tokens=how.tokens)
            self.vectors.add(how.name, dict(zip(batch, made, strict=True)), len(rows))
            print(f"\r{at + len(batch)}/{len(rows)} embedded ", end="", flush=True)

    def close(self) -> None:
        self.reader.close()
        self.vectors.close()


async def find_nearest(
    place: Place, engine: Any, how: EmbeddingRecipe, queries: Sequence[str]
) -> dict[str, list[bytes]]:
    """Return the nearest texts of each query."""
    found: dict[str, list[bytes]] = {}
    for query in queries:
        [vector] = await engine.embed([how.query_prefix + query], max_tokens=how.tokens)
        found[query] = place.vectors.find_nearest(vector, MAX_NEAREST)
    return found


def compute_reciprocal_rank(answer: Sequence[str], gold: Sequence[str]) -> float:
    return next((1 / rank for rank, one in enumerate(answer[:10], 1) if one in gold), 0.0)


def compute_confidence_interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean."""
    chance = random.Random(1)
    means = sorted(statistics.fmean(chance.choices(differences, k=len(differences))) for _ in range(SAMPLES))
    return means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES)]


def measure_ranking(
    rows: Sequence[Case], rank: Ranked, close: Mapping[str, list[bytes]]
) -> tuple[list[float], list[float]]:
    """Return the reciprocal ranks, and the milliseconds."""
    scores, times = list[float](), list[float]()
    for row in rows:
        query = row["input"]["query"]
        began = perf_counter()
        answer = rank(query, close.get(query, []))
        times.append((perf_counter() - began) * 1000)
        scores.append(compute_reciprocal_rank(answer, row["gold"]))
    return scores, times


async def measure_search(name: str, *, words: bool) -> None:
    rows = read_cases(name, smoke=False, limit=0)
    found = read_documents(rows[0]["input"]["corpus"])
    config, _ = load()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), {path: file.text for path, file in found.items()})

        def ids(hits: Sequence[Any]) -> list[str]:
            return list(dict.fromkeys(id for hit in hits if (id := found[hit.path].at(hit.start))))

        ways: dict[str, tuple[Ranked, Mapping[str, list[bytes]]]] = {
            "words (BM25)": (
                lambda query, _: ids(place.search.fuse_rankings([place.search.rank_by_words(query)], 20)),
                {},
            ),
            "names and words": (lambda query, _: ids(place.search.search(SearchRequest(query))), {}),
        }
        if not words:
            engine = make_engine(config)
            how = make_recipe(config.index)
            await place.embed(engine, how)
            close = await find_nearest(place, engine, how, [row["input"]["query"] for row in rows])
            ways["vectors"] = (
                lambda _, nearest: ids(place.search.fuse_rankings([place.search.rank_by_meaning(nearest)], 20)),
                close,
            )
            ways["all"] = (
                lambda query, nearest: ids(place.search.search(SearchRequest(query, nearest_digests=nearest))),
                close,
            )
            await engine.aclose()
        count = sum(len(file.ids) for file in found.values())
        print(f"\r{name}: {len(rows)} queries, {count:,} documents")
        print("| | MRR@10 | against words, 95 % | query p50, p95 ms |\n| --- | --- | --- | --- |")
        floor: list[float] = []
        for way, (rank, close) in ways.items():
            scores, times = measure_ranking(rows, rank, close)
            floor = floor or scores
            low, high = compute_confidence_interval([a - b for a, b in zip(scores, floor, strict=True)])
            times.sort()
            p50, p95 = times[len(times) // 2], times[int(0.95 * len(times))]
            print(f"| {way} | {statistics.fmean(scores):.3f} | {low:+.3f} … {high:+.3f} | {p50:.1f}, {p95:.1f} |")
        place.close()


def read_blobs() -> Iterator[tuple[str, str]]:
    with lzma.open(find_data_folder() / "blobs_swelite.jsonl.xz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield row["id"], row["text"]


def measure_location(name: str) -> None:
    rows, texts = read_cases(name, smoke=False, limit=0), dict(read_blobs())
    with gzip.open(find_data_folder() / "trees_swelite.json.gz", "rt", encoding="utf-8") as file:
        trees = json.load(file)
    scores, found, times = list[float](), list[bool](), list[float]()
    for row in rows:
        tree = trees[row["id"].split("/", 1)[1]]
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), {path: texts[blob] for path, blob in tree.items()})
            began = perf_counter()
            answer = [hit.path for hit in place.search.rank_files(SearchRequest(row["input"]["issue"], 10))]
            times.append((perf_counter() - began) * 1000)
            place.close()
        scores.append(compute_reciprocal_rank(answer, row["gold"]))
        found.append(bool(set(answer[:5]) & set(row["gold"])))
        print(f"{'✓' if found[-1] else '✗'} {row['id']} {row['gold']} {answer[:5]}")
    print(
        f"{name}: {len(rows)} issues, recall@5 {statistics.fmean(found):.2f}, MRR@10 {statistics.fmean(scores):.3f}, "
        f"{statistics.median(times):.0f} ms median"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--words", action="store_true", help="without vectors")
    args = parser.parse_args()
    for name in args.sets:
        if name.startswith("locate"):
            measure_location(name)
        else:
            asyncio.run(measure_search(name, words=args.words))


if __name__ == "__main__":
    main()

"""What `doctor` says of the index of a folder: what it holds, by what each language is known, and whether what code means is
searched as well, or names and words alone."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from lsp_harness.cli.index_report import told
from lsp_harness.cli.nearest_texts import EMBED
from lsp_harness.config.load import user_config_file
from lsp_harness.config.schema import Config, Index
from lsp_harness.engine.embed.in_process import InProcessEmbedder
from lsp_harness.errors import HarnessError, ModelError
from lsp_harness.harness.engines import is_own_engine
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.languages.language_table import optional_languages
from lsp_harness.store.database import Reader
from lsp_harness.syntax.grammars import detect_language_name, language_named
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.text.wording import format_count

Row = tuple[str, str, str]
"""State, what it is about, what is said."""

WORDS = "search uses names and words only (BM25)"
PULL = "lsp-harness model pull all-minilm-l6-v2"
EXTRA = "pip install 'lsp-harness[languages]'"


def rows(where: IndexPlace, config: Config) -> Iterator[Row]:
    """Raises StoreError where the index is damaged."""
    found = told(where)
    if not found["files"]:
        yield "ok", "index", "this folder has no index yet; it is made when an editor opens the folder"
    else:
        yield (
            "ok",
            "index",
            f"{format_count(found['files'], 'file')} of this folder, {format_count(found['symbols'], 'symbol')}",
        )
        yield from _languages(where, found["languages"])
    yield _embeddings(where, config)


def _languages(where: IndexPlace, counts: Mapping[str, int]) -> Iterator[Row]:
    by: dict[tag_queries.DeclarationSource, Counter[str]] = {
        "queries": Counter(),
        "tags": Counter(),
        "lines": Counter(),
    }
    for name, count in counts.items():
        if language := language_named(name):
            by[tag_queries.declaration_source(language)][name] += count
    optional = optional_languages()
    unfit = sorted(name for name in by["lines"] if name in optional)
    by["lines"] += (texts := _texts(where))
    if by["queries"]:
        yield "ok", "languages", f"declarations and imports are known in {_listed(by['queries'])}"
    if by["tags"]:
        says = f"declarations but no imports are known in {_listed(by['tags'])}"
        yield "ok", "languages", says
    if by["lines"]:
        says = f"no declarations are known, only lines, in {_listed(by['lines'])}"
        if unfit:
            says += f"; the installed grammar for {', '.join(unfit)} does not fit its tags"
        if wanted := sorted(name for name in texts if name in optional and optional[name].has_fitting_tags):
            says += f"; for {', '.join(wanted)}: {EXTRA}"
        yield "note", "languages", says


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def _texts(where: IndexPlace) -> Counter[str]:
    """The files in languages that we cannot parse, by what their names say they are."""
    with closing(Reader(where.database)) as reader:
        paths = reader.rows("SELECT path FROM files WHERE language = '' AND skipped = ''")
    return Counter(detect_language_name(path) or "text" for (path,) in paths)


def _embeddings(where: IndexPlace, config: Config) -> Row:
    try:
        how = make_recipe(config.index)
        asked = asyncio.run(_tried(config.index, how))
    except ModelError as error:
        mend = "" if "model pull" in error.message else f" ({PULL})"
        return "note", "embeddings", f"{WORDS}: {error.message}{mend}"
    except HarnessError as error:
        return "note", "embeddings", f"{WORDS}: {error.message}"
    return _vectors(where, how, asked, _apart(config))


async def _tried(settings: Index, how: EmbeddingRecipe) -> list[float]:
    """The vector of a query: that a file is there does not say that it can be used."""
    with closing(InProcessEmbedder(settings)) as model:
        [vector] = await model.embed([f"{how.query_prefix}parse config"], max_tokens=how.tokens, priority="interactive")
    return vector


def _apart(config: Config) -> str:
    """Why editors neither make vectors nor ask for them; empty where they do."""
    if not is_own_engine(config):
        named = " and ".join(f"engine.{key}" for key in ("url", "model", "script") if getattr(config.engine, key))
        return (
            f"{named} is set, and editors make vectors with the local engine only; remove it from {user_config_file()}"
        )
    try:
        resolve_model(config.model.path, "completion")
    except HarnessError as error:
        return error.message
    return ""


def _vectors(where: IndexPlace, how: EmbeddingRecipe, asked: Sequence[float], apart: str) -> Row:
    """What there are, and who goes by them; `asked` is the vector of a query, `apart` why editors do not."""
    with closing(Vectors(where.folder)) as vectors, closing(Reader(where.database)) as reader:
        texts = {text for (text,) in reader.rows("SELECT DISTINCT digest FROM chunks WHERE digest != x''")}
        made, count = vectors.read_model(), len(texts.intersection(vectors.read_digests().values()))
        damaged = count and not (vectors.is_sound() and vectors.find_nearest(asked, 1))
    later = EMBED if apart else f"{EMBED}, or an editor while its engine is in use,"
    if damaged:
        return "note", "embeddings", f"{WORDS}: the vectors are damaged; {EMBED} makes new ones"
    if made and made[0] != how.name:
        says = f"the vectors were made by {model_name(made[0])} with other settings; {later} makes new ones with {how.model}"
        return "note", "embeddings", f"{WORDS}: {says}"
    if not made or not count:
        says = f"{how.model} works, but none of {format_count(len(texts), 'text')} has a vector yet; {later} makes them"
        return "note" if texts else "ok", "embeddings", f"{WORDS} so far: {says}"
    says = f"{how.model}, {made[1]} dimensions: {count:,} of {len(texts):,} texts have a vector"
    if count < len(texts):
        says += f" ({later} makes the missing ones)"
    if apart:
        return "note", "embeddings", f"{says}; the command line uses them, but editors do not: {apart}"
    return "ok", "embeddings", f"{says}; search and edits by instruction use them"

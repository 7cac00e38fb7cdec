"""The contents of an index: files, languages, vectors with their model, and whether a process updates it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from lsp_harness.config.load import find_user_config_file
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, StoreError
from lsp_harness.index.index_contents import IndexContents
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.target import is_own_engine
from lsp_harness.languages.language_table import optional_languages
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.project.vectors import embed_test_query
from lsp_harness.syntax.grammars import detect_language_name, language_named
from lsp_harness.syntax.symbols.tag_queries import declaration_source


@dataclass(frozen=True, slots=True)
class VectorStatus:
    """The vectors of an index: the model that made them, the length of each, and their number."""

    model: str
    dimensions: int
    count: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The contents of an index.

    Attributes:
        size_bytes: The size of the database; 0 if there is none.
        is_updated: Whether a process keeps the index up to date at the moment.
        vectors: None if the index has no vectors, or if they are damaged.
    """

    place: IndexPlace
    contents: IndexContents
    size_bytes: int
    is_updated: bool
    vectors: VectorStatus | None


async def read_index_status(place: IndexPlace) -> IndexStatus:
    """Return the status of an index. An index that does not exist has no files.

    Raises:
        StoreError: The index is damaged.
    """
    with open_index(place.database) as index:
        contents = await index.contents(place.root.as_uri())
    size_bytes = place.database.stat().st_size if place.database.exists() else 0
    return IndexStatus(place, contents, size_bytes, is_locked(place.lock), _read_vector_status(place))


def _read_vector_status(place: IndexPlace) -> VectorStatus | None:
    # the next completion replaces damaged vectors
    with closing(Vectors(place.folder)) as vectors, suppress(StoreError):
        if model := vectors.read_model():
            return VectorStatus(model_name(model[0]), model[1], len(vectors.read_digests()))
    return None


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """An embedding model that works, and the vectors of a folder.

    Attributes:
        model: The model of the settings.
        other_model: The model that made the present vectors with other settings; empty if these settings made them.
        dimensions: The length of the vectors; 0 if there are none.
        texts: The number of texts in the index.
        embedded_texts: The number of these texts that have a vector.
        is_damaged: Whether the vectors cannot be read.
        editor_problem: Why editors neither make nor use vectors; empty if they do.
    """

    model: str
    other_model: str
    dimensions: int
    texts: int
    embedded_texts: int
    is_damaged: bool
    editor_problem: str


async def read_embedding_status(place: IndexPlace, config: Config) -> EmbeddingStatus:
    """Embed a short query with the model of the settings, and count the vectors of a folder.

    Raises:
        ConfigError: A setting of the embedding is not valid.
        ModelError: The model cannot be used.
        StoreError: The index is damaged.
    """
    recipe = make_recipe(config.index)
    query_vector = await embed_test_query(config, recipe)
    return await _read_vectors(place, recipe, query_vector, _editor_problem(config))


async def _read_vectors(
    place: IndexPlace, recipe: EmbeddingRecipe, query_vector: Sequence[float], editor_problem: str
) -> EmbeddingStatus:
    with closing(Vectors(place.folder)) as vectors, open_index(place.database) as index:
        texts = set(await index.text_digests(place.root.as_uri()))
        stored_model = vectors.read_model()
        embedded = texts.intersection(vectors.read_digests().values())
        # a file of the right size may still have rows that cannot be searched
        is_damaged = bool(embedded) and not (vectors.is_sound() and vectors.find_nearest(query_vector, 1))
    return EmbeddingStatus(
        model=recipe.model,
        other_model=model_name(stored_model[0]) if stored_model and stored_model[0] != recipe.name else "",
        dimensions=stored_model[1] if stored_model else 0,
        texts=len(texts),
        embedded_texts=len(embedded),
        is_damaged=is_damaged,
        editor_problem=editor_problem,
    )


def _editor_problem(config: Config) -> str:
    """Return why editors neither make nor use vectors; empty if they do."""
    if not is_own_engine(config):
        settings = " and ".join(f"engine.{key}" for key in ("url", "model", "script") if getattr(config.engine, key))
        return (
            f"{settings} is set, and editors make vectors with the local engine only; "
            f"remove it from {find_user_config_file()}"
        )
    try:
        resolve_model(config.model.path, "completion")
    except HarnessError as error:
        return error.message
    return ""


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """Numbers of files by language, the most frequent language first.

    Attributes:
        with_imports: Files whose declarations and imports are known.
        with_declarations: Files whose declarations are known, but not their imports.
        lines_only: Files of which only the lines are known.
        unfit_grammars: Languages of `lines_only` whose installed grammar does not fit its tags.
        installable: Languages of `lines_only` whose grammar can be installed with the extra `languages`.
    """

    with_imports: Mapping[str, int]
    with_declarations: Mapping[str, int]
    lines_only: Mapping[str, int]
    unfit_grammars: tuple[str, ...]
    installable: tuple[str, ...]


async def read_language_coverage(status: IndexStatus) -> LanguageCoverage:
    """Return the coverage of an index.

    Raises:
        StoreError: The index is damaged.
    """
    with_imports, with_declarations, lines_only = Counter[str](), Counter[str](), Counter[str]()
    counters = {"queries": with_imports, "tags": with_declarations, "lines": lines_only}
    for name, count in status.contents.languages.items():
        if language := language_named(name):
            counters[declaration_source(language)][name] += count
    optional = optional_languages()
    unfit_grammars = sorted(name for name in lines_only if name in optional)
    unparsed = await _count_unparsed_files(status)
    lines_only += unparsed
    installable = sorted(name for name in unparsed if name in optional and optional[name].has_fitting_tags)
    return LanguageCoverage(
        dict(with_imports.most_common()),
        dict(with_declarations.most_common()),
        dict(lines_only.most_common()),
        tuple(unfit_grammars),
        tuple(installable),
    )


async def _count_unparsed_files(status: IndexStatus) -> Counter[str]:
    """Return the number of files without a grammar, by the language that their names suggest."""
    with open_index(status.place.database) as index:
        paths = await index.unparsed_paths(status.place.root.as_uri())
    return Counter(detect_language_name(path) or "text" for path in paths)

"""The way in which texts become vectors by the settings: the model, the prefix of a text, and the name of the vectors.

Vectors that were made in different ways have different names, so they are never mixed. The client writes the prefix
before a text; the engine only embeds. The import is cheap, because the harness needs it at start.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from lsp_harness.config.schema import Index
from lsp_harness.errors import ConfigError, ModelError
from lsp_harness.inference.embedding_request import MAX_TOKENS
from lsp_harness.inference.models.catalogue import cards
from lsp_harness.inference.models.gguf import GgufHeader, read_header
from lsp_harness.inference.models.model_files import fingerprint, resolve_model

POOLINGS = ("auto", "mean", "cls", "last")
"""Ways to combine the vectors of the tokens of a text. `auto` is the way that the model file names."""
PREFIXES = (
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    # e5 models that follow instructions need a sentence of the user instead
    (r"\be5-(?!.*(mistral|instruct))", "query: ", "passage: "),
    (r"\bbge-(small|base|large)-en\b", "Represent this sentence for searching relevant passages: ", ""),
)
"""Pattern of the model name, and the prefixes for queries and documents with which such models were trained.

Other models need none.
"""


@dataclass(frozen=True, slots=True)
class EmbeddingRecipe:
    """How texts become vectors.

    Attributes:
        model: The name of the model in the settings.
        key: A hash of the model file and of the settings on which document vectors depend.
        tokens: The number of tokens of a text that are used.
    """

    model: str
    key: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    tokens: int = 128

    @property
    def name(self) -> str:
        """Return the name under which vectors are stored. They do not depend on the prefix of queries."""
        return f"{self.model} {self.key}"


def pooling_or_auto(settings: Index) -> str:
    """Return the pooling for the start of an engine.

    A wrong value counts as `auto`, because it must not start another engine.
    """
    return settings.embedding_pooling if settings.embedding_pooling in POOLINGS else "auto"


def make_recipe(settings: Index) -> EmbeddingRecipe:
    """Return the recipe for the settings.

    Raises:
        ConfigError: A setting is not valid.
        ModelError: The model cannot be read or makes no vectors.
    """
    pooling, tokens = settings.embedding_pooling, settings.embedding_tokens
    if pooling not in POOLINGS:
        raise ConfigError(f"index.embedding_pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
    if not 1 <= tokens <= MAX_TOKENS:
        raise ConfigError(f"index.embedding_tokens must be between 1 and {MAX_TOKENS}, not {tokens}")
    name = settings.embedding_model
    path = resolve_model(name, "embedding")
    try:
        file = path.stat()
        query, document = _find_prefixes(name, path, file.st_size, file.st_mtime_ns, pooling)
        model_hash = _hash_file(path, file.st_size, file.st_mtime_ns)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    if settings.embedding_query_prefix != "auto":
        query = settings.embedding_query_prefix
    if settings.embedding_document_prefix != "auto":
        document = settings.embedding_document_prefix
    key = blake2b(repr((model_hash, document, pooling, tokens)).encode(), digest_size=8)
    return EmbeddingRecipe(name, key.hexdigest(), query, document, tokens)


def model_name(name: str) -> str:
    """Return the model of an `EmbeddingRecipe.name`."""
    return name.rpartition(" ")[0] or name


@lru_cache(maxsize=8)
def _find_prefixes(name: str, path: Path, size: int, time: int, pooling: str) -> tuple[str, str]:
    """Return the prefixes for queries and documents. Raise ModelError for a model that makes no vectors."""
    if any(card.name == name for card in cards()):
        return _trained_prefixes(name)
    header = read_header(path)
    if pooling == "auto" and header.pooling in ("", "rank"):
        raise ModelError(f"{path.name} is not an embedding model: set index.embedding_model to an embedding model")
    return _trained_prefixes(_header_names(header), path.stem)


def _header_names(header: GgufHeader) -> str:
    return " ".join(header.text(f"general.{key}") for key in ("name", "basename"))


def _trained_prefixes(*names: str) -> tuple[str, str]:
    for name in names:
        # `Nomic Embed Text v1.5`, `multilingual_e5_small`
        spelling = re.sub(r"[\s_]+", "-", name.lower())
        for pattern, query, document in PREFIXES:
            if re.search(pattern, spelling):
                return query, document
    return "", ""


@lru_cache(maxsize=8)
def _hash_file(path: Path, size: int, time: int) -> str:
    return fingerprint(path)

"""How the settings have texts made into vectors: by which model, with what before a text, and under which name the vectors
are kept, so that those of two ways are never mixed.

The engine embeds what it is sent, so a prefix is written by who asks. Cheap to import: the harness does.
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
"""How the vectors of a text's tokens become one; `auto` as the file says."""
PREFIXES = (
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    # those that follow instructions want a sentence of the user's own
    (r"\be5-(?!.*(mistral|instruct))", "query: ", "passage: "),
    (r"\bbge-(small|base|large)-en\b", "Represent this sentence for searching relevant passages: ", ""),
)
"""What a model of such a name was trained to find before a query, and before a document; others nothing."""


@dataclass(frozen=True, slots=True)
class EmbeddingRecipe:
    """`model` is what the settings call it; `key` tells it from the same name with another file or another way."""

    model: str
    key: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    tokens: int = 128

    @property
    def name(self) -> str:
        """What vectors are kept under. The prefix of queries is not in it: what is kept does not depend on it."""
        return f"{self.model} {self.key}"


def pooling_or_auto(settings: Index) -> str:
    """What an engine is started with: what is no pooling embeds nothing, and is no reason for another engine."""
    return settings.embedding_pooling if settings.embedding_pooling in POOLINGS else "auto"


def make_recipe(settings: Index) -> EmbeddingRecipe:
    """Raises ConfigError, or ModelError where the model cannot be had or gives no vectors."""
    pooling, tokens = settings.embedding_pooling, settings.embedding_tokens
    if pooling not in POOLINGS:
        raise ConfigError(f"index.embedding_pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}")
    if not 1 <= tokens <= MAX_TOKENS:
        raise ConfigError(f"index.embedding_tokens must be between 1 and {MAX_TOKENS}, not {tokens}")
    name = settings.embedding_model
    path = resolve_model(name, "embedding")
    try:
        file = path.stat()
        query, document = _prefixes(name, path, file.st_size, file.st_mtime_ns, pooling)
        known = _fingerprint(path, file.st_size, file.st_mtime_ns)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    if settings.embedding_query_prefix != "auto":
        query = settings.embedding_query_prefix
    if settings.embedding_document_prefix != "auto":
        document = settings.embedding_document_prefix
    made = blake2b(repr((known, document, pooling, tokens)).encode(), digest_size=8)
    return EmbeddingRecipe(name, made.hexdigest(), query, document, tokens)


def model_name(name: str) -> str:
    """The model of `Recipe.name`."""
    return name.rpartition(" ")[0] or name


@lru_cache(maxsize=8)
def _prefixes(name: str, path: Path, size: int, time: int, pooling: str) -> tuple[str, str]:
    """Before a query and before a document. Raises ModelError for a file that gives no vectors."""
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
        spelled = re.sub(r"[\s_]+", "-", name.lower())
        for pattern, query, document in PREFIXES:
            if re.search(pattern, spelled):
                return query, document
    return "", ""


@lru_cache(maxsize=8)
def _fingerprint(path: Path, size: int, time: int) -> str:
    return fingerprint(path)

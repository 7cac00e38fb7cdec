"""Reader of the header of a GGUF file, versions 2 and 3. It does not read the data of the tensors.

`gguf.GGUFReader` needs half a minute and a gigabyte of memory for the header of the default model (ADR 17). This reader
skips arrays and keeps scalars and texts. It scans the vocabulary for the fill-in-the-middle tokens, because many files
do not name them in their metadata.

The layout is "GGUF", u32 version, u64 number of tensors, u64 number of pairs; then pairs of key, u32 type and value;
then one entry for each tensor. A text is a u64 length in bytes and UTF-8. An array is a u32 type, a u64 count and the
elements. All numbers are little-endian.

The keys and texts of fill-in-the-middle tokens are those of llama.cpp. The first text of a role in this order that
exists wins, because a vocabulary may contain tokens of another family.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError, ModelError

GGUF_MAGIC = b"GGUF"
"""The first bytes of a model file."""
FIM_KEYS: Mapping[str, tuple[str, ...]] = {
    "prefix": ("fim_pre_token_id", "prefix_token_id"),
    "suffix": ("fim_suf_token_id", "suffix_token_id"),
    "middle": ("fim_mid_token_id", "middle_token_id"),
    "pad": ("fim_pad_token_id",),
    "repository": ("fim_rep_token_id",),
    "file": ("fim_sep_token_id",),
}
"""Role → keys below `tokenizer.ggml`, the newer name first."""

FIM_TEXTS: Mapping[str, tuple[str, ...]] = {
    "prefix": (
        "<|fim_prefix|>",
        "<fim_prefix>",
        "<fim-prefix>",
        "<|code_prefix|>",
        "<\uff5cfim\u2581begin\uff5c>",
        "\u2581<PRE>",
        "<PRE>",
    ),
    "suffix": (
        "<|fim_suffix|>",
        "<fim_suffix>",
        "<fim-suffix>",
        "<|code_suffix|>",
        "<\uff5cfim\u2581hole\uff5c>",
        "\u2581<SUF>",
        "<SUF>",
    ),
    "middle": (
        "<|fim_middle|>",
        "<fim_middle>",
        "<fim-middle>",
        "<|code_middle|>",
        "<\uff5cfim\u2581end\uff5c>",
        "\u2581<MID>",
        "<MID>",
    ),
    "pad": ("<|fim_pad|>", "<fim_pad>", "<fim-pad>", "<PAD>"),
    "repository": ("<|repo_name|>", "<|fim_repo|>", "<reponame>", "<fim-repo>", "<REPO>"),
    "file": ("<|file_sep|>",),
}

ROLE_BY_TEXT: Mapping[bytes, str] = {text.encode(): role for role, texts in FIM_TEXTS.items() for text in texts}


@dataclass(frozen=True, slots=True)
class FimToken:
    """A token with a role. `is_named` says that the metadata names it; otherwise its text was recognised."""

    text: str
    id: int
    is_named: bool


STRING, ARRAY, BOOL = 8, 9, 7
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d"}
"""GGUF type → format of `struct`."""
POOLINGS = {1: "mean", 2: "cls", 3: "last", 4: "rank"}
MAX_PAIRS, MAX_TENSORS, MAX_ELEMENTS, MAX_TEXT_BYTES = 1 << 16, 1 << 20, 1 << 22, 1 << 26
"""Limits far above any real header. Without them a damaged header could keep the reader busy for minutes."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The header of a GGUF file.

    Attributes:
        version: The version of the format.
        tensors: The number of tensors.
        bytes: The size of the file.
        metadata: The scalars and texts by key.
        lengths: The lengths of the arrays by key.
        fim: The fill-in-the-middle tokens by role: prefix, suffix, middle, and if they exist: pad, repository, file.
    """

    version: int
    tensors: int
    bytes: int
    metadata: Mapping[str, int | float | bool | str]
    lengths: Mapping[str, int]
    fim: Mapping[str, FimToken]

    @property
    def architecture(self) -> str:
        return self.text("general.architecture")

    @property
    def context_length(self) -> int:
        return self.number("context_length")

    @property
    def embedding_length(self) -> int:
        return self.number("embedding_length")

    @property
    def layers(self) -> int:
        return self.number("block_count")

    @property
    def vocabulary(self) -> int:
        """Return the number of tokens in the vocabulary."""
        return self.lengths.get("tokenizer.ggml.tokens", 0)

    @property
    def pooling(self) -> str:
        """Return how an embedding model combines the vectors of the tokens, or an empty text for another model."""
        kind = self.metadata.get(f"{self.architecture}.pooling_type", 0)
        return POOLINGS.get(kind, "") if isinstance(kind, int) else ""

    @property
    def chat_template(self) -> str:
        return self.text("tokenizer.chat_template")

    def text(self, key: str) -> str:
        """Return a text of the metadata, or an empty text if the key does not exist."""
        value = self.metadata.get(key, "")
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int:
        """Return the whole number that the metadata has for `key` below the name of the architecture, or 0."""
        value = self.metadata.get(f"{self.architecture}.{key}", 0)
        return value if isinstance(value, int) else 0


def read_header(path: Path) -> GgufHeader:
    """Return the header of a file. Raise ModelError, which says what is wrong with the file."""
    try:
        with open_regular(path) as file:
            if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
                raise ModelError(f"{path} is not a GGUF file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _HeaderReader(data).read()
    except FileError as error:
        raise ModelError(error.message) from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    except _DamagedHeader as error:
        raise ModelError(f"{path} is damaged: {error}") from error


class _DamagedHeader(Exception):
    """The header contradicts the format or the size of the file."""


class _HeaderReader:
    """Reads the header from the position after the magic number on."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.position = 4
        self.vocabulary_start = 0
        """Position of the first token of the vocabulary."""
        self.recognised: dict[str, FimToken] = {}

    def read(self) -> GgufHeader:
        """Return the header."""
        version = self.scalar("<I")
        if version not in (2, 3):
            raise _DamagedHeader(f"the file has GGUF version {version}, and only versions 2 and 3 can be read")
        tensors = self.count("<Q", MAX_TENSORS, "tensors")
        pairs = self.count("<Q", MAX_PAIRS, "metadata")
        metadata: dict[str, int | float | bool | str] = {}
        lengths: dict[str, int] = {}
        for _ in range(pairs):
            key = self.string()
            kind = self.scalar("<I")
            if kind == ARRAY:
                lengths[key] = self.array(key)
            else:
                metadata[key] = self.string() if kind == STRING else self.scalar(self.format(kind))
        fim = self.fim_tokens(metadata, lengths.get("tokenizer.ggml.tokens", 0))
        alignment = metadata.get("general.alignment", 32)
        self.check_tensors(tensors, alignment if isinstance(alignment, int) and alignment > 0 else 32)
        return GgufHeader(version, tensors, len(self.data), metadata, lengths, fim)

    def scalar(self, form: str) -> int:
        """Read a number in a format of `struct`."""
        # the type is int because most values are; floats and booleans are only stored in the metadata
        try:
            (value,) = struct.unpack_from(form, self.data, self.position)
        except struct.error:
            raise _DamagedHeader(
                "the file ends in the middle of its header, so it is incomplete; download it again"
            ) from None
        self.position += struct.calcsize(form)
        return value

    def format(self, kind: int) -> str:
        """Return the format of `struct` for a GGUF type."""
        if kind not in SCALARS:
            raise _DamagedHeader(f"the file names a type {kind}, which GGUF does not have; download it again")
        return SCALARS[kind]

    def count(self, form: str, limit: int, unit: str) -> int:
        """Read a number that must not be above `limit`."""
        value = self.scalar(form)
        if value > limit:
            raise _DamagedHeader(f"the file claims {value} {unit}, which is too many; download it again")
        return value

    def skip(self, size: int) -> None:
        """Move the position by `size` bytes."""
        self.position += size
        if self.position > len(self.data):
            raise _DamagedHeader("the file ends in the middle of its header, so it is incomplete; download it again")

    def string(self) -> str:
        """Read a text."""
        size = self.count("<Q", MAX_TEXT_BYTES, "bytes of text")
        start = self.position
        self.skip(size)
        return self.data[start : self.position].decode("utf-8", "replace")

    def array(self, key: str) -> int:
        """Skip an array, and return its length."""
        kind = self.scalar("<I")
        count = self.count("<Q", MAX_ELEMENTS, "elements")
        if kind != STRING:
            self.skip(count * struct.calcsize(self.format(kind)))
        elif key == "tokenizer.ggml.tokens":
            self.vocabulary_start = self.position
            self.scan_vocabulary(count)
        else:
            self.skip_strings(count)
        return count

    def skip_strings(self, count: int) -> None:
        """Skip texts."""
        # without method calls: for the 150,000 merges of a vocabulary they would take half a second
        data, position, unpack = self.data, self.position, struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                position += 8 + unpack(data, position)[0]
        except (struct.error, OverflowError):
            position = len(data) + 1
        self.position = 0
        self.skip(position)

    def scan_vocabulary(self, count: int) -> None:
        """Skip the vocabulary and recognise known tokens on the way.

        The order of the texts of a role decides, then the id.
        """
        data, position, unpack = self.data, self.position, struct.Struct("<Q").unpack_from
        max_size = max(map(len, ROLE_BY_TEXT))
        try:
            for index in range(count):
                size = unpack(data, position)[0]
                position += 8 + size
                if size <= max_size and (token := data[position - size : position]) in ROLE_BY_TEXT:
                    self.recognise(ROLE_BY_TEXT[token], token.decode(), index)
        except (struct.error, OverflowError):
            position = len(data) + 1
        self.position = 0
        self.skip(position)

    def recognise(self, role: str, text: str, index: int) -> None:
        """Store a token of the vocabulary if its text is the best one for its role so far."""
        rank = FIM_TEXTS[role].index
        if role not in self.recognised or rank(text) < rank(self.recognised[role].text):
            self.recognised[role] = FimToken(text, index, is_named=False)

    def fim_tokens(self, metadata: Mapping[str, object], vocabulary: int) -> Mapping[str, FimToken]:
        """Return the fill-in-the-middle tokens: those that the metadata names, or else those that were recognised."""
        ids_by_role: dict[str, int] = {}
        for role, keys in FIM_KEYS.items():
            for key in reversed(keys):
                index = metadata.get(f"tokenizer.ggml.{key}")
                if isinstance(index, int) and 0 <= index < vocabulary:
                    ids_by_role[role] = index
        texts = self.token_texts(set(ids_by_role.values()))
        tokens = {role: FimToken(texts[index], index, is_named=True) for role, index in ids_by_role.items()}
        return {role: token for role in FIM_KEYS if (token := tokens.get(role) or self.recognised.get(role))}

    def token_texts(self, indices: set[int]) -> dict[int, str]:
        """Return the texts of tokens. This scans the vocabulary again, because the ids come after it in the file."""
        end, self.position = self.position, self.vocabulary_start
        texts: dict[int, str] = {}
        for index in range(max(indices, default=-1) + 1):
            size = self.scalar("<Q")
            if index in indices:
                texts[index] = self.data[self.position : self.position + size].decode("utf-8", "replace")
            self.skip(size)
        self.position = end
        return texts

    def check_tensors(self, tensors: int, alignment: int) -> None:
        """Check that the file contains the last tensor, because a download that was cut off has a complete header."""
        last_offset = 0
        for _ in range(tensors):
            self.string()
            self.skip(8 * self.count("<I", 8, "dimensions of a tensor"))
            self.scalar("<I")
            last_offset = max(last_offset, self.scalar("<Q"))
        start = -(-self.position // alignment) * alignment
        if tensors and start + last_offset >= len(self.data):
            raise _DamagedHeader("the file ends before its last tensor, so it is incomplete; download it again")

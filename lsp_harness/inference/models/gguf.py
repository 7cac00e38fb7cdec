"""What a GGUF file says about itself: a small reader of the header of versions 2 and 3, and nothing of the tensors' data.

The `gguf` package would do, but it makes a numpy object of each of 150,000 vocabulary entries and would be one more thing
to install. This reader steps over arrays and keeps scalars and strings; of the vocabulary it looks for the few
fill-in-the-middle tokens, since many files do not name them in their metadata.

Layout: "GGUF", u32 version, u64 tensors, u64 pairs; then pairs of key, u32 type, value; then one entry a tensor. Strings
are a u64 length and UTF-8; arrays a u32 type, a u64 count and the elements. Little-endian.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError, ModelError
from lsp_harness.inference.models.fim_tokens import FIM_KEYS, FIM_TEXTS, ROLE_BY_TEXT, FimToken

STRING, ARRAY, BOOL = 8, 9, 7
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", BOOL: "<?", 10: "<Q", 11: "<q", 12: "<d"}
POOLINGS = {1: "mean", 2: "cls", 3: "last", 4: "rank"}
MAX_PAIRS, MAX_TENSORS, MAX_ELEMENTS, MAX_TEXT_BYTES = 1 << 16, 1 << 20, 1 << 22, 1 << 26
"""No real header comes near; a damaged one would otherwise keep us counting for minutes."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Scalars and strings of the metadata by key; arrays only by their length."""

    version: int
    tensors: int
    bytes: int
    metadata: Mapping[str, int | float | bool | str]
    lengths: Mapping[str, int]
    fim: Mapping[str, FimToken]
    """By role: prefix, suffix, middle, and where there are such: pad, repository, file."""

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
        return self.lengths.get("tokenizer.ggml.tokens", 0)

    @property
    def pooling(self) -> str:
        """How an embedding model makes one vector of a text; empty for other models."""
        kind = self.metadata.get(f"{self.architecture}.pooling_type", 0)
        return POOLINGS.get(kind, "") if isinstance(kind, int) else ""

    @property
    def chat_template(self) -> str:
        return self.text("tokenizer.chat_template")

    def text(self, key: str) -> str:
        value = self.metadata.get(key, "")
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int:
        """A number that the metadata keeps under the architecture's name; 0 if it does not."""
        value = self.metadata.get(f"{self.architecture}.{key}", 0)
        return value if isinstance(value, int) else 0


def read_header(path: Path) -> GgufHeader:
    """Read the header of the file, or raise a ModelError that says what is wrong with it."""
    try:
        with open_regular(path) as file:
            if file.read(4) != b"GGUF":
                raise ModelError(f"{path} is not a GGUF file")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _HeaderReader(data).header()
    except FileError as error:
        raise ModelError(error.message) from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    except _DamagedHeader as error:
        raise ModelError(f"{path} is damaged: {error}") from error


class _DamagedHeader(Exception):
    """What the header says cannot be."""


class _HeaderReader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 4
        self.tokens = 0
        """Where the vocabulary's elements begin."""
        self.seen: dict[str, FimToken] = {}

    def header(self) -> GgufHeader:
        version = self.scalar("<I")
        if version not in (2, 3):
            raise _DamagedHeader(f"it has GGUF version {version}, and only 2 and 3 can be read")
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
        fim = self.fim(metadata, lengths.get("tokenizer.ggml.tokens", 0))
        alignment = metadata.get("general.alignment", 32)
        self.check_tensors(tensors, alignment if isinstance(alignment, int) and alignment > 0 else 32)
        return GgufHeader(version, tensors, len(self.data), metadata, lengths, fim)

    def scalar(self, form: str) -> int:
        # Typed as int, the most common; floats and booleans only ever travel on into the metadata.
        try:
            (value,) = struct.unpack_from(form, self.data, self.at)
        except struct.error:
            raise _DamagedHeader("it ends in the middle of the header") from None
        self.at += struct.calcsize(form)
        return value

    def format(self, kind: int) -> str:
        if kind not in SCALARS:
            raise _DamagedHeader(f"it names a type {kind}, which GGUF does not have")
        return SCALARS[kind]

    def count(self, form: str, most: int, what: str) -> int:
        value = self.scalar(form)
        if value > most:
            raise _DamagedHeader(f"it claims {value} {what}")
        return value

    def skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self.data):
            raise _DamagedHeader("it ends in the middle of the header")

    def string(self) -> str:
        size = self.count("<Q", MAX_TEXT_BYTES, "bytes of text")
        start = self.at
        self.skip(size)
        return self.data[start : self.at].decode("utf-8", "replace")

    def array(self, key: str) -> int:
        """Step over an array; returns its length."""
        kind = self.scalar("<I")
        count = self.count("<Q", MAX_ELEMENTS, "elements")
        if kind != STRING:
            self.skip(count * struct.calcsize(self.format(kind)))
        elif key == "tokenizer.ggml.tokens":
            self.tokens = self.at
            self.vocabulary(count)
        else:
            self.strings(count)
        return count

    def strings(self, count: int) -> None:
        # Spelled out: called for 150,000 merges, and three method calls each would take half a second.
        data, at, unpack = self.data, self.at, struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                at += 8 + unpack(data, at)[0]
        except (struct.error, OverflowError):
            at = len(data) + 1
        self.at = 0
        self.skip(at)

    def vocabulary(self, count: int) -> None:
        """The same walk, with an eye on the well-known tokens. The order of a family's spellings decides, then the id."""
        data, at, unpack = self.data, self.at, struct.Struct("<Q").unpack_from
        longest = max(map(len, ROLE_BY_TEXT))
        try:
            for index in range(count):
                size = unpack(data, at)[0]
                at += 8 + size
                if size <= longest and (token := data[at - size : at]) in ROLE_BY_TEXT:
                    self.recognise(ROLE_BY_TEXT[token], token.decode(), index)
        except (struct.error, OverflowError):
            at = len(data) + 1
        self.at = 0
        self.skip(at)

    def recognise(self, role: str, text: str, index: int) -> None:
        rank = FIM_TEXTS[role].index
        if role not in self.seen or rank(text) < rank(self.seen[role].text):
            self.seen[role] = FimToken(text, index, named=False)

    def fim(self, metadata: Mapping[str, object], vocabulary: int) -> Mapping[str, FimToken]:
        named: dict[str, int] = {}
        for role, keys in FIM_KEYS.items():
            for key in reversed(keys):
                index = metadata.get(f"tokenizer.ggml.{key}")
                if isinstance(index, int) and 0 <= index < vocabulary:
                    named[role] = index
        texts = self.texts(set(named.values()))
        found = {role: FimToken(texts[index], index, named=True) for role, index in named.items()}
        return {role: token for role in FIM_KEYS if (token := found.get(role) or self.seen.get(role))}

    def texts(self, indices: set[int]) -> dict[int, str]:
        """A second walk, and only if the metadata names tokens: their ids come after the vocabulary."""
        back, self.at = self.at, self.tokens
        found: dict[int, str] = {}
        for index in range(max(indices, default=-1) + 1):
            size = self.scalar("<Q")
            if index in indices:
                found[index] = self.data[self.at : self.at + size].decode("utf-8", "replace")
            self.skip(size)
        self.at = back
        return found

    def check_tensors(self, tensors: int, alignment: int) -> None:
        """A download that was cut off has a perfect header; the last tensor's place gives it away."""
        last = 0
        for _ in range(tensors):
            self.string()
            self.skip(8 * self.count("<I", 8, "dimensions of a tensor"))
            self.scalar("<I")
            last = max(last, self.scalar("<Q"))
        start = -(-self.at // alignment) * alignment
        if tensors and start + last >= len(self.data):
            raise _DamagedHeader("it ends before its last tensor")

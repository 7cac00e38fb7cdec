"""The vocabulary of a model: text to tokens and back, and which tokens have a special meaning."""

import ctypes
from bisect import bisect_left
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from lsp_harness.engine.native.declarations import Token
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.errors import EngineRefused

Tokens = np.ndarray[Any, np.dtype[np.int32]]


class Vocabulary:
    """The tokens of one model. Tokens are ints, their text is bytes, because a token can end within a character.

    Args:
        pointer: llama.cpp's vocabulary of the model.
    """

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer
        self.size = int(lib.llama_vocab_n_tokens(pointer))
        self.ids = np.arange(self.size, dtype=np.int32)
        self.bos_tokens = _read_bos_tokens(pointer)
        """The tokens every prompt of this model begins with: the one for the beginning of a text, or none."""
        self.fim_tokens = {
            name: int(getattr(lib, f"llama_vocab_fim_{name}")(pointer))
            for name in ("pre", "suf", "mid", "pad", "rep", "sep")
        }
        """The fill-in-the-middle tokens by llama.cpp's names, -1 where the model has none."""
        # Cached because tens of thousands of tokens match a single blank.
        self.matching_tokens = lru_cache(32)(self._matching_tokens)
        """See `_matching_tokens`."""

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """Return the tokens of `text`, with nothing added around them.

        Args:
            text: The text.
            special: Whether marks like `<|fim_prefix|>` in the text become their special tokens.

        Raises:
            EngineRefused: llama.cpp cannot tokenize the text.
        """
        data = text.encode("utf-8", "replace")
        capacity = len(data) + 8
        buffer = (Token * capacity)()
        count = lib.llama_tokenize(self.pointer, data, len(data), buffer, capacity, False, special)
        if count < 0:
            raise EngineRefused("the text cannot be tokenized")
        return list(buffer[:count])

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """Return the text of a token. That of a special token is empty unless `special` is set."""
        buffer = ctypes.create_string_buffer(64)
        count = lib.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, special)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = lib.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, special)
        return buffer.raw[:count]

    def special_text(self, token: int) -> str:
        """Return the text of a token as a string, also that of a special token."""
        return self.piece(token, special=True).decode("utf-8", "replace")

    def ends_answer(self, token: int) -> bool:
        """Return whether the token ends an answer: end of text or turn, FIM padding, or any other mark without text."""
        return bool(lib.llama_vocab_is_eog(self.pointer, token) or lib.llama_vocab_is_control(self.pointer, token))

    @cached_property
    def control_tokens(self) -> Tokens:
        """The tokens that end an answer (see `ends_answer`) although llama.cpp does not count them as its end."""
        control = (t for t in range(self.size) if lib.llama_vocab_is_control(self.pointer, t))
        return np.asarray([t for t in control if not lib.llama_vocab_is_eog(self.pointer, t)], np.int32)

    @cached_property
    def sorted_pieces(self) -> list[tuple[bytes, int]]:
        """All (text, token) whose text is not empty, sorted."""
        return sorted((piece, token) for token in range(self.size) if (piece := self.piece(token)))

    def longest_tokens(self, lead: bytes, name: bytes) -> list[int]:
        """Return the tokens that are `lead` and the longest possible beginning of `name`. There may be several."""
        sizes = range(len(name), 0, -1)
        return next((tokens for size in sizes if (tokens := self._exact_tokens(lead + name[:size]))), list[int]())

    def _matching_tokens(self, start: bytes) -> Tokens:
        """Return the tokens that begin with `start`, and the tokens that `start` begins with.

        A tokenizer leaves at most one blank to the word after several blanks. Therefore, if `start` consists of blanks,
        only the longest tokens it begins with are returned. A model that prefers another indentation would otherwise
        write the blanks one by one, which costs a step each and is unlike any text it was trained on.
        """
        min_size = 1
        if start.isspace():
            longest = next((size for size in range(len(start), 1, -1) if self._exact_tokens(start[:size])), 1)
            min_size = max(1, min(longest, len(start) - 1))
        tokens = [token for size in range(min_size, len(start)) for token in self._exact_tokens(start[:size])]
        index = bisect_left(self.sorted_pieces, (start, -1))
        while index < len(self.sorted_pieces) and self.sorted_pieces[index][0].startswith(start):
            tokens.append(self.sorted_pieces[index][1])
            index += 1
        return np.asarray(tokens, np.int32)

    def _exact_tokens(self, text: bytes) -> list[int]:
        """Return the tokens whose text is `text`. There may be several."""
        index, tokens = bisect_left(self.sorted_pieces, (text, -1)), list[int]()
        while index < len(self.sorted_pieces) and self.sorted_pieces[index][0] == text:
            tokens.append(self.sorted_pieces[index][1])
            index += 1
        return tokens


def _read_bos_tokens(pointer: Any) -> tuple[int, ...]:
    bos = int(lib.llama_vocab_bos(pointer))
    return (bos,) if lib.llama_vocab_get_add_bos(pointer) and bos >= 0 else ()

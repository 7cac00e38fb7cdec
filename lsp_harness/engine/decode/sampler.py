"""The choice of tokens for one candidate by llama.cpp's samplers and grammars."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from lsp_harness.engine.decode.llama import Logits
from lsp_harness.engine.decode.vocabulary import Tokens, Vocabulary
from lsp_harness.engine.native.declarations import TokenScore, TokenScores
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Sampling

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)], align=True)
"""llama.cpp's `llama_token_data` as a numpy type."""


class Sampler:
    """The choice of tokens for one candidate.

    A grammar is asked about the chosen token first. It is asked about the whole vocabulary only after several refusals:
    to filter 150,000 tokens at every step would cost more than the step.

    Args:
        vocabulary: The vocabulary of the model.
        sampling: The settings of the request.
        index: Number of the candidate. It is added to the seed.

    Raises:
        EngineRefused: The grammar is not valid.
    """

    MAX_REFUSALS = 8
    """Tokens a grammar may refuse before it is asked about the whole vocabulary."""

    def __init__(self, vocabulary: Vocabulary, sampling: Sampling, index: int) -> None:
        self._vocabulary = vocabulary
        self._grammar: Any = None
        if sampling.grammar:
            source = sampling.grammar.encode("utf-8", "replace")
            self._grammar = lib.llama_sampler_init_grammar(vocabulary.pointer, source, b"root")
            if not self._grammar:
                raise EngineRefused("the grammar is not valid GBNF with a rule named root")
        self._is_greedy = sampling.temperature <= 0 or (sampling.greedy_first and index == 0)
        chain: Any = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if self._is_greedy:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
        else:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(sampling.top_k))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_p(sampling.top_p, 1))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_temp(sampling.temperature))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_dist((sampling.seed + index) & 0xFFFFFFFF))
        self._chain = chain

    def sample(self, logits: Logits) -> int | None:
        """Choose the next token and move the grammar past it. Return None if the grammar allows no token."""
        token = self._choose(logits)
        if self._grammar is not None:
            if not self._is_allowed(token):
                token = self._choose_allowed(logits.copy(), token)
                if token is None:
                    return None
            lib.llama_sampler_accept(self._grammar, token)
        return token

    def close(self) -> None:
        """Free the samplers."""
        lib.llama_sampler_free(self._chain)
        if self._grammar is not None:
            lib.llama_sampler_free(self._grammar)

    def _choose(self, logits: Logits) -> int:
        return int(np.argmax(logits)) if self._is_greedy else self._run_chain(logits, use_grammar=False)

    def _choose_allowed(self, logits: Logits, refused: int) -> int | None:
        """Choose a token that the grammar allows. Usually that is the next one or the one after it."""
        for _ in range(self.MAX_REFUSALS):
            logits[refused] = -np.inf
            refused = self._choose(logits)
            if self._is_allowed(refused):
                return refused
        token = self._run_chain(logits, use_grammar=True)
        # llama.cpp selects a token even if the grammar refuses all of them, and the process dies if it is accepted.
        return token if self._is_allowed(token) else None

    def _run_chain(self, logits: Logits, *, use_grammar: bool) -> int:
        data = np.empty(len(logits), dtype=TOKEN_DATA)
        data["id"] = self._vocabulary.ids
        data["logit"] = logits
        data["p"] = 0
        array = _token_data_array(data)
        if use_grammar:
            data["logit"][self._vocabulary.control_tokens] = -np.inf
            lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        lib.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _is_allowed(self, token: int) -> bool:
        # A grammar reads a control token as the text of its mark, but the token would end the answer.
        if token in self._vocabulary.control_tokens:
            return False
        data = np.array([(token, 1.0, 0.0)], dtype=TOKEN_DATA)
        array = _token_data_array(data)
        lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return float(data["logit"][0]) != float("-inf")


def find_likeliest_token(logits: Logits, allowed: Sequence[int] | Tokens) -> int:
    """Return the likeliest of the `allowed` tokens."""
    return int(allowed[int(np.argmax(logits[np.asarray(allowed)]))])


def find_likeliest_match(vocabulary: Vocabulary, logits: Logits, text: bytes, *, within: bool = False) -> int | None:
    """Return the likeliest token that agrees with `text` (see `Vocabulary.matching_tokens`), or None.

    Args:
        vocabulary: The vocabulary of the model.
        logits: The scores of all tokens.
        text: The text.
        within: Whether a token that is longer than `text` is left out.
    """
    allowed: Sequence[int] | Tokens = vocabulary.matching_tokens(text)
    if within:
        allowed = [int(token) for token in allowed if len(vocabulary.piece(int(token))) <= len(text)]
    return find_likeliest_token(logits, allowed) if len(allowed) else None


def top_logprobs(logits: Logits, token: int, top: int) -> tuple[float, list[tuple[int, float]]]:
    """Return the natural log probability of `token`, and the `top` likeliest (token, log probability), best first."""
    shifted = logits.astype(np.float64) - float(logits.max())
    total = float(np.log(np.exp(shifted).sum()))
    ids = np.argpartition(shifted, -top)[-top:] if top else np.empty(0, dtype=np.int64)
    ids = ids[np.argsort(-shifted[ids], kind="stable")]
    return float(shifted[token]) - total, [(int(i), float(shifted[i]) - total) for i in ids]


def compute_logprob(logits: Logits, token: int, among: Tokens | None = None) -> float:
    """Return the natural log probability of `token`. This is several times as fast as `top_logprobs`.

    Args:
        logits: The scores of all tokens.
        token: A token.
        among: The tokens that are possible; None means all.
    """
    rows = logits if among is None or not len(among) else logits[among]
    top = float(rows.max())
    return float(logits[token]) - top - float(np.log(np.exp(rows - top).sum()))


def _token_data_array(data: Any) -> Any:
    pointer = data.ctypes.data_as(ctypes.POINTER(TokenScore))
    return TokenScores(data=pointer, size=len(data), selected=-1, sorted=False)

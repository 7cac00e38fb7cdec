"""How one candidate chooses its tokens: llama.cpp's samplers, and grammars among them."""

# the binding is generated ctypes code, mostly untyped; what leaves this file is typed
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportIndexIssue=false

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp as lib
import numpy as np

from lsp_harness.engine.decode.llama import Llama, Logits, Tokens
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.request import Sampling

CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)], align=True)
"""`llama_token_data` as numpy sees it."""


class Sampler:
    """How one candidate chooses its tokens.

    A grammar is asked about the chosen token first and about the whole vocabulary only when it refuses that one:
    filtering 150,000 candidates at every token would cost more than evaluating it.
    """

    TRIES = 8
    """Tokens a grammar may refuse before it is shown the whole vocabulary."""

    def __init__(self, llama: Llama, *, temperature: float, seed: int, top_k: int, top_p: float, grammar: str) -> None:
        self._llama = llama
        self._grammar: Any = None
        if grammar:
            self._grammar = lib.llama_sampler_init_grammar(llama.vocab, grammar.encode("utf-8", "replace"), b"root")
            if not self._grammar:
                raise EngineRefused("the grammar is not valid GBNF with a rule named root")
        self._greedy = temperature <= 0
        chain: Any = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        if self._greedy:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
        else:
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(top_k))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_p(top_p, 1))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_temp(temperature))
            lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_dist(seed & 0xFFFFFFFF))
        self._chain = chain

    @classmethod
    def of(cls, llama: Llama, sampling: Sampling, index: int) -> "Sampler":
        """The sampler of candidate `index`: the same settings, another seed."""
        return cls(
            llama,
            temperature=sampling.temperature,
            seed=sampling.seed + index,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            grammar=sampling.grammar,
        )

    def sample(self, logits: Logits) -> int | None:
        """The next token; it counts as chosen. None where the grammar allows none at all."""
        token = self._pick(logits)
        if self._grammar is not None:
            if not self._allowed(token):
                token = self._next_allowed(logits.copy(), token)
                if token is None:
                    return None
            lib.llama_sampler_accept(self._grammar, token)
        return token

    def _pick(self, logits: Logits) -> int:
        return int(np.argmax(logits)) if self._greedy else self._choose(logits, filtered=False)

    def _next_allowed(self, logits: Logits, refused: int) -> int | None:
        """Leave out what the grammar refuses, a token at a time: mostly the next one or two are right."""
        for _ in range(self.TRIES):
            logits[refused] = -np.inf
            refused = self._pick(logits)
            if self._allowed(refused):
                return refused
        token = self._choose(logits, filtered=True)
        # llama.cpp selects one of them even if all were refused, and dies when it is accepted
        return token if self._allowed(token) else None

    def _choose(self, logits: Logits, *, filtered: bool) -> int:
        room = np.empty(len(logits), dtype=CANDIDATE)
        room["id"] = self._llama.ids
        room["logit"] = logits
        room["p"] = 0
        array = _candidates(room)
        if filtered:
            room["logit"][self._llama.marks] = -np.inf
            lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        lib.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _allowed(self, token: int) -> bool:
        # a grammar takes a mark for the text it is written as, but it would end the answer
        if token in self._llama.marks:
            return False
        room = np.array([(token, 1.0, 0.0)], dtype=CANDIDATE)
        array = _candidates(room)
        lib.llama_sampler_apply(self._grammar, ctypes.byref(array))
        return float(room["logit"][0]) != float("-inf")

    def close(self) -> None:
        lib.llama_sampler_free(self._chain)
        if self._grammar is not None:
            lib.llama_sampler_free(self._grammar)


def best(logits: Logits, allowed: Sequence[int] | Tokens) -> int:
    """The likeliest of `allowed`."""
    return int(allowed[int(np.argmax(logits[np.asarray(allowed)]))])


def agreeing(llama: Llama, logits: Logits, text: bytes, *, within: bool = False) -> int | None:
    """The likeliest token that agrees with `text` (see `Llama.spelled`); `within`: none that goes beyond it."""
    allowed: Sequence[int] | Tokens = llama.spelled(text)
    if within:
        allowed = [int(token) for token in allowed if len(llama.piece(int(token))) <= len(text)]
    return best(logits, allowed) if len(allowed) else None


def likeliest(logits: Logits, token: int, top: int) -> tuple[float, list[tuple[int, float]]]:
    """Natural log probability of `token`, and the `top` likeliest tokens with theirs, best first."""
    shifted = logits.astype(np.float64) - float(logits.max())
    total = float(np.log(np.exp(shifted).sum()))
    ids = np.argpartition(shifted, -top)[-top:] if top else np.empty(0, dtype=np.int64)
    ids = ids[np.argsort(-shifted[ids], kind="stable")]
    return float(shifted[token]) - total, [(int(i), float(shifted[i]) - total) for i in ids]


def confidence(logits: Logits, token: int, among: Tokens | None = None) -> float:
    """Natural log probability of `token`, of all tokens or `among` some; several times as quick as `likeliest`."""
    rows = logits if among is None or not len(among) else logits[among]
    top = float(rows.max())
    return float(logits[token]) - top - float(np.log(np.exp(rows - top).sum()))


def _candidates(room: Any) -> Any:
    pointer = room.ctypes.data_as(ctypes.POINTER(lib.llama_token_data))
    return lib.llama_token_data_array(data=pointer, size=len(room), selected=-1, sorted=False)

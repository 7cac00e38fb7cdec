"""A check of grammars with llama.cpp's own grammar sampler."""

import ctypes
from pathlib import Path
from random import Random

from lsp_harness.engine.native.declarations import Token, TokenScore, TokenScores
from lsp_harness.engine.native.loaded_library import SILENT_LOG, lib


class Acceptor:
    """A checker that walks a grammar with the tokens of a text; only the vocabulary of `model` is loaded."""

    def __init__(self, model: Path) -> None:
        lib.llama_log_set(SILENT_LOG, None)
        lib.llama_backend_init()
        params = lib.llama_model_default_params()
        params.vocab_only = True
        self._model = lib.llama_model_load_from_file(str(model).encode(), params)
        assert self._model
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._end = int(lib.llama_vocab_eos(self._vocab))

    def valid(self, grammar: str) -> bool:
        """Return whether llama.cpp can read the grammar."""
        sampler = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        if sampler:
            lib.llama_sampler_free(sampler)
        return bool(sampler)

    def accepts(self, grammar: str, text: str) -> bool:
        """Return whether the grammar accepts `text` as a whole answer."""
        sampler = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        assert sampler, f"llama.cpp cannot read this grammar:\n{grammar}"
        try:
            for token in self._tokens(text):
                if not self._allows(sampler, token):
                    return False
                lib.llama_sampler_accept(sampler, token)
            return self._allows(sampler, self._end)
        finally:
            lib.llama_sampler_free(sampler)

    def walk(self, grammar: str, dice: Random, max_tokens: int = 4000) -> str:
        """Return a text of random tokens that the grammar allows. It ends as soon as it may, and later by chance."""
        sampler = lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        assert sampler, f"llama.cpp cannot read this grammar:\n{grammar}"
        size, text = int(lib.llama_vocab_n_tokens(self._vocab)), b""
        # a grammar reads a control token as the text of its mark
        control = {token for token in range(size) if lib.llama_vocab_is_control(self._vocab, token)}
        buffer = ctypes.create_string_buffer(256)
        try:
            for _ in range(max_tokens):
                data = (TokenScore * size)(*(TokenScore(id=n, logit=1.0, p=0.0) for n in range(size)))
                array = TokenScores(data=data, size=size, selected=-1, sorted=False)
                lib.llama_sampler_apply(sampler, ctypes.byref(array))
                allowed = [item.id for item in data if item.logit != float("-inf")]
                choices = [token for token in allowed if token not in control]
                if self._end in allowed and (not choices or dice.random() < 0.05):
                    return text.decode("utf-8", "replace")
                assert choices, f"nothing may follow {text[-200:]!r}"
                token = dice.choice(choices)
                lib.llama_sampler_accept(sampler, token)
                length = lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
                text += buffer.raw[:length]
            raise AssertionError(f"the text does not end: {text[-200:]!r}")
        finally:
            lib.llama_sampler_free(sampler)

    def close(self) -> None:
        lib.llama_model_free(self._model)

    def _tokens(self, text: str) -> list[int]:
        data = text.encode()
        room = (Token * (len(data) + 8))()
        count = lib.llama_tokenize(self._vocab, data, len(data), room, len(room), False, False)
        return list(room[:count])

    @staticmethod
    def _allows(sampler: object, token: int) -> bool:
        result = (TokenScore * 1)(TokenScore(id=token, logit=1.0, p=0.0))
        array = TokenScores(data=result, size=1, selected=-1, sorted=False)
        lib.llama_sampler_apply(sampler, ctypes.byref(array))
        return result[0].logit != float("-inf")

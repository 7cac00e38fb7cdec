"""llama-cpp-python's own high-level greedy answers: JSON on stdin, JSON on stdout.

{"model": path, "threads": n, "context": n, "repack": bool, "tokens": n, "prompts": [text, …]}
→ {"answers": [{"pieces": [text, …], "margins": [float, …]}, …], "noise": [float, …]}

A margin is by how much (logits) the token at its place was likelier than the next. Noise is what only the size of the
batches does to it: by how much the margin of the first token changes when a prompt is read in smaller ones.
"""

# the binding is generated ctypes code, mostly untyped
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportMissingImports=false

import ctypes
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import llama_cpp
import numpy as np

SIZES = (1, 8)
"""Tokens of the smaller batches."""
SAMPLES = 12
"""Prompts that are read in them, too."""


class Reference:
    def __init__(self, asked: dict[str, Any]) -> None:
        default = llama_cpp.llama_cpp.llama_model_default_params

        def params() -> Any:
            # the class has no argument for it, and on some machines repacked weights crash
            made = default()
            made.use_extra_bufts = asked["repack"]
            return made

        llama_cpp.llama_cpp.llama_model_default_params = params
        threads = asked["threads"]
        self.llama: Any = llama_cpp.Llama(
            asked["model"], n_ctx=asked["context"], n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def run(self, prompt: str, most: int) -> Iterator[tuple[int, Any]]:
        """Yield greedy tokens, and the logits from which each was chosen."""
        self.llama.reset()
        tokens = self.llama.tokenize(prompt.encode(), add_bos=True, special=True)
        for token in islice(self.llama.generate(tokens, temp=0.0), most):
            logits = llama_cpp.llama_get_logits_ith(self.llama.ctx, -1)
            yield token, np.ctypeslib.as_array(logits, shape=(self.llama.n_vocab(),)).copy()

    def answer(self, prompt: str, most: int) -> dict[str, Any]:
        pieces, margins = list[str](), list[float]()
        for token, row in self.run(prompt, most):
            first, second = np.sort(row)[-2:][::-1]
            margins.append(float(first - second))
            if llama_cpp.llama_vocab_is_eog(llama_cpp.llama_model_get_vocab(self.llama.model), token):
                break
            pieces.append(self.piece(token))
        return {"pieces": pieces, "margins": margins}

    def piece(self, token: int) -> str:
        # the class's own `detokenize` leaves out what is longer than 32 bytes
        room = ctypes.create_string_buffer(512)
        vocab = llama_cpp.llama_model_get_vocab(self.llama.model)
        size = llama_cpp.llama_token_to_piece(vocab, token, room, len(room), 0, True)
        return room.raw[:size].decode("utf-8", "replace")

    def noise(self, prompt: str) -> list[float]:
        usual = self.llama.n_batch
        [(_, row)] = self.run(prompt, 1)
        second, first = np.argsort(row)[-2:]
        found: list[float] = []
        for size in SIZES:
            self.llama.n_batch = size
            [(_, other)] = self.run(prompt, 1)
            found.append(abs(float((row[first] - row[second]) - (other[first] - other[second]))))
        self.llama.n_batch = usual
        return found


def main() -> None:
    asked: dict[str, Any] = json.load(sys.stdin)
    reference = Reference(asked)
    answers = [reference.answer(prompt, asked["tokens"]) for prompt in asked["prompts"]]
    noise = [change for prompt in asked["prompts"][:SAMPLES] for change in reference.noise(prompt)]
    json.dump({"answers": answers, "noise": noise}, sys.stdout)


if __name__ == "__main__":
    main()

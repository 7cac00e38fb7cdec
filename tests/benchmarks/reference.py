"""llama-cpp-python's own high-level greedy answers: JSON on stdin, JSON on stdout.

{"model": path, "threads": n, "context": n, "repack": bool, "tokens": n, "prompts": [text, …]}  →  [answer, …]
"""

# the binding is generated ctypes code, mostly untyped
# pyright: reportUnknownMemberType=false

import json
import sys
from typing import Any

import llama_cpp


def main() -> None:
    asked: dict[str, Any] = json.load(sys.stdin)
    default = llama_cpp.llama_cpp.llama_model_default_params

    def params() -> Any:
        # the class has no argument for it, and on some machines repacked weights crash
        made = default()
        made.use_extra_bufts = asked["repack"]
        return made

    llama_cpp.llama_cpp.llama_model_default_params = params
    llama = llama_cpp.Llama(
        asked["model"],
        n_ctx=asked["context"],
        n_threads=asked["threads"],
        n_threads_batch=asked["threads"],
        verbose=False,
    )
    answers: list[str] = []
    for prompt in asked["prompts"]:
        llama.reset()
        tokens = llama.tokenize(prompt.encode(), add_bos=False, special=True)
        made: Any = llama.create_completion(tokens, max_tokens=asked["tokens"], temperature=0.0)
        answers.append(made["choices"][0]["text"])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()

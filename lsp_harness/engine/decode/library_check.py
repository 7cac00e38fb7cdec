"""A check of a library of llama.cpp that no test of ours has run: whether it generates the expected tokens.

A library of another version may have the same functions with other meanings, and a wrong one could crash. So the check
runs in a child process, once for each library. It generates tokens by a model of some kilobytes with random weights.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from lsp_harness.engine.decode.kept_results import find_or_check
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries.library_choice import EngineLibrary

CHECK_TIMEOUT_S = 120
WIDTH, HEADS, INNER, CONTEXT, TOKENS = 32, 2, 64, 256, 256
"""Sizes of the generated model."""
PROMPT = tuple(range(97, 113))
EXPECTED = (15, 172, 227, 216, 19, 18, 190, 139, 140, 16, 125, 93)
"""The likeliest tokens after the prompt, one after the other. The second likeliest is far behind each of them, so that
rounding does not matter."""


def check_library(library: EngineLibrary) -> None:
    """Check a library that no test of ours has run, unless that was done before.

    Raises:
        LibraryError: The library does not work as expected.
    """
    if library.is_tested:
        return
    key = _identify_files(library)
    subject = "that a library of llama.cpp works"
    if problem := find_or_check("libraries.json", key, lambda: _find_problem(library), subject):
        raise LibraryError(
            f"llama.cpp in {library.folder} does not pass its check: {problem}; use a library that "
            "`lsp-harness engine libraries list` shows"
        )


def _identify_files(library: EngineLibrary) -> str:
    """Return a text that changes with each file of a library."""
    files = sorted(library.folder.iterdir())
    return f"{library.identity} {[(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]}"


def _find_problem(library: EngineLibrary) -> str:
    """Return what a library does wrong, or an empty text."""
    name = str(library.folder) if library.origin == "folder" else library.name
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-m", __name__, name],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=CHECK_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {CHECK_TIMEOUT_S} s"
    if child.returncode:
        last = (child.stderr.strip().splitlines() or [""])[-1]
        return f"a program that uses it ended with {child.returncode} {last}".rstrip()
    tokens = tuple(json.loads(child.stdout.splitlines()[-1]))
    return "" if tokens == EXPECTED else f"it generates the tokens {tokens[:4]}… and not {EXPECTED[:4]}…"


def write_check_model(file: Path) -> None:
    """Write the model: one layer with random weights, which are the same on each machine."""
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(TOKENS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([f"<{number}>" for number in range(TOKENS)])
    writer.add_token_types([gguf.TokenType.NORMAL] * TOKENS)
    writer.add_token_merges(["< >"])
    writer.add_eos_token_id(0)
    shapes = {
        "token_embd": (TOKENS, WIDTH),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH, WIDTH),
        "blk.0.attn_v": (WIDTH, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
        "output": (TOKENS, WIDTH),
    }
    # whole numbers of a generator whose sequence numpy guarantees, and no distribution, whose method may change
    random = np.random.Generator(np.random.PCG64(7))
    for name, (rows, columns) in shapes.items():
        weights = (random.integers(-128, 128, (rows, columns)) / (40 * columns**0.5)).astype(np.float32)
        writer.add_tensor(f"{name}.weight", weights)
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def generate_tokens(file: Path) -> list[tuple[int, float]]:
    """Return the likeliest tokens after the prompt, each with its distance to the second likeliest.

    The library of llama.cpp is loaded already.
    """
    import numpy as np

    from lsp_harness.engine.decode.llama import Llama, TokenRow

    llama = Llama(file, n_ctx=CONTEXT, n_seq=1, n_batch=32, threads=1, n_gpu_layers=0, repack=False)
    tokens, generated = list(PROMPT), list[tuple[int, float]]()
    start = 0
    while len(generated) < len(EXPECTED):
        llama.decode([TokenRow(0, start, tokens[start:])])
        start = len(tokens)
        logits = np.array(llama.logits(-1))
        second, first = np.argsort(logits)[-2:]
        generated.append((int(first), float(logits[first] - logits[second])))
        tokens.append(int(first))
    llama.close()
    return generated


if __name__ == "__main__":
    from lsp_harness.engine.native.loaded_library import lib
    from lsp_harness.inference.libraries.library_choice import find_library

    lib.load(find_library(sys.argv[1]))
    with tempfile.TemporaryDirectory(prefix="lsp-harness-") as folder:
        model = Path(folder) / "check.gguf"
        write_check_model(model)
        sys.stdout.write(json.dumps([token for token, _ in generate_tokens(model)]) + "\n")

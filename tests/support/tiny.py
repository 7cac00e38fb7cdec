"""A model of a few hundred kilobytes with random weights, which llama.cpp can load and run.

Its first dimension is a constant that only the output layer reads, and there it pushes special tokens far down: an
answer ends where a limit, a stop string or a grammar ends it, never by the luck of the weights.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import gguf
import numpy as np

WIDTH, HEADS, KV_HEADS, INNER, LAYERS, CONTEXT = 64, 4, 2, 128, 2, 4096
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
)
WORDS = ("return", " return", "def", " the", "print", "value", " value", "    ", "  ", "\n\n", "():", "é", "```")
CHAT = (
    "{% for message in messages %}{"
    "{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


Architecture = Literal["qwen2", "lfm2", "gemma2"]
"""`qwen2` has attention in each layer. In `lfm2`, the first layer is a short convolution, whose state cannot be cut. In
`gemma2`, the attention of the first layer has a sliding window, and special tokens are as likely as others."""
WINDOW = 48
"""Number of tokens in the sliding window."""
CONVOLUTION = 3
"""Number of positions that the short convolution sees."""


def tiny_gguf(
    path: Path,
    *,
    architecture: Architecture = "qwen2",
    fim: bool = True,
    chat: bool = True,
    seed: int = 1,
    yarn: float = 0.0,
) -> Path:
    """Write the model; the same arguments give the same bytes."""
    tokens, merges = _make_vocabulary()
    special = [name for name in SPECIAL if fim or "fim" not in name]
    is_hybrid = architecture == "lfm2"
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv([0, *[KV_HEADS] * (LAYERS - 1)] if is_hybrid else KV_HEADS)
    if is_hybrid:
        writer.add_shortconv_l_cache(CONVOLUTION)
        writer.add_vocab_size(len(tokens) + len(special))
    if architecture == "gemma2":
        writer.add_key_length(WIDTH // HEADS)
        writer.add_value_length(WIDTH // HEADS)
        writer.add_sliding_window(WINDOW)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    if yarn:
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(yarn)
        writer.add_rope_scaling_orig_ctx_len(CONTEXT)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([*tokens, *special])
    writer.add_token_types([gguf.TokenType.NORMAL] * len(tokens) + [gguf.TokenType.CONTROL] * len(special))
    writer.add_token_merges(merges)
    writer.add_eos_token_id(len(tokens) + special.index("<|im_end|>"))
    writer.add_pad_token_id(len(tokens))
    writer.add_add_bos_token(False)
    if chat:
        writer.add_chat_template(CHAT)
    for name, values in _make_weights(len(tokens), len(special), seed, architecture):
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _make_vocabulary() -> tuple[list[str], list[str]]:
    """Return the tokens, which are all bytes and the parts of `WORDS`, and the merges from left to right."""
    byte_names = _make_byte_names()
    tokens, merges = list(byte_names), list[str]()
    for word in WORDS:
        pieces = [byte_names[byte] for byte in word.encode()]
        whole = pieces[0]
        for piece in pieces[1:]:
            merge = f"{whole} {piece}"
            whole += piece
            if whole not in tokens:
                tokens.append(whole)
                merges.append(merge)
    return tokens, merges


def decode_tokens(ids: Iterable[int]) -> str:
    """Return the text of these tokens; special tokens become blanks."""
    tokens, _ = _make_vocabulary()
    byte_of = {name: byte for byte, name in enumerate(_make_byte_names())}
    spelled = "".join(tokens[id] if id < len(tokens) else " " for id in ids)
    return bytes(byte_of.get(char, 32) for char in spelled).decode("utf-8", "replace")


def _make_byte_names() -> list[str]:
    """Return how byte-level vocabularies write bytes: printable ones unchanged, the others from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def _make_weights(normal: int, special: int, seed: int, architecture: Architecture) -> Iterator[tuple[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    head = WIDTH // HEADS
    vocabulary = normal + special
    is_hybrid, has_window = architecture == "lfm2", architecture == "gemma2"

    def random_rows(rows: int, columns: int, scale: float) -> np.ndarray:
        return random.normal(0, scale / np.sqrt(columns), (rows, columns))

    embedding = random.normal(0, 1, (vocabulary, WIDTH))
    embedding[:, 0] = 4
    yield "token_embd.weight", embedding
    for layer in range(LAYERS):
        at = f"blk.{layer}"
        yield f"{at}.attn_norm.weight", np.ones(WIDTH)
        if is_hybrid and not layer:
            yield f"{at}.shortconv.conv.weight", random.normal(0, 1, (WIDTH, CONVOLUTION))
            yield f"{at}.shortconv.in_proj.weight", random_rows(3 * WIDTH, WIDTH, 2)
            yield f"{at}.shortconv.out_proj.weight", _clear_first_dimension(random_rows(WIDTH, WIDTH, 2))
        else:
            for part, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                yield f"{at}.attn_{part}.weight", random_rows(heads * head, WIDTH, 2)
                if architecture == "qwen2":
                    yield f"{at}.attn_{part}.bias", random.normal(0, 0.1, heads * head)
                elif is_hybrid and part != "v":
                    yield f"{at}.attn_{part}_norm.weight", np.ones(head)
            yield f"{at}.attn_output.weight", _clear_first_dimension(random_rows(WIDTH, WIDTH, 2))
        if has_window:
            yield f"{at}.post_attention_norm.weight", np.ones(WIDTH)
            yield f"{at}.post_ffw_norm.weight", np.ones(WIDTH)
        yield f"{at}.ffn_norm.weight", np.ones(WIDTH)
        yield f"{at}.ffn_gate.weight", random_rows(INNER, WIDTH, 2)
        yield f"{at}.ffn_up.weight", random_rows(INNER, WIDTH, 2)
        yield f"{at}.ffn_down.weight", _clear_first_dimension(random_rows(WIDTH, INNER, 2))
    yield "token_embd_norm.weight" if is_hybrid else "output_norm.weight", np.ones(WIDTH)
    if has_window:
        # its output layer is the embedding
        return
    output = random_rows(vocabulary, WIDTH, 3)
    output[:normal, 0], output[normal:, 0] = 0, -40
    # lines end, and code blocks with them
    output[10, 0], output[normal - 1, 0] = 6, 10
    yield "output.weight", output


def _clear_first_dimension(weights: np.ndarray) -> np.ndarray:
    """Set the weights that would change the first dimension of the residual stream to zero."""
    weights[0] = 0
    return weights

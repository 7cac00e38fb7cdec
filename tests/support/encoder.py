"""A sentence encoder of a few kilobytes with random weights, in the files of a publisher."""

import json
import struct

import numpy as np

from lsp_harness.inference.models.bert import CONFIG, LAYER_PARTS, POOLING, TOKENIZER, WEIGHTS

WIDTH, HEADS, INNER, LAYERS, CONTEXT = 32, 2, 64, 2, 96
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("read", "file", "##s", "##ing", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "bcdefghijklmnopqrtuvwxyz"))


def make_tiny_encoder(*, mean: bool = True, seed: int = 1) -> dict[str, bytes]:
    """Return the files of the publisher by name; equal arguments give equal bytes."""
    config = {
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": CONTEXT,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    }
    vocabulary = {token: at for at, token in enumerate((*SPECIAL, *WORDS))}
    special = [{"id": at, "content": token, "special": True} for at, token in enumerate(SPECIAL)]
    return {
        WEIGHTS: _encode_safetensors(make_weights(seed)),
        TOKENIZER: json.dumps({"model": {"vocab": vocabulary}, "added_tokens": special}).encode(),
        CONFIG: json.dumps(config).encode(),
        POOLING: json.dumps({"pooling_mode_mean_tokens": mean}).encode(),
    }


def make_weights(seed: int = 1) -> dict[str, np.ndarray]:
    """Return weights under the names of BERT, and a table of integers, which published files have too."""
    random = np.random.default_rng(seed)

    def random_tensor(*shape: int) -> np.ndarray:
        return random.normal(0, 0.3, shape).astype(np.float32)

    result = {
        "embeddings.position_ids": np.arange(CONTEXT, dtype=np.int64),
        "embeddings.word_embeddings.weight": random_tensor(len(SPECIAL) + len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": random_tensor(CONTEXT, WIDTH),
        "embeddings.token_type_embeddings.weight": random_tensor(2, WIDTH),
        "embeddings.LayerNorm.weight": np.ones(WIDTH, np.float32),
        "embeddings.LayerNorm.bias": random_tensor(WIDTH),
    }
    for layer in range(LAYERS):
        for part in LAYER_PARTS:
            rows = INNER if part == "intermediate.dense" else WIDTH
            columns = INNER if part == "output.dense" else WIDTH
            norm = part.endswith("LayerNorm")
            result[f"encoder.layer.{layer}.{part}.weight"] = (
                np.ones(rows, np.float32) if norm else random_tensor(rows, columns)
            )
            result[f"encoder.layer.{layer}.{part}.bias"] = random_tensor(rows)
    return result


def _encode_safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    body = b""
    for name, values in tensors.items():
        data = values.tobytes()
        kind = "I64" if values.dtype == np.int64 else "F32"
        header[name] = {"dtype": kind, "shape": values.shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body

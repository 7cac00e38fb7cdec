"""Converter of a BERT sentence encoder (safetensors, tokenizer, settings) to one GGUF file in Q8_0.

Matrices are quantized; biases, norms and the two small tables of positions and token types stay float32, as in
llama.cpp's own conversions. Equal input and an equal `gguf` package give equal bytes, so the result has a known hash.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

WEIGHTS, TOKENIZER, CONFIG, POOLING = "model.safetensors", "tokenizer.json", "config.json", "1_Pooling/config.json"
"""The files of a sentence-transformers repository that are read."""
LAYER_PARTS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
"""Name of a part of a layer in BERT → its name in llama.cpp."""
UNQUANTIZED_TENSORS = {"position_embd.weight", "token_types.weight"}
WORD_START = "\u2581"

Array = npt.NDArray[np.float32]


def convert(files: Mapping[str, bytes], target: Path, *, name: str, license: str) -> None:
    """Write the converted model to `target`.

    Args:
        files: The contents of the four files, by the names above.
        name: The name of the model in the GGUF file.
        license: The licence in the GGUF file.

    Raises:
        KeyError: A tensor is missing.
    """
    config: dict[str, Any] = json.loads(files[CONFIG])
    tensors = dict(_read_safetensors(files[WEIGHTS]))
    writer = gguf.GGUFWriter(target, "bert")
    writer.add_name(name)
    writer.add_license(license)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    _add_shape(writer, config, json.loads(files[POOLING]))
    _add_vocabulary(writer, json.loads(files[TOKENIZER]), config["type_vocab_size"])
    for gguf_name, bert_name in _tensor_names(config["num_hidden_layers"]):
        _add_tensor(writer, gguf_name, tensors[bert_name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _read_safetensors(data: bytes) -> Iterator[tuple[str, Array]]:
    """Yield the float32 tensors by name.

    The format is a u64 length, a JSON header with types, shapes and offsets, and the numbers.
    """
    (length,) = struct.unpack_from("<Q", data)
    body = 8 + length
    header: dict[str, Any] = json.loads(data[8:body])
    for name, entry in header.items():
        # the other tensors are tables of 0, 1, 2, …, which llama.cpp makes itself
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            values = np.frombuffer(data, np.dtype("<f4"), count=(end - start) // 4, offset=body + start)
            yield name.removeprefix("bert."), values.reshape(entry["shape"])


def _add_shape(writer: gguf.GGUFWriter, config: Mapping[str, Any], pooling: Mapping[str, Any]) -> None:
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    mean = pooling["pooling_mode_mean_tokens"]
    writer.add_pooling_type(gguf.PoolingType.MEAN if mean else gguf.PoolingType.CLS)


def _add_vocabulary(writer: gguf.GGUFWriter, tokenizer: Mapping[str, Any], token_types: int) -> None:
    """Add the WordPiece vocabulary. llama.cpp marks tokens that start a word; BERT marks tokens that continue one."""
    ids: dict[str, int] = tokenizer["model"]["vocab"]
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    tokens = sorted(ids, key=ids.__getitem__)
    writer.add_tokenizer_model("bert")
    # the name in llama.cpp for BERT's way to split words
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_type_count(token_types)
    writer.add_token_list([token if ids[token] in special else _llama_cpp_token(token) for token in tokens])
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_token_types([kinds[ids[token] in special] for token in tokens])
    writer.add_unk_token_id(ids["[UNK]"])
    writer.add_sep_token_id(ids["[SEP]"])
    writer.add_pad_token_id(ids["[PAD]"])
    writer.add_mask_token_id(ids["[MASK]"])
    writer.add_bos_token_id(ids["[CLS]"])


def _llama_cpp_token(token: str) -> str:
    return token[2:] if token.startswith("##") else WORD_START + token


def _tensor_names(layers: int) -> Iterator[tuple[str, str]]:
    """Yield (name in llama.cpp, name in BERT) of every tensor, in the order of the GGUF file."""
    yield "token_embd.weight", "embeddings.word_embeddings.weight"
    yield "position_embd.weight", "embeddings.position_embeddings.weight"
    yield "token_types.weight", "embeddings.token_type_embeddings.weight"
    for kind in ("weight", "bias"):
        yield f"token_embd_norm.{kind}", f"embeddings.LayerNorm.{kind}"
    for layer in range(layers):
        for bert_part, gguf_part in LAYER_PARTS.items():
            for kind in ("weight", "bias"):
                yield f"blk.{layer}.{gguf_part}.{kind}", f"encoder.layer.{layer}.{bert_part}.{kind}"


def _add_tensor(writer: gguf.GGUFWriter, name: str, values: Array) -> None:
    if values.ndim == 2 and name not in UNQUANTIZED_TENSORS:
        packed = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(name, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    else:
        writer.add_tensor(name, values, raw_dtype=gguf.GGMLQuantizationType.F32)

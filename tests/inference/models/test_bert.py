"""Tests of the converter with an encoder of a few kilobytes."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from lsp_harness.inference.models.bert import convert
from lsp_harness.inference.models.gguf import read_header
from tests.support.encoder import CONTEXT, LAYERS, SPECIAL, WIDTH, WORDS, make_tiny_encoder, make_weights


def convert_tiny_encoder(path: Path, *, mean: bool = True) -> Path:
    convert(make_tiny_encoder(mean=mean), path, name="Tiny", license="mit")
    return path


@pytest.mark.parametrize(("mean", "pooling"), [(True, "mean"), (False, "cls")])
def test_the_header_has_the_settings_of_the_publisher(tmp_path: Path, mean: bool, pooling: str):
    header = read_header(convert_tiny_encoder(tmp_path / "m.gguf", mean=mean))
    assert (header.architecture, header.context_length, header.embedding_length) == ("bert", CONTEXT, WIDTH)
    assert (header.layers, header.vocabulary, header.pooling) == (LAYERS, len(SPECIAL) + len(WORDS), pooling)
    assert (header.text("general.name"), header.text("general.license")) == ("Tiny", "mit")
    assert header.metadata["bert.attention.causal"] is False


def test_words_are_written_in_the_form_of_llama_cpp(tmp_path: Path):
    field = gguf.GGUFReader(convert_tiny_encoder(tmp_path / "m.gguf")).fields["tokenizer.ggml.tokens"]
    assert field.contents()[:9] == [*SPECIAL, "\u2581read", "\u2581file", "s", "ing"]


def test_only_matrices_are_rounded_to_eight_bits(tmp_path: Path):
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(convert_tiny_encoder(tmp_path / "m.gguf")).tensors}
    result = make_weights()

    def values(name: str) -> np.ndarray:
        return gguf.quants.dequantize(tensors[name].data, tensors[name].tensor_type)

    for name, original in {
        "position_embd.weight": "embeddings.position_embeddings.weight",
        "blk.1.layer_output_norm.bias": "encoder.layer.1.output.LayerNorm.bias",
    }.items():
        np.testing.assert_array_equal(values(name), result[original])
    for name, original in {
        "token_embd.weight": "embeddings.word_embeddings.weight",
        "blk.0.attn_q.weight": "encoder.layer.0.attention.self.query.weight",
        "blk.1.ffn_up.weight": "encoder.layer.1.intermediate.dense.weight",
    }.items():
        assert tensors[name].tensor_type == gguf.GGMLQuantizationType.Q8_0
        np.testing.assert_allclose(values(name), result[original], atol=np.abs(result[original]).max() / 200)


def test_the_same_files_give_the_same_bytes(tmp_path: Path):
    assert (
        convert_tiny_encoder(tmp_path / "a.gguf").read_bytes() == convert_tiny_encoder(tmp_path / "b.gguf").read_bytes()
    )

"""Tests of the reader of GGUF headers, and of its messages about damaged files."""

import struct
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from lsp_harness.errors import ModelError
from lsp_harness.inference.models.gguf import FimToken, read_header

QWEN = ["a", "<PRE>", "<|fim_middle|>", "<|fim_prefix|>", "ü", "<|fim_suffix|>", "<SUF>"]
VALUES = 32


def write(
    path: Path, tokens: list[str] | None = None, more: Callable[[gguf.GGUFWriter], None] = lambda w: None
) -> Path:
    """A model of one tensor."""
    writer = gguf.GGUFWriter(path, "tiny")
    writer.add_context_length(64)
    writer.add_embedding_length(8)
    writer.add_block_count(2)
    writer.add_array("some.numbers", [1, 2, 3])
    writer.add_array("some.flags", [True, False])
    if tokens:
        writer.add_token_list(tokens)
        writer.add_token_scores([0.0] * len(tokens))
        writer.add_token_merges(["a b", "b a"])
    more(writer)
    writer.add_chat_template("{% for m in messages %}\n{{ m }}\n{% endfor %}")
    writer.add_tensor("first", np.zeros(VALUES, dtype=np.float32))
    writer.add_tensor("last", np.zeros(VALUES, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny.gguf", QWEN)


def test_the_header_is_read_past_all_arrays(tiny_file: Path):
    header = read_header(tiny_file)
    assert (header.version, header.tensors, header.bytes) == (3, 2, tiny_file.stat().st_size)
    assert (header.architecture, header.context_length, header.embedding_length, header.layers) == ("tiny", 64, 8, 2)
    assert header.chat_template == "{% for m in messages %}\n{{ m }}\n{% endfor %}"
    assert header.lengths == {
        "some.numbers": 3,
        "some.flags": 2,
        "tokenizer.ggml.tokens": len(QWEN),
        "tokenizer.ggml.scores": len(QWEN),
        "tokenizer.ggml.merges": 2,
    }
    assert header.vocabulary == len(QWEN)


def test_scalars_of_every_type_are_read(tmp_path: Path):
    def scalars(writer: gguf.GGUFWriter) -> None:
        writer.add_uint8("s.u8", 200)
        writer.add_int8("s.i8", -100)
        writer.add_uint16("s.u16", 60_000)
        writer.add_int16("s.i16", -30_000)
        writer.add_int32("s.i32", -2_000_000_000)
        writer.add_uint64("s.u64", 1 << 63)
        writer.add_int64("s.i64", -(1 << 62))
        writer.add_float32("s.f32", 0.5)
        writer.add_float64("s.f64", 0.1)
        writer.add_bool("s.bool", True)

    metadata = read_header(write(tmp_path / "m.gguf", more=scalars)).metadata
    assert {key: value for key, value in metadata.items() if key.startswith("s.")} == {
        "s.u8": 200,
        "s.i8": -100,
        "s.u16": 60_000,
        "s.i16": -30_000,
        "s.i32": -2_000_000_000,
        "s.u64": 1 << 63,
        "s.i64": -(1 << 62),
        "s.f32": 0.5,
        "s.f64": 0.1,
        "s.bool": True,
    }


def test_fim_tokens_are_recognised_by_their_text(tiny_file: Path):
    assert read_header(tiny_file).fim == {
        "prefix": FimToken("<|fim_prefix|>", 3, is_named=False),
        "suffix": FimToken("<|fim_suffix|>", 5, is_named=False),
        "middle": FimToken("<|fim_middle|>", 2, is_named=False),
    }


def test_fim_tokens_that_the_metadata_names_win(tmp_path: Path):
    def names(writer: gguf.GGUFWriter) -> None:
        writer.add_uint32("tokenizer.ggml.fim_pre_token_id", 4)
        writer.add_uint32("tokenizer.ggml.middle_token_id", 0)
        writer.add_uint32("tokenizer.ggml.fim_suf_token_id", 999)

    fim = read_header(write(tmp_path / "m.gguf", QWEN, names)).fim
    assert fim == {
        "prefix": FimToken("ü", 4, is_named=True),
        # An id outside the vocabulary names nothing.
        "suffix": FimToken("<|fim_suffix|>", 5, is_named=False),
        "middle": FimToken("a", 0, is_named=True),
    }


def test_a_model_without_fim_tokens_is_recognised(tmp_path: Path):
    assert read_header(write(tmp_path / "m.gguf", ["a", "b"])).fim == {}
    assert read_header(write(tmp_path / "n.gguf")).fim == {}


def test_a_truncated_file_is_damaged(tiny_file: Path, tmp_path: Path):
    data = tiny_file.read_bytes()
    cut = tmp_path / "cut.gguf"
    for size in range(len(data) - VALUES * 4 + 1):
        cut.write_bytes(data[:size])
        with pytest.raises(ModelError, match=r"is not a GGUF file$|is damaged: the file "):
            read_header(cut)
    cut.write_bytes(data[: len(data) - VALUES * 4 + 1])
    assert read_header(cut).tensors == 2


def test_damage_at_any_byte_is_a_file_error_or_has_no_effect(tiny_file: Path, tmp_path: Path):
    data = tiny_file.read_bytes()
    bent = tmp_path / "bent.gguf"
    refused: list[str] = []
    for at in range(len(data) - 2 * VALUES * 4):
        bent.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
        try:
            read_header(bent)
        except ModelError as error:
            refused.append(error.message)
    assert len(refused) > 300
    assert not [message for message in refused if "\n" in message]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a GGUF file"),
        (b"PK\x03\x04 something else entirely", "is not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "the file has GGUF version 1, and only versions 2 and 3 can be read"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "the file has GGUF version 50331648"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "the file claims 1152921504606846976 metadata"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<I", 77), "the file names a type 77"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 9, 1), "the file names a type 9"),
        (
            b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQQ", 9, 8, 2, (1 << 64) - 1),
            "the file ends in the middle of its header",
        ),
    ],
)
def test_a_file_without_a_header_is_refused_in_one_sentence(tmp_path: Path, content: bytes, reason: str):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError) as error:
        read_header(path)
    assert str(path) in error.value.message
    assert reason in error.value.message


def test_a_file_that_cannot_be_opened_is_a_model_error(tmp_path: Path):
    with pytest.raises(ModelError, match=r"cannot be read|is a folder|there is no file"):
        read_header(tmp_path)
    with pytest.raises(ModelError, match=r"cannot be read|is a folder|there is no file"):
        read_header(tmp_path / "nothing.gguf")

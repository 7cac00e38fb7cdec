"""Tests of the conversion from and to the JSON of llama-server."""

import json
from typing import Any

import pytest

from lsp_harness.errors import EngineRefused
from lsp_harness.inference import dialect
from lsp_harness.inference.request import Chunk, Continuation, Infill, InfillContext, Sampling, Usage

SAMPLING = Sampling(7, 0.5, 3, 11, 0.9, ("a", "b"), "root ::= [a]", 1234, expected=("x", "y"), unbound=("z",))


def send_over_wire(body: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(body))


@pytest.mark.parametrize("prompt", ["text", (1, "two", 3)])
def test_a_continuation_survives_the_wire(prompt: str | tuple[int | str, ...]):
    request = Continuation(prompt, SAMPLING, "background", cache_reuse=64)

    assert dialect.read_completion(send_over_wire(dialect.request_to_json(request))) == request


def test_an_infill_survives_the_wire():
    request = Infill(InfillContext("before", "after", (("a.py", "text"),)), True, SAMPLING, "normal", cache_reuse=0)

    assert dialect.read_infill(send_over_wire(dialect.request_to_json(request))) == request


@pytest.mark.parametrize("stop", [None, "eos", "word", "limit", "deadline", "cancelled"])
def test_a_chunk_survives_the_wire(stop: Any):
    chunk = Chunk("é", stop, Usage(1, 2, 3, 4.5, 6.5, shifted=1))

    assert dialect.chunk_from_json(send_over_wire(dialect.chunk_to_json(chunk))) == chunk


def test_a_missing_field_has_its_default():
    assert dialect.read_completion({"prompt": "a", "seed": None}) == Continuation("a", Sampling())
    assert dialect.read_infill({}) == Infill(InfillContext("", ""))
    # nor is it said to a server that has its own
    assert "n_cache_reuse" not in dialect.request_to_json(Infill(InfillContext("", "")))


def test_requests_of_llama_server_clients_are_understood():
    assert dialect.read_infill({"input_prefix": "a\n", "prompt": "b", "input_suffix": "c"}) == Infill(
        InfillContext("a\nb", "c")
    )
    assert dialect.read_completion({"prompt": "a", "stop": "x", "temperature": 1}).sampling == Sampling(
        stop=("x",), temperature=1
    )
    assert dialect.read_completion({"prompt": "a", "n_predict": -1}).sampling.n_predict > 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("n_predict", value) for value in ("7", 1.5, True, [1])),
        *(("temperature", value) for value in ("hot", True, float("nan"), float("inf"), 10**400)),
        *(("top_p", value) for value in ("1", float("-inf"))),
        *((field, "1") for field in ("seed", "top_k", "t_max_predict_ms")),
        *(("n_cache_reuse", value) for value in ("1", -1, True)),
        *(("stop", value) for value in (1, [1], ["a", None], {})),
        *(("grammar", value) for value in (1, ["root"])),
        *((field, value) for field in ("expected", "unbound") for value in ("x", [1], [""], ["x"] * 101)),
        ("unbound", ["x"] * 9),
        *(("priority", value) for value in (1, "urgent")),
        *(("prompt", value) for value in (None, 1, [], [1.5], [True], [None], {}, [[1]])),
    ],
)
def test_a_wrong_field_of_a_completion_is_named(field: str, value: object):
    with pytest.raises(EngineRefused, match=f"`{field}`"):
        dialect.read_completion({"prompt": "a", field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, 1) for field in ("input_prefix", "input_suffix", "prompt", "heal", "priority")),
        *(("input_extra", value) for value in ("a", {}, ["a"], [[1]])),
    ],
)
def test_a_wrong_field_of_an_infill_is_named(field: str, value: object):
    with pytest.raises(EngineRefused, match=f"`{field}`"):
        dialect.read_infill({field: value})


@pytest.mark.parametrize("field", ["filename", "text"])
def test_a_wrong_field_of_a_neighbouring_file_is_named(field: str):
    with pytest.raises(EngineRefused, match=f"`{field}`"):
        dialect.read_infill({"input_extra": [{field: 1}]})


def test_a_real_llama_servers_answer_is_read():
    """The answer is written by hand as llama-server documents it, without the fields of our engine."""
    stream = [
        {"index": 0, "content": "Hel", "tokens": [9707], "stop": False, "id_slot": -1, "tokens_predicted": 1},
        {
            "index": 0,
            "content": "",
            "tokens": [],
            "id_slot": 0,
            "stop": True,
            "model": "gpt-3.5-turbo",
            "tokens_predicted": 2,
            "tokens_evaluated": 12,
            "generation_settings": {"n_predict": 2},
            "prompt": "Say",
            "has_new_line": False,
            "truncated": False,
            "stop_type": "word",
            "stopping_word": "l",
            "tokens_cached": 13,
            "timings": {
                "cache_n": 4,
                "prompt_n": 8,
                "prompt_ms": 30.5,
                "prompt_per_token_ms": 3.8,
                "predicted_n": 2,
                "predicted_ms": 40.25,
            },
        },
    ]

    assert [dialect.chunk_from_json(event) for event in stream] == [
        Chunk("Hel", None, Usage(generated=1)),
        Chunk("", "word", Usage(8, 4, 2, 30.5, 40.25)),
    ]


@pytest.mark.parametrize(
    ("stop_type", "stop"), [("eos", "eos"), ("limit", "limit"), ("none", "limit"), (None, "limit")]
)
def test_a_llama_servers_reasons_to_stop(stop_type: str | None, stop: str):
    assert dialect.chunk_from_json({"content": "a", "stop": True, "stop_type": stop_type}).stop == stop

"""Tests of the editor plugin llama.vim with our engine: the body it sends and the fields it reads."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine import EngineProcess

BODY: dict[str, Any] = {
    "id_slot": 0,
    "input_prefix": "def f(a):\n",
    "input_suffix": "\nprint(f(1))\n",
    "input_extra": [{"text": "import os\n", "time": 1234.5, "filename": "a.py"}],
    "prompt": "    return ",
    "n_predict": 8,
    "stop": [],
    "n_indent": 4,
    "top_k": 40,
    "top_p": 0.9,
    "stream": False,
    "samplers": ["top_k", "top_p", "infill"],
    "cache_prompt": True,
    "t_max_prompt_ms": 500,
    "t_max_predict_ms": 60_000,
}


@pytest.fixture(scope="module")
def engine(tiny_model: Path, probed: Path) -> Iterator[EngineProcess]:
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(probed.parent.parent))
        with EngineProcess.start(tiny_model, folder / "s", "--n-ctx", "2048", "--kv-disk", "0") as engine:
            yield engine
    shutil.rmtree(folder)


async def test_a_request_of_llama_vim_is_answered(engine: EngineProcess):
    async with engine.http() as http:
        answer = (await http.post("/infill", json=BODY)).raise_for_status().json()

    assert answer["content"]
    assert answer["timings"]["predicted_n"] == 8
    assert answer["timings"]["prompt_n"] + answer["tokens_cached"] == answer["tokens_evaluated"]


async def test_a_warming_request_of_llama_vim_returns_no_text(engine: EngineProcess):
    async with engine.http() as http:
        warm = BODY | {"n_predict": 0, "t_max_predict_ms": 1, "input_prefix": "def g(a):\n"}
        first = (await http.post("/infill", json=warm)).raise_for_status().json()
        second = (await http.post("/infill", json=warm | {"n_predict": 1})).raise_for_status().json()

    assert first["content"] == ""
    assert second["tokens_cached"] == second["tokens_evaluated"] > 0

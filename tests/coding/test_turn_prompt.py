"""Tests that the prompt in the log is the prompt that an engine makes."""

import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_harness.coding.turn.turn_prompt import fit_infill
from lsp_harness.config.schema import Config, EngineSettings, ModelSettings
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.prompt_ceilings import PromptLimit
from lsp_harness.inference.request import Infill, InfillContext, Sampling
from lsp_harness.kernel.log.session_log import SessionLog
from tests.harness.tools import Script

CONTEXT = InfillContext(
    "def area(r):\n    return squ", "\n\nprint(area(1))\n", (("a.py", "# a.py\nx = 1\n"), ("b.py", "y = 2\n"))
)

LIMIT = PromptLimit("fill", 1000)


async def test_the_recorded_prompt_has_the_token_count_of_the_engine(home: Path, tiny_model: Path):
    config = Config(
        model=ModelSettings(str(tiny_model), context_length=2048), engine=EngineSettings(threads=1, idle_seconds=60)
    )
    log = SessionLog(is_saved=False)
    turn = log.turn()
    async with aclosing(EngineClient(config)) as engine:
        assert await fit_infill(engine, CONTEXT, {"prefix": 1}, LIMIT, 4, turn, (1, 2)) == (1, 2)
        request = Infill(CONTEXT, sampling=Sampling(n_predict=4))
        *_, last = [chunk async for chunk in engine.stream(request)]
    [built] = log.turns[turn.number]
    use = last.usage
    # ` squ` is spelled again, letter by letter, and counted as evaluated
    assert (built.data["answer"], built.data["context"]) == (4 + 4, 2048)
    assert built.data["prompt"] + 4 == use.evaluated + use.reused


@pytest.mark.parametrize(("room", "fitting"), [(0, 3), (10_000, 3), (30, 3), (29, 2), (10, 1)])
async def test_the_context_limits_the_number_of_requested_candidates(room: int, fitting: int):
    engine, log = Script(), SessionLog(is_saved=False)
    # 12 words, a title, three marks and what may stand before a prompt; an answer, and the word that each spells again
    prompt = 12 + 1 + 1 + 3 + 1
    engine.extra_props["n_ctx"] = prompt + room if room else 0
    asked = await fit_infill(engine, CONTEXT, {}, LIMIT, 9, turn := log.turn(), (1, 2, 3))
    assert asked == (1, 2, 3)[:fitting]
    [built] = log.turns[turn.number]
    assert (built.data["prompt"], built.data["answer"], built.data["candidates"]) == (prompt, 10, [*asked])


async def test_an_error_about_missing_room_records_no_prompt():
    engine, turn = Script(), (log := SessionLog(is_saved=False)).turn()
    engine.extra_props["n_ctx"] = 20
    with pytest.raises(
        NoAnswer, match="10 are reserved for the answer, but the model's context has only 20; select less"
    ):
        await fit_infill(engine, CONTEXT, {}, LIMIT, 9, turn, (1, 2, 3))
    assert log.turns[turn.number] == []


@pytest.mark.process
def test_a_fix_does_not_load_the_library_that_runs_models():
    """Importing the library takes more than a second, in which the server would answer no request."""
    fresh = "import sys, lsp_harness.coding.fix, lsp_harness.coding.repair_preview; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", fresh], capture_output=True, text=True, check=True).stdout.split()
    assert "lsp_harness.coding.turn.turn_prompt" in loaded
    assert not {"llama_cpp", "numpy", "httpx2", "rich"} & set(loaded)

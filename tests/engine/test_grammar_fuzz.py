"""Tests that every answer of a random model at temperature 2 can be read, whatever the grammar."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine import EngineProcess
from tests.support.grammar_cases import CASES, GrammarCase, generate_at_random
from tests.support.rounds import count_rounds

COUNT = count_rounds(200)


@pytest.fixture(scope="module")
def engine(tiny_model: Path, probed: Path) -> Iterator[EngineProcess]:
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(probed.parent.parent))
        with EngineProcess.start(tiny_model, folder / "s", "--n-ctx", "32768", "--kv-disk", "0") as engine:
            yield engine
    shutil.rmtree(folder)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_each_answer_by_a_grammar_can_be_parsed(engine: EngineProcess, case: GrammarCase):
    async with engine.http() as http:
        tally = await generate_at_random(http, case, COUNT)

    assert tally.failed == []
    assert len(tally.tokens) == COUNT

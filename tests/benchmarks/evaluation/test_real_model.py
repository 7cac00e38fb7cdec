"""One task with the default model."""

from pathlib import Path

import pytest

from benchmarks.evaluation.eval_run import RunOptions
from benchmarks.evaluation.evaluator import Evaluator
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.suites.eval_task import Suite
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models.model_files import resolve_model
from tests.benchmarks.evaluation.suite import make_task

pytestmark = [pytest.mark.model, pytest.mark.timeout(400)]


async def test_the_default_model_answers_a_task(tmp_path: Path):
    try:
        model = resolve_model(Config().model.path).stem
    except HarnessError as error:
        pytest.skip(error.message)
    suite = Suite("small", (make_task(text="The area of a rectangle is wrong: multiply width and height."),))
    options = RunOptions(("single", "ladder"), model)
    file = ResultFile(tmp_path / "out.jsonl")
    results = await Evaluator(suite, Config(), options, file, lambda result, done, total: None).compare_arms()
    single, ladder = results
    assert single.category == "pass"
    # a rewrite for a failing test often repeats the code, so no answer is possible, but never a wrong one
    assert ladder.category in ("pass", "no answer")
    assert all(result.generated > 0 and result.calls > 0 for result in results)
    assert ladder.state_seconds["GENERATE"] > 0
    assert ladder.candidates > 0

"""The advice of `doctor` about the size of the model."""

from typing import Any

import pytest

from lsp_harness.cli.doctor.doctor_engine import advise_model
from lsp_harness.config.schema import Completion

SMALL, LARGER = "qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"


def make_props(speed: float, model: str = SMALL) -> dict[str, Any]:
    return {"model_alias": model, "curve": {"prompt_per_second": speed}}


def test_a_fast_machine_can_use_the_larger_model() -> None:
    row = advise_model(make_props(2000), Completion())
    assert row
    assert row.state == "note"
    assert f"lsp-harness model pull {LARGER}" in row.says
    assert f'model.path = "{LARGER}"' in row.says
    assert "about 880 prompt tokens a second, and 440 are needed" in row.says


def test_on_a_slow_machine_the_larger_model_would_be_too_slow() -> None:
    row = advise_model(make_props(300), Completion())
    assert row
    assert (row.state, row.what) == ("ok", "model size")
    assert "too slow" in row.says


def test_a_user_with_more_patience_gets_other_advice() -> None:
    row = advise_model(make_props(300), Completion(patience_ms=20_000))
    assert row
    assert row.state == "note"


@pytest.mark.parametrize(
    ("facts", "settings"),
    [
        (make_props(2000, "a model of the user"), Completion()),
        ({"model_alias": SMALL}, Completion()),
        (make_props(2000), Completion(patience_ms=0)),
        (make_props(2000, LARGER), Completion()),
    ],
    ids=["unknown model", "unknown speed", "no patience", "no larger model"],
)
def test_without_known_figures_there_is_no_advice(facts: dict[str, Any], settings: Completion) -> None:
    row = advise_model(facts, settings)
    if row:  # the catalogue may get a larger model
        assert LARGER not in row.says

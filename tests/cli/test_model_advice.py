"""The advice of `doctor` and `setup` about the size of the model."""

from typing import Any

import pytest

from lsp_harness.cli.doctor import doctor_engine
from lsp_harness.cli.doctor.doctor_engine import describe_proposal, find_proposal
from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.config.schema import Completion
from lsp_harness.inference.models.catalogue import card, cards
from lsp_harness.inference.models.model_choice import MachineSpeed, propose_model

SMALL, LARGER = "qwen2.5-coder-0.5b-instruct", "qwen2.5-coder-1.5b-instruct"
SEVEN, FOURTEEN, EXPERTS = (
    "qwen2.5-coder-7b-instruct",
    "qwen2.5-coder-14b-instruct",
    "qwen3-coder-30b-a3b-instruct",
)
GB = 10**9


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_engine, "count_memory_bytes", lambda: 8 * GB)


def make_props(speed: float, model: str = SMALL, **library: Any) -> dict[str, Any]:
    return {"model_alias": model, "curve": {"prompt_per_second": speed}, "library": library}


def advise(props: dict[str, Any], settings: Completion) -> DoctorRow:
    """Return the row of `doctor` about an engine."""
    proposal = find_proposal(props, settings)
    assert proposal
    return describe_proposal(proposal)


def test_a_fast_machine_can_use_the_larger_model() -> None:
    row = advise(make_props(2000), Completion())
    assert row.state == "note"
    assert row.says == (
        f"this machine can use a larger model: {LARGER} needs about 1.0 s here for a line in a file that was just "
        f"opened; {SEVEN} needs 5.8 GB, more than half of the memory of 8.0 GB; lsp-harness setup --model {LARGER}"
    )


def test_on_a_slow_machine_the_larger_model_would_be_too_slow() -> None:
    row = advise(make_props(300), Completion())
    assert (row.state, row.what) == ("ok", "model size")
    assert row.says == (
        f"{SMALL} needs about 2.9 s here for a line in a file that was just opened; {LARGER} would need about "
        "6.7 s, and completion.patience_ms allows 2.0 s"
    )


def test_a_user_with_more_patience_gets_other_advice() -> None:
    row = advise(make_props(300), Completion(patience_ms=20_000))
    assert row.state == "note"


def test_the_memory_of_a_graphics_card_decides_what_runs_on_it() -> None:
    row = advise(make_props(9000, device_memory={"RTX": 8 * GB}), Completion())
    assert (
        f"{SEVEN} needs about 0.9 s here on RTX for a line in a file that was just opened; {FOURTEEN} needs 10.6 "
        "GB, more than 90% of the 8.0 GB of RTX" in row.says
    )


@pytest.mark.parametrize(
    ("facts", "settings"),
    [
        (make_props(2000, "a model of the user"), Completion()),
        ({"model_alias": SMALL}, Completion()),
        (make_props(2000), Completion(patience_ms=0)),
    ],
    ids=["unknown model", "unknown speed", "no patience"],
)
def test_without_known_figures_there_is_no_advice(facts: dict[str, Any], settings: Completion) -> None:
    assert find_proposal(facts, settings) is None


MACHINES = {
    # prompt and generated tokens a second with the smallest model, memory, graphics card, its memory
    "two old cores": ((140, 22), 8, ("", 0), SMALL),
    "laptop of 2021": ((900, 55), 16, ("", 0), SMALL),
    "laptop of 2026": ((2400, 120), 32, ("", 0), LARGER),
    "fast processor, little memory": ((40_000, 900), 8, ("", 0), LARGER),
    "workstation": ((14_000, 300), 64, ("", 0), EXPERTS),
    "workstation of 32 GB": ((14_000, 300), 32, ("", 0), SEVEN),
    "graphics card of 6 GB": ((20_000, 400), 16, ("RTX 3050", 6), LARGER),
    "graphics card of 16 GB": ((30_000, 500), 32, ("RTX 4080", 16), FOURTEEN),
    "graphics card of 24 GB": ((60_000, 600), 64, ("RTX 4090", 24), EXPERTS),
}


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_gets_the_largest_model_that_answers_in_time(name: str) -> None:
    (prompt, generated), memory, (device, device_memory), expected = MACHINES[name]
    speed = MachineSpeed(card(SMALL), prompt, generated, memory * GB, device, device_memory * GB)
    proposal = propose_model(speed, Completion(), cards())
    assert proposal
    assert proposal.model.name == expected, proposal.reason
    assert proposal.seconds <= 2.0 or expected == SMALL
    assert proposal.reason.startswith(f"{expected} needs about ")


def test_a_model_with_a_special_task_or_a_limited_licence_is_never_proposed() -> None:
    speed = MachineSpeed(card(SMALL), 1e9, 1e9)
    others = [model for model in cards() if not model.is_general]
    proposal = propose_model(speed, Completion(), others)
    assert proposal
    assert proposal.model.name == SMALL
    assert proposal.reason.endswith("the catalogue has no larger one for everybody")

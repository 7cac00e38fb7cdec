"""The properties of an engine, in words."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.commands import engine_cli as cli
from lsp_harness.cli.doctor.engine_report import compute_reuse_share, list_clients, list_facts, list_limits
from lsp_harness.inference.running_engines import RunningEngine

PROPS: dict[str, Any] = {
    "model_alias": "tiny",
    "default_generation_settings": {"n_ctx": 8192},
    "pending": 2,
    "kv": {"used": 1100},
    "curve": {
        "prompt_per_second": 181.6,
        "generated_per_second": 33.2,
        "decode_ms": {"1": 30.1, "2": 40.4, "3": 50, "8": 90},
    },
    "residents": [
        {"client": "01JABC", "tokens": 1200, "age_s": 130.0, "busy": False},
        {"client": "", "tokens": 34, "age_s": 0.4, "busy": True},
    ],
    "totals": {
        "requests": {"eos": 7, "cancelled": 1200, "word": 0},
        "prompt_tokens_evaluated": 300,
        "prompt_tokens_reused": 9700,
        "tokens_generated": 90,
        "tokens_drafted": 40,
        "tokens_accepted": 30,
    },
}


def test_every_property_of_an_engine_is_shown():
    assert dict(list_facts(PROPS, 650 * 2**20)) == {
        "memory": "650 MiB",
        "context": "8,192 tokens, 1,100 of them used by 2 prompts in memory",
        "speed": "prompts 182 tokens/s, generation 33 tokens/s",
        "a step": "1 token 30 ms, 2 tokens 40 ms, 8 tokens 90 ms",
        "queue": "2 requests",
        "reuse": "97.0% of 10,000 prompt tokens",
        "drafts": "75.0% of 40 tokens accepted",
        "requests": "1,207: cancelled 1,200, eos 7",
    }
    assert list(list_clients(PROPS)) == [("unnamed", "34", "0 s", "at work"), ("01JABC", "1,200", "2 min", "")]


@pytest.mark.parametrize(
    ("extra_props", "says"),
    [
        ({"tcp_port": 8012}, "http://127.0.0.1:8012/v1 (for its token: lsp-harness engine token)"),
        ({"tcp_error": "port 8012 is taken"}, "none: port 8012 is taken"),
    ],
)
def test_the_report_says_at_which_port_other_programs_reach_the_engine(extra_props: dict[str, Any], says: str):
    assert dict(list_facts(PROPS | extra_props, 0))["port"] == says


@pytest.mark.parametrize(
    ("memory", "says"),
    [
        ({"cuts": True, "shifts": True, "window": 0, "recurrent": False}, ""),
        (
            {"cuts": False, "window": 0, "recurrent": True, "checkpoint_bytes": 3 * 2**20},
            "has a state that cannot be rolled back: prompts continue from checkpoints of 3.0 MiB",
        ),
        ({"cuts": True, "window": 1024}, "has a sliding window of 1,024 tokens: prompts cannot be saved"),
        ({"cuts": True, "shifts": False, "window": 0}, "cannot reuse lines that move"),
        (None, ""),
    ],
)
def test_limits_of_the_memory_of_a_model_are_shown(memory: object, says: str):
    props = PROPS | {"memory": memory}
    assert list_limits(props).startswith(says)
    assert dict(list_facts(props, 0)).get("limits", "") == list_limits(props)
    assert bool(list_limits(props)) == bool(says)


def test_the_report_says_that_a_model_cannot_fill_in_the_middle():
    assert list_limits(PROPS | {"fim_tokens": {"pre": -1, "suf": -1, "mid": -1, "pad": -1}}).startswith(
        "has no fill-in-the-middle"
    )
    assert list_limits(PROPS | {"fim_tokens": {"pre": 1, "suf": 2, "mid": 3, "pad": -1}}) == ""
    both = list_limits(PROPS | {"fim_tokens": {"mid": -1}, "memory": {"cuts": False}})
    assert both.startswith("has no fill-in-the-middle")
    assert "; has a state that cannot be rolled back" in both


@pytest.mark.parametrize(
    ("props", "shown"),
    [
        ({}, {}),
        ({"default_generation_settings": {"n_ctx": 64}, "pending": 0}, {"context": "64 tokens", "queue": "0 requests"}),
        # of the wrong types, as another server might have them
        (
            {
                "default_generation_settings": [],
                "pending": "no",
                "curve": 1,
                "residents": {},
                "totals": {"requests": []},
            },
            {},
        ),
        ({"curve": {"decode_ms": {"1": None}, "prompt_per_second": True}, "totals": None}, {}),
    ],
)
def test_missing_figures_are_left_out(props: dict[str, Any], shown: dict[str, str]):
    assert dict(list_facts(props, 0)) == shown
    assert list(list_clients(props)) == []


def test_residents_without_figures_are_still_listed():
    assert list(list_clients({"residents": [{"client": "x" * 99}, None]})) == [
        ("x" * 26, "?", "?", ""),
        ("unnamed", "?", "?", ""),
    ]


def test_the_reuse_is_unknown_before_the_first_prompt():
    assert compute_reuse_share({"prompt_tokens_evaluated": 0, "prompt_tokens_reused": 0}) is None
    assert compute_reuse_share({"prompt_tokens_evaluated": 1, "prompt_tokens_reused": 3}) == 0.75


def test_engine_status_prints_the_properties(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    engines = [
        RunningEngine(7, Path("/run/a.sock"), 2**20, PROPS | {"model_alias": "[bold]"}),
        RunningEngine(8, Path("/run/b.sock"), 2**20, {}),
    ]
    monkeypatch.setattr(cli, "list_engines", lambda: engines)
    assert cli.status() == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["[bold]", "(process", "7,", "/run/a.sock)"]
    assert ["reuse", "97.0%", "of", "10,000", "prompt", "tokens"] in lines
    assert ["01JABC", "1,200", "2", "min"] in lines
    assert ["an", "engine", "that", "does", "not", "answer", "(process", "8,", "/run/b.sock)"] in lines

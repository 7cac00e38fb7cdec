"""The logs of every released version are read as they were when it was current.

`logs/VERSION.jsonl` is the log of a session of that version, and `logs/VERSION.json` what a session knew after it. A
release adds both, and nothing changes them later.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.session_state import SessionState, project_session

LOGS = sorted((Path(__file__).parent / "logs").glob("*.jsonl"))


def describe_state(state: SessionState) -> dict[str, Any]:
    """Return what a state says, as JSON."""
    return json.loads(
        json.dumps(
            {
                "turns": state.turn_count,
                "events": state.next_seq,
                "tokens": asdict(state.tokens),
                "open": [len(state.open_calls), len(state.open_models), len(state.open_tasks), len(state.queue)],
                "summary": asdict(state.summary),
                "messages": [asdict(message) for message in state.conversation.messages],
            },
            default=str,
        )
    )


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_released_log_is_understood(log: Path) -> None:
    events = list(read_log(log))
    assert len(events) == len(log.read_bytes().splitlines())
    assert describe_state(project_session(events)) == json.loads(log.with_suffix(".json").read_text())


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_released_log_is_continued_in_another_place(log: Path, tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    id = next(iter(read_log(log))).session_id
    before = log.read_bytes()
    store.path(id).parent.mkdir()
    store.path(id).write_bytes(before)
    opened = store.open(id)
    opened.log.close()
    after = store.path(id).read_bytes()
    assert after.startswith(before)
    expected = json.loads(log.with_suffix(".json").read_text())
    assert describe_state(project_session(read_log(store.path(id))))["messages"] == expected["messages"]

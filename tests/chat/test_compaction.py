"""Compaction: every prompt fits, and what is still open stays in it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.compaction import OpenGate, converse, render_table
from lsp_harness.chat.answer_protocol import ChatSettings
from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.chat_model import Model
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.errors import NoAnswer
from lsp_harness.events.model_events import ModelCompleted
from lsp_harness.events.session_events import InvocationReceived, SessionStarted
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.session import Session
from lsp_harness.permission.hooks import Hook, Hooks


@pytest.mark.parametrize(("turns", "window", "seed"), [(60, 4096, 1), (40, 2048, 2)])
def test_every_prompt_fits_and_keeps_open_work(tmp_path: Path, turns: int, window: int, seed: int) -> None:
    report = asyncio.run(converse(tmp_path, turns=turns, window=window, seed=seed))
    assert report.problems == []
    assert 0 < report.largest <= report.budget
    assert report.prompts >= turns
    assert set(report.tiers) >= {"drop_thinking", "promote", "tombstone", "summarize_more", "summarize_steps"}
    assert all(tier.after < tier.before for tier in report.tiers.values())
    assert render_table(report).count("\n") == len(report.tiers) + 1


class Conversation:
    """A session with old turns that fill a window of 1,024 tokens to more than a half."""

    def __init__(self, folder: Path, *hooks: Hook, old_turns: int = 4, words: int = 90) -> None:
        self.session = Session(SessionStore(folder).create(), SessionStarted("/w", "chat"))
        self.engine = ScriptedEngine([{"text": "Fine."}])
        self.hooks = Hooks(hooks, self.session.log.append_to_running)
        log = self.session.log
        for _ in range(old_turns):
            turn = log.turn()
            turn.append(InvocationReceived("message", "ask " * 10))
            turn.append(ModelCompleted("m", "so " * 5, thinking="hm " * words))

    def run(self) -> str:
        artifacts = ArtifactStore(self.session.log.folder, self.session.log.append_to_running)
        execution = ToolExecution({}, OpenGate(), artifacts, self.hooks)
        settings = ChatSettings("You help.", context_tokens=1024)
        driver = ChatDriver([Model("m", self.engine)], {}, execution, settings, self.hooks)
        return asyncio.run(self.session.submit(Ingress("message", "go on"), driver)).text

    def events(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in read_log(self.session.log.path) if event.type == type]


def test_hooks_are_called_before_and_after_each_tier(tmp_path: Path) -> None:
    heard: list[Mapping[str, Any]] = []
    hooks = [Hook(event, function=heard.append) for event in ("preCompact", "postCompact")]
    conversation = Conversation(tmp_path, *hooks)
    assert conversation.run() == "Fine."
    assert [(facts["event"], facts["tier"]) for facts in heard[:2]] == [
        ("preCompact", "drop_thinking"),
        ("postCompact", "drop_thinking"),
    ]
    assert heard[1]["after"] < heard[1]["tokens"] == heard[0]["tokens"]


def test_a_denied_tier_is_not_applied_and_the_next_one_is(tmp_path: Path) -> None:
    def deny_thinking(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"decision": "deny", "reason": "keep it"} if facts["tier"] == "drop_thinking" else None

    conversation = Conversation(tmp_path, Hook("preCompact", function=deny_thinking))
    assert conversation.run() == "Fine."
    tiers = [data["tier"] for data in conversation.events("compaction.completed")]
    assert tiers
    assert "drop_thinking" not in tiers


def test_a_prompt_that_must_not_be_compacted_fails_with_the_reason_of_the_hook(tmp_path: Path) -> None:
    def deny(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"decision": "deny", "reason": "keep everything"}

    conversation = Conversation(tmp_path, Hook("preCompact", function=deny))
    with pytest.raises(NoAnswer, match="keep everything"):
        conversation.run()
    assert conversation.events("compaction.completed") == []


@pytest.mark.parametrize(("words", "is_cut"), [(330, False), (342, True)])
def test_a_summary_that_saves_no_tokens_is_discarded(tmp_path: Path, words: int, is_cut: bool) -> None:
    conversation = Conversation(tmp_path, old_turns=0)
    log = conversation.session.log
    for text in ("a", "b", "c", "word " * words):
        turn = log.turn()
        turn.append(InvocationReceived("message", text))
        turn.append(ModelCompleted("m", "ok"))
    assert conversation.run() == "Fine."
    assert conversation.events("compaction.summary") == []
    assert "tokens with the summary" in conversation.events("compaction.summary.failed")[0]["reason"]
    tiers = [data["tier"] for data in conversation.events("compaction.completed")]
    assert tiers == (["cut"] if is_cut else [])
    texts = [message.text for message in conversation.session.state.conversation.messages]
    assert ("a" not in texts) == is_cut


def test_the_reasoning_of_a_model_is_separated_from_its_answer(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path, old_turns=0)
    conversation.engine = ScriptedEngine(
        [{"tokens": [["<thi", 1.0], ["nk>\nma", 1.0], ["ybe\n</th", 1.0]], "text": "ink>Yes."}]
    )
    frames: list[tuple[str, str]] = []
    conversation.session.log.listeners.append(
        lambda event: frames.append((event.type, event.data["content"])) if event.seq is None else None
    )
    assert conversation.run() == "Yes."
    assert conversation.events("model.completed")[0]["thinking"] == "maybe"
    texts = {type: "".join(text for kind, text in frames if kind == type) for type, _ in frames}
    assert texts == {"thinking.delta": "\nmaybe\n", "text.delta": "Yes."}

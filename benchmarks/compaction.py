"""A conversation of many turns in a small window, with a check of every prompt.

    python -m benchmarks.compaction --turns 200 --window 4096

A scripted model calls tools with outputs of many sizes, some of which fail. Before each model call, the prompt must
fit, must name every failure that nothing has repaired and every call without a result, and must be the same if it is
built again or from the log on disk.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.chat.answer_protocol import ANSWER_TOKENS, ChatSettings
from lsp_harness.chat.chat_driver import ChatDriver
from lsp_harness.chat.chat_model import WINDOW_SHARE, Model
from lsp_harness.chat.conversation_prompt import ChatPrompt, build_messages
from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tool_calls import CALL_END, CALL_START
from lsp_harness.chat.tool_execution import ToolExecution
from lsp_harness.events.model_events import ModelCompleted, ModelStarted, ToolCall
from lsp_harness.events.session_events import InvocationReceived, SessionStarted, TurnStarted
from lsp_harness.events.tool_events import TaskFailed, TaskStarted, ToolStarted
from lsp_harness.inference.request import Chunk, ModelRequest, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState, project_session
from lsp_harness.kernel.session import Session
from lsp_harness.permission.action import Action, Decision
from lsp_harness.permission.hooks import Hooks

SYSTEM = "You are a coding assistant. " + "Follow the rules of the project. " * 40
OUTPUT_WORDS = (1, 20, 60, 150, 400, 900)
"""Sizes of outputs. The last ones are larger than the limit from which an output becomes an artifact at once."""
KILL_EVERY = 50
RELOAD_EVERY = 10
LONG_EVERY = 9
"""Every ninth turn calls so many tools that it does not fit into the window."""


class OpenGate:
    """A gate that allows everything."""

    async def check(self, action: Action) -> Decision:
        return Decision("allow", "mode")

    def asks(self, action: Action) -> bool:
        return False


@dataclass
class ReadTool:
    """Returns a text of the size that the call names, or fails."""

    name: str = "read"
    description: str = "Read a file."
    schema: Mapping[str, Any] = field(
        default_factory=lambda: {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "words": {"type": "integer"},
                "fails": {"type": "boolean"},
            },
            "required": ["path", "words", "fails"],
        }
    )

    def action(self, input: Mapping[str, Any]) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Mapping[str, Any], context: CallContext) -> ToolResult:
        if input["fails"]:
            return ToolResult(f"cannot read {input['path']}: " + "broken " * input["words"], is_error=True)
        return ToolResult(f"content of {input['path']} " + "word " * input["words"])


class ProbingEngine(ScriptedEngine):
    """A model that writes random calls, thoughts and answers."""

    def __init__(self, seed: int, window: int) -> None:
        super().__init__([])
        self.extra_props = {"n_ctx": window}
        self._random = random.Random(seed)
        self.calls = 0
        """Calls to make before an answer."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        text = self._answer()
        yield Chunk(text)
        yield Chunk("", "eos", Usage(1, generated=len(text.split())))

    def _answer(self) -> str:
        draw = self._random
        thinking = "<think>\n" + "maybe " * draw.choice((5, 40, 120)) + "\n</think>\n" if draw.random() < 0.5 else ""
        self.calls -= 1
        if self.calls < 0 and draw.random() < 0.35:
            return thinking + "It is done. " + "Because so. " * draw.choice((1, 10, 40))
        path = f"src/file{draw.randrange(40)}.py"
        call = {
            "name": "read",
            "arguments": {"path": path, "words": draw.choice(OUTPUT_WORDS), "fails": draw.random() < 0.06},
        }
        return f"{thinking}{CALL_START}\n{json.dumps(call)}\n{CALL_END}"


@dataclass
class TierFigures:
    """The tokens of all prompts before and after one tier."""

    count: int = 0
    before: int = 0
    after: int = 0
    without_effect: int = 0


@dataclass
class Report:
    """The result of a conversation.

    Attributes:
        turns: The turns that were asked for.
        prompts: The prompts that were checked.
        largest: The tokens of the largest prompt.
        budget: The tokens that a prompt may have.
        tiers: Name of a tier → its figures.
        problems: A sentence for each broken promise.
    """

    turns: int = 0
    prompts: int = 0
    largest: int = 0
    budget: int = 0
    tiers: dict[str, TierFigures] = field(default_factory=dict[str, TierFigures])
    problems: list[str] = field(default_factory=list[str])


class CheckedDriver(ChatDriver):
    """A driver that checks each prompt before the model gets it."""

    report: Report

    async def build_prompt(self, state: SessionState, turn: Turn) -> ChatPrompt:
        prompt = await super().build_prompt(state, turn)
        again = await super().build_prompt(state, turn)
        report = self.report
        report.prompts += 1
        report.largest = max(report.largest, prompt.tokens)
        if again.hash != prompt.hash or build_messages(self.system, state.conversation) != prompt.messages:
            report.problems.append(f"turn {turn.number}: the prompt is another one if it is built again")
        report.problems += [f"turn {turn.number}: {problem}" for problem in find_losses(state, prompt.messages)]
        return prompt


def find_losses(state: SessionState, messages: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence for each open failure and each call without a result that a prompt does not contain."""
    text = "\n".join(content for _, content in messages)
    losses: list[str] = []
    for (tool, subject), message in state.activity.failures.items():
        if f"Still failing: {tool} {subject}" not in text and message[:60].rstrip() not in text:
            losses.append(f"the failure of {tool} {subject} is not in the prompt")
    losses += [
        f"the open call {call.tool} {call.input} is not in the prompt"
        for message in state.conversation.messages
        for call in message.calls
        if call.call_id in state.open_calls and json.dumps(dict(call.input)) not in text
    ]
    known = {call.call_id for message in state.conversation.messages for call in message.calls}
    return losses + [f"the open call {call.name} was cut" for id, call in state.open_calls.items() if id not in known]


async def converse(folder: Path, *, turns: int = 200, window: int = 4096, seed: int = 1) -> Report:
    """Run a conversation and return its report."""
    report = Report(turns, budget=int(window * WINDOW_SHARE) - ANSWER_TOKENS)
    store, draw = SessionStore(folder), random.Random(seed)
    engine = ProbingEngine(seed, window)
    log = store.create()
    session = Session(log, SessionStarted("/w", "chat"))
    tools = {"read": ReadTool()}
    artifacts = ArtifactStore(log.folder, log.append_to_running)

    def create_driver() -> CheckedDriver:
        execution = ToolExecution(tools, OpenGate(), artifacts, Hooks())
        driver = CheckedDriver([Model("scripted", engine)], tools, execution, ChatSettings(SYSTEM))
        driver.report = report
        return driver

    for number in range(turns):
        if number % 25 == 7:
            log.append(TaskStarted(f"t{number}", "shell", f"make check{number}", "background"))
            log.append(TaskFailed(f"t{number}", "exit code 2", is_background=True))
        engine.calls = 14 if number % LONG_EVERY == LONG_EVERY - 1 else 0
        request = f"Request {number}: " + "please " * draw.choice((3, 30, 200))
        await session.submit(Ingress("message", request), create_driver())
        if number % RELOAD_EVERY == 0:
            reloaded = project_session(read_history(folder, log.id))
            if build_messages("", reloaded.conversation) != build_messages("", log.state.conversation):
                report.problems.append(f"turn {number}: the prompt from the log is another one")
        if number % KILL_EVERY == KILL_EVERY - 1:
            leave_call_open(session, number)
            await compact_completely(create_driver(), session, report)
            log.close()
            opened = store.open(log.id)
            log = opened.log
            session = Session(log)
            artifacts = ArtifactStore(log.folder, log.append_to_running)
    add_tiers(report, folder, log.id)
    log.close()
    return report


def leave_call_open(session: Session, number: int) -> None:
    """Begin a turn with a call, as a process that is killed leaves it."""
    turn = session.log.turn()
    call = ToolCall(f"open{number}", "read", {"path": f"open{number}.py", "words": 1, "fails": False})
    turn.append(InvocationReceived("message", f"Request of the killed process {number}"))
    turn.append(TurnStarted(turn.number, "chat"))
    turn.append(ModelStarted("scripted"))
    turn.append(ModelCompleted("scripted", tool_calls=(call,)))
    turn.append(ToolStarted(call.call_id, call.tool, call.input))


async def compact_completely(driver: CheckedDriver, session: Session, report: Report) -> None:
    """Make the prompt as small as it gets while a call is open, and check it."""
    turn = session.log.turn()
    while await driver.should_compact(session.state):
        await driver.compact(session.state, turn)
    report.problems += find_losses(session.state, build_messages(driver.system, session.state.conversation))


def add_tiers(report: Report, folder: Path, id: str) -> None:
    """Add the figures of all compactions in a log to a report."""
    for event in read_history(folder, id):
        if event.type == "compaction.completed":
            tier = report.tiers.setdefault(event.data["tier"], TierFigures())
            tier.count += 1
            tier.before += event.data["before"]
            tier.after += event.data["after"]
            tier.without_effect += event.data["after"] >= event.data["before"]


def render_table(report: Report) -> str:
    """Return the figures of each tier as a table in Markdown."""
    rows = ["| tier | applied | tokens before | after | no fewer tokens |", "|---|---:|---:|---:|---:|"]
    for name, tier in report.tiers.items():
        before, after = tier.before / tier.count, tier.after / tier.count
        rows.append(f"| `{name}` | {tier.count} | {before:,.0f} | {after:,.0f} | {tier.without_effect} |")
    return "\n".join(rows)


def main() -> int:
    """Print the table, and return 1 if a promise was broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--window", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(converse(Path(folder), turns=given.turns, window=given.window, seed=given.seed))
    print(render_table(report))
    print(f"{report.turns} turns, {report.prompts} prompts; largest {report.largest} of {report.budget} tokens")
    print("\n".join(report.problems[:20]) or "no failure, call or prompt was lost")
    return 1 if report.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())

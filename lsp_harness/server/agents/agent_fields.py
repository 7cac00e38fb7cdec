"""Agents as JSON for the editor."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.server.editor_client import EditorClient

if TYPE_CHECKING:
    from lsp_harness.agents.agent_worktrees import AgentWorktrees
    from lsp_harness.agents.change_review import ChangeReview
    from lsp_harness.runtime.agent import Agent


def agent_fields(client: EditorClient, agent: "Agent") -> dict[str, Any]:
    """Return an agent with the questions that wait for the user. Those that the permission gate decides do not."""
    # imported late, because nothing of the runtime is loaded before the first agent
    from lsp_harness.runtime.question_desk import GATE_KINDS, question_fields

    asked = client.asked_questions
    questions = [
        question_fields(question)
        for question in agent.open_questions
        if question.kind not in GATE_KINDS or (agent.id, question.id) in asked
    ]
    return {**agent.fields(), "questions": questions}


def review_fields(worktrees: "AgentWorktrees", agent_id: str, review: "ChangeReview") -> dict[str, Any]:
    """Return what an agent changed, with its verdict and the diff."""
    isolated = worktrees.find(agent_id)
    return {**review.fields(isolated.root if isolated else Path()), "text": review.diff}

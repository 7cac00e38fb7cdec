"""The routes of what agents changed in worktrees of their own: verify, apply, undo and discard."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.agents.agent_routes import require_agent
from lsp_harness.api.api_route import ApiCall, ApiRoute
from lsp_harness.harness.agents.agent_worktrees import AgentWorktrees

if TYPE_CHECKING:
    from lsp_harness.harness.agents.change_review import Review


def _find_worktrees(call: ApiCall) -> AgentWorktrees:
    return call.context.agents.changes.worktrees


def _review_fields(worktrees: AgentWorktrees, agent_id: str, review: "Review") -> dict[str, Any]:
    isolated = worktrees.find(agent_id)
    assert isolated, "an agent with a review has a worktree"
    return {**review.fields(isolated.root), "text": review.diff}


async def show_review(call: ApiCall) -> Any:
    """Return the last review of what an agent has changed."""
    agent, worktrees = require_agent(call), _find_worktrees(call)
    return _review_fields(worktrees, agent.id, worktrees.require_review(agent.id))


async def verify_changes(call: ApiCall) -> Any:
    """Verify what an agent has changed until now."""
    agent, worktrees = require_agent(call), _find_worktrees(call)
    review = await worktrees.review(agent.id, agent.spec.name)
    return _review_fields(worktrees, agent.id, review)


async def apply_changes(call: ApiCall) -> Any:
    """Write the changes of a review to the folder of the user."""
    agent, worktrees = require_agent(call), _find_worktrees(call)
    review = await worktrees.apply(agent.id, call.body["reviewId"], unchecked=call.body.get("unchecked", False))
    return {"files": _review_fields(worktrees, agent.id, review)["files"]}


async def undo_changes(call: ApiCall) -> Any:
    """Take back the changes that were applied last."""
    agent = require_agent(call)
    result = await _find_worktrees(call).undo(agent.id, force=call.body.get("force", False))
    return {"paths": list(result.paths), "skipped": dict(result.skipped)}


async def discard_changes(call: ApiCall) -> Any:
    """Remove the worktree of an agent with everything in it."""
    agent = require_agent(call)
    if _find_worktrees(call).find(agent.id):
        # it would go on in a folder that is gone
        await agent.stop()
    await _find_worktrees(call).discard(agent.id)


FILES = schemas.list_of(
    schemas.answer(
        path=schemas.text("Relative to the folder of the user."), kind=schemas.text("changed, created or removed.")
    ),
)
REVIEW = schemas.answer(
    reviewId=schemas.text("The review, for POST /agents/{id}/apply: the hash of the changes. Empty without changes."),
    passed=schemas.flag("Whether the changes passed the checks, so that they can be applied."),
    isChecked=schemas.flag("Whether a check could read a change. Else only `unchecked` applies them."),
    verdict=schemas.text("The outcome of each check in words, or `not checked`."),
    findings=schemas.list_of(schemas.text(), "What the checks report."),
    hash=schemas.text("The hash of the changed texts."),
    files=FILES,
    leftOut=schemas.open_object("Path → why its change is neither checked nor applied."),
    text=schemas.text("All changes as a unified diff. It is not trusted: show it as text."),
)
CHANGE_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/agents/{agent_id}/changes",
        "showReview",
        "Return the last review of what an agent has changed in its worktree.",
        show_review,
        REVIEW,
        description="The changes are verified whenever the agent has done its work. 404 until then.",
        errors=("NOT_FOUND", "INVALID"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/changes",
        "verifyChanges",
        "Verify what an agent has changed in its worktree until now.",
        verify_changes,
        REVIEW,
        description="The checks are those of our own edits. Nothing is written to the folder of the user. Equal "
        "changes have the same `reviewId`, and are verified once.",
        body=schemas.body(),
        errors=("NOT_FOUND", "INVALID"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/apply",
        "applyChanges",
        "Write the changes of a review to the folder of the user.",
        apply_changes,
        schemas.answer(files=FILES),
        description="The verdict must be passed, and the permission gate must allow it. A checkpoint undoes it.",
        body=schemas.body(
            "reviewId",
            reviewId=schemas.text("The review that the user saw.", maxLength=64),
            unchecked=schemas.flag("Apply changes that no check can read, such as those of a plain text."),
        ),
        errors=("NOT_FOUND", "INVALID", "CONFLICT"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/undo",
        "undoChanges",
        "Take back the changes that were applied last.",
        undo_changes,
        schemas.answer(
            paths=schemas.list_of(schemas.text()), skipped=schemas.open_object("Path → why it was left as it is.")
        ),
        body=schemas.body(force=schemas.flag("Also files that somebody changed since.")),
        errors=("NOT_FOUND", "INVALID", "CONFLICT"),
    ),
    ApiRoute(
        "POST",
        "/agents/{agent_id}/discard",
        "discardChanges",
        "Remove the worktree of an agent with everything in it.",
        discard_changes,
        schemas.answer(),
        status=204,
        errors=("NOT_FOUND", "INVALID"),
        body=schemas.body(),
    ),
)
"""The routes of what agents changed."""

"""The routes of what agents changed in worktrees of their own: verify, apply, undo and discard."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsp_harness.agents.agent_verbs import ChangeAuthor
from lsp_harness.agents.agent_worktrees import AgentWorktrees
from lsp_harness.agents.worktree_records import describe_worktree
from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.api_errors import NotFound
from lsp_harness.api.api_route import ApiCall, ApiRoute
from lsp_harness.api.routes.agent_routes import AGENT_ID

if TYPE_CHECKING:
    from lsp_harness.agents.change_review import ChangeReview


def _find_worktrees(call: ApiCall) -> AgentWorktrees:
    return call.context.agents.changes.worktrees


async def _require_author(call: ApiCall) -> ChangeAuthor:
    agent_id = call.path["agent_id"]
    if not AGENT_ID.fullmatch(agent_id):
        raise NotFound("there is no such agent", "list the worktrees with GET /worktrees")
    return await call.context.agents.require_author(agent_id)


def _review_fields(worktrees: AgentWorktrees, agent_id: str, review: "ChangeReview") -> dict[str, Any]:
    isolated = worktrees.find(agent_id)
    assert isolated, "an agent with a review has a worktree"
    return {**review.fields(isolated.root), "text": review.diff}


async def show_review(call: ApiCall) -> Any:
    """Return the last review of what an agent has changed."""
    author, worktrees = await _require_author(call), _find_worktrees(call)
    return _review_fields(worktrees, author.id, worktrees.require_review(author.id))


async def verify_changes(call: ApiCall) -> Any:
    """Verify what an agent has changed until now."""
    author, worktrees = await _require_author(call), _find_worktrees(call)
    review = await worktrees.review(author.id, author.name)
    return _review_fields(worktrees, author.id, review)


async def apply_changes(call: ApiCall) -> Any:
    """Write the changes of a review to the folder of the user."""
    author, worktrees = await _require_author(call), _find_worktrees(call)
    review = await worktrees.apply(author.id, call.body["reviewId"], unchecked=call.body.get("unchecked", False))
    return {"files": _review_fields(worktrees, author.id, review)["files"]}


async def undo_changes(call: ApiCall) -> Any:
    """Take back the changes that were applied last."""
    author = await _require_author(call)
    result = await _find_worktrees(call).undo(author.id, force=call.body.get("force", False))
    return {"paths": list(result.paths), "skipped": dict(result.skipped)}


async def discard_changes(call: ApiCall) -> Any:
    """Remove the worktree of an agent with everything in it."""
    author = await _require_author(call)
    if _find_worktrees(call).find(author.id):
        # it would go on in a folder that is gone
        await author.stop()
    await _find_worktrees(call).discard(author.id)


async def list_worktrees(call: ApiCall) -> Any:
    """Return the worktrees of all agents, also of earlier servers."""
    pool = call.context.pool
    running = {agent.id for agent in pool.running}
    worktrees = [await describe_worktree(record, running) for record in await _find_worktrees(call).list_records()]
    return {"worktrees": worktrees}


FILES = schemas.list_of(
    schemas.answer(
        path=schemas.text("Relative to the folder of the user."), kind=schemas.text("changed, created or removed.")
    ),
)
REVIEW = schemas.answer(
    reviewId=schemas.text("The review, for POST /agents/{id}/apply: the hash of the changes. Empty without changes."),
    passed=schemas.flag(
        "Whether no check failed, so that they can be applied. It does not say that they are verified."
    ),
    standing=schemas.text(
        "verified, form (no test decided the behaviour), incomplete (only the syntax was looked at), unresolved, "
        "failed or unchecked."
    ),
    isChecked=schemas.flag("Whether a check could read a change. Else only `unchecked` applies them."),
    verdict=schemas.text("The verdict in words, and each check with its outcome and why it was skipped."),
    findings=schemas.list_of(schemas.text(), "What the checks report."),
    hash=schemas.text("The hash of the changed texts."),
    files=FILES,
    leftOut=schemas.open_object("Path → why its change is neither checked nor applied."),
    text=schemas.text("All changes as a unified diff. It is not trusted: show it as text."),
)
WORKTREE = schemas.answer(
    agentId=schemas.text("The agent, for GET /agents/{id}/changes and the routes to apply, undo and discard."),
    name=schemas.text(),
    type=schemas.text("The kind of the agent. Empty if it is not known."),
    branch=schemas.text("Its branch in the repository."),
    folder=schemas.text(),
    repository=schemas.text("The folder of the user."),
    createdAt=schemas.text("ISO 8601, UTC. Empty if it is not known."),
    isRunning=schemas.flag("Whether the agent runs in this server."),
    takenBy={
        **schemas.NULLABLE_NUMBER,
        "description": "The process of lsp-harness that is in charge, if not this one.",
    },
    changedFiles=schemas.number("The number of files that differ from the beginning."),
    isApplied=schemas.flag("Whether changes were applied that can be undone."),
    problem=schemas.text("Why the worktree cannot be read. Empty if it can."),
)
CHANGE_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/worktrees",
        "listWorktrees",
        "List the worktrees of agents, also those that earlier servers left.",
        list_worktrees,
        schemas.answer(worktrees=schemas.list_of(WORKTREE)),
    ),
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

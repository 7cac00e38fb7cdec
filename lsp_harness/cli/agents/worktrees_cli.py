"""The commands of `lsp-harness agents` about worktrees: list, review, apply, undo and discard what agents changed."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.agents.api_client import ApiClient, agent_path
from lsp_harness.cli.console import JsonOption, console, print_json, say

Author = Annotated[str, Parameter(help="The id of the agent, also of one that an earlier server started.")]
LIST_S = 60.0
CHECK_S = 600.0
"""Time for the checks of the changes, which may start the type checkers of the project."""


def worktrees(*, json: JsonOption = False) -> int:
    """List the worktrees of agents, also those that earlier servers left."""
    rows = ApiClient().request("GET", "/worktrees", timeout_s=LIST_S)["worktrees"]
    if json:
        print_json(rows)
    elif not rows:
        say("there is no worktree of an agent")
    else:
        _print_worktrees(rows)
    return 0


def changes(agent: Author, /, *, json: JsonOption = False) -> int:
    """Verify and print what an agent changed in its worktree. Exits 1 if the changes cannot be applied."""
    review = ApiClient().request("POST", agent_path(agent, "changes"), {}, timeout_s=CHECK_S)
    has_changes = bool(review["reviewId"])
    if json:
        print_json(review)
    elif has_changes:
        say("\n".join(filter(None, (review["text"].rstrip(), review["verdict"], *review["findings"]))))
        for path, reason in review["leftOut"].items():
            say(f"left out: {path}: {reason}")
        if review["passed"]:
            say(f"to apply it: lsp-harness agents apply {agent} {review['reviewId']}")
        elif not review["isChecked"] and not review["findings"]:
            say(f"no check can read it; to apply it: lsp-harness agents apply {agent} {review['reviewId']} --unchecked")
    else:
        say("the agent has changed nothing")
    return 0 if review["passed"] or not has_changes else 1


def apply(
    agent: Author,
    review: Annotated[str, Parameter(help="The id of the review that `lsp-harness agents changes` printed.")],
    /,
    *,
    unchecked: Annotated[
        bool, Parameter(negative="", help="Apply changes that no check can read, such as those of a plain text.")
    ] = False,
) -> int:
    """Write reviewed changes of an agent to your folder. The checks must have passed."""
    body = {"reviewId": review, "unchecked": unchecked}
    answer = ApiClient().request("POST", agent_path(agent, "apply"), body, timeout_s=CHECK_S)
    say("\n".join(f"{file['kind']} {file['path']}" for file in answer["files"]))
    return 0


def undo(
    agent: Author,
    /,
    *,
    force: Annotated[bool, Parameter(negative="", help="Also files that somebody changed since.")] = False,
) -> int:
    """Take back the changes of an agent that were applied last."""
    answer = ApiClient().request("POST", agent_path(agent, "undo"), {"force": force}, timeout_s=CHECK_S)
    for path in answer["paths"]:
        say(f"restored {path}")
    for path, reason in answer["skipped"].items():
        say(f"kept {path}: {reason}")
    return 0


def discard(agent: Author, /) -> int:
    """Stop an agent, and remove its worktree and its branch with everything in them."""
    ApiClient().request("POST", agent_path(agent, "discard"), {}, timeout_s=LIST_S)
    return 0


WORKTREE_COMMANDS = (worktrees, changes, apply, undo, discard)
"""The commands, for the app of `lsp-harness agents`."""


def _print_worktrees(rows: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("agent", "name", "state", "changes", "branch", "repository", box=None, padding=(0, 1))
    for row in rows:
        state = "runs" if row["isRunning"] else f"process {row['takenBy']}" if row["takenBy"] else "ended"
        count = row["problem"] or (f"{row['changedFiles']} files" if row["changedFiles"] else "none")
        table.add_row(*map(Text, (row["agentId"], row["name"], state, count, row["branch"], row["repository"])))
    console().print(table)

"""`lsp-harness code`: prompts about the code of a project in a terminal, each an edit, an answer or a fix."""

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.sessions.chat_cli import converse
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import UsageError


def code(
    *,
    project: Annotated[str, Parameter(help="The folder of the project. The default is the present folder.")] = "",
    flags: SessionFlags | None = None,
) -> int:
    """Change, fix, write and explain the code of a project, in a terminal.

    Say what to do, and where if you know it. You see each step, then the change as a diff, and are asked whether to
    apply it.
    """
    flags = flags or SessionFlags()
    if project and flags.cwd:
        raise UsageError("--project and --cwd mean the same; give one of them")
    return converse(replace(flags, driver="code", cwd=project or flags.cwd))

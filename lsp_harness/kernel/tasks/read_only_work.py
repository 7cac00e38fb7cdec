"""Commands that may only read: the view in which a task runs them."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsp_harness.disk.ownership import find_home
from lsp_harness.errors import UsageError
from lsp_harness.files.secret_search import find_secret_files
from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.process.sandbox.read_only_view import ReadOnlyView
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.verify.project_tests.hidden_files import list_private_paths
from lsp_harness.verify.project_tests.project_view import list_program_folders, view_environment


def confine_reading(
    work: ShellWork, roots: Sequence[Path], choice: SandboxChoice | None = None, visible: Sequence[Path] = ()
) -> ShellWork:
    """Return work that does the same, but can only read the workspace, in the strongest sandbox of this machine.

    The command cannot change a file, reach the network, a socket or another process, or read a file with secrets, and
    no variable that may hold a key is in its environment. It looks at the files of the workspace, so it belongs in a
    thread.

    Args:
        work: The command and its folder.
        roots: The workspace folders.
        choice: The sandbox. The default is that of this machine.
        visible: Files of the home that the command may read.

    Raises:
        UsageError: No sandbox works here, or the command cannot be confined. Nothing may run then.
        TooManyFilesError: The workspace has too many files to look for secrets.
    """
    choice = choice or machine_sandbox()
    if not choice.is_confined or choice.sandbox.has_network:
        reason = choice.problem_text or f"the sandbox {choice.sandbox.name} does not close the network"
        raise UsageError(f"no sandbox works here that prevents writing ({reason}); see `lsp-harness doctor`")
    private = [path for root in roots for path in list_private_paths(root, keeps_project=False)]
    environment, home = view_environment(given=work.env), find_home()
    view = ReadOnlyView(
        choice.sandbox,
        tuple(roots),
        absent=tuple(dict.fromkeys([*private, *find_secret_files(roots)])),
        hidden=(home,) if home and home != Path("/") else (),
        visible=(*list_program_folders(environment.get("PATH", "")), Path(sys.prefix), Path(sys.base_prefix), *visible),
    )
    try:
        return replace(work, command=view.wrap(work.argv, work.cwd), env={**environment, "TMPDIR": "/tmp"})
    except ValueError as error:
        raise UsageError(f"the command cannot be kept from writing: {error}") from error

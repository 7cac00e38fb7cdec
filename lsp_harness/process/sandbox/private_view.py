"""The sandbox by namespaces and overlays of the Linux kernel. It needs no other program."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.process.sandbox.sandbox import PROBE_TIMEOUT_S, Sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

if TYPE_CHECKING:
    from lsp_harness.process.sandbox.namespace_launcher import ViewRequest

LAUNCHER = Path(__file__).with_name("namespace_launcher.py")
UBUNTU_SWITCH = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
"""File in which Ubuntu says whether ordinary users may not use namespaces of users."""


class PrivateView(Sandbox):
    """A private view of the machine: every file at its own path, and changes in chosen folders only for the program."""

    name = "namespaces"
    can_replace_files = True
    has_overlays = True

    def wrap(self, argv: Sequence[str], policy: SandboxPolicy) -> list[str]:
        """Return the command line that runs a command within the view of a policy."""
        return [sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(describe_view(policy)), *argv]

    def find_problem(self) -> str:
        """Return why this sandbox does not work here, or an empty text. It tries one with an overlay."""
        try:
            return self._try()
        except OSError as error:
            return error.strerror or str(error)

    def _try(self) -> str:
        """Return why a view with an overlay does not work, or an empty text. Raises OSError."""
        with tempfile.TemporaryDirectory(prefix="lsp-harness-probe-") as folder:
            project, text, layer = (Path(folder) / name for name in ("project", "text", "layer"))
            project.mkdir()
            layer.mkdir()
            file = project / "file"
            file.write_text("outside")
            text.write_text("inside")
            policy = SandboxPolicy(project, replaced={file: text}, overlays=(project,), layer=layer)
            command = self.wrap(["/bin/sh", "-c", "cat file && echo left > left"], policy)
            try:
                result = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    timeout=PROBE_TIMEOUT_S,
                    check=False,
                    stdin=subprocess.DEVNULL,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return str(error)
            if result.returncode:
                lines = result.stderr.strip().splitlines()
                return (lines[-1] if lines else f"the exit status is {result.returncode}") + _describe_remedy()
            if result.stdout != "inside" or (project / "left").exists() or file.read_text() != "outside":
                return "an overlay does not keep its changes apart"
        return ""


def describe_view(policy: SandboxPolicy) -> "ViewRequest":
    """Return a policy as a request to `namespace_launcher`.

    Raises:
        ValueError: There are overlays, but no folder for their changes.
    """
    if policy.overlays and policy.layer is None and not policy.makes_views:
        raise ValueError("overlays need a folder for their changes")
    return {
        "folder": str(policy.folder),
        "overlays": [str(folder) for folder in policy.overlays],
        "writable": [str(folder) for folder in policy.writable],
        "texts": {str(file): str(content) for file, content in policy.replaced.items()},
        "absent": [str(path) for path in policy.absent],
        "hidden": [str(folder) for folder in policy.hidden],
        "visible": [str(folder) for folder in policy.visible],
        "layer": str(policy.layer or ""),
        "layer_bytes": policy.limits.layer_bytes,
        "makes_views": policy.makes_views,
        "emptied": [str(folder) for folder in policy.emptied],
        "opens_sockets": policy.opens_sockets,
    }


def _describe_remedy() -> str:
    try:
        is_restricted = UBUNTU_SWITCH.read_text().strip() == "1"
    except OSError:
        return ""
    return f" ({UBUNTU_SWITCH} is 1: this system lets only programs with a profile use them)" if is_restricted else ""

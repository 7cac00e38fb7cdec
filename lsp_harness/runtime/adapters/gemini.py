"""The adapter of Gemini CLI (`gemini`)."""

import json
from collections.abc import Mapping
from pathlib import Path

from lsp_harness.runtime.adapter import AuthState, Launch, LaunchOrder
from lsp_harness.runtime.adapters.cli_adapter import CliAdapter, find_value
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer

DEFAULT_MODE = "default"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
LOGIN_FILE = "oauth_creds.json"
RELAUNCH_STATUS = 199
"""The exit status with which the program asks to be started again, after its folder became trusted."""
RELAUNCH_LOOP = f'while :; do "$@"; status=$?; [ $status -eq {RELAUNCH_STATUS} ] || exit $status; done'


class Gemini(CliAdapter):
    """Gemini CLI."""

    name = "gemini"
    program = "gemini"
    package = "@google/gemini-cli"
    transports = ("acp", "pty")
    recorded = ((0, 61, 0), (0, 61, 0))
    login_hint = "run `gemini` in a terminal and log in, or set GEMINI_API_KEY"
    permission_modes = frozenset({"default", "auto_edit", "yolo", "plan"})
    protected_arguments = frozenset(
        {"--acp", "--experimental-acp", "--yolo", "-y", "--approval-mode", "-p", "--prompt", "--allowed-tools"}
    )

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command. See the base class."""
        self.check_arguments(spec)
        argv = [self.command, "--approval-mode", spec.permission_mode or DEFAULT_MODE]
        if transport == "acp":
            # its trust dialog needs a terminal; the gate has allowed this folder
            argv += ["--acp", "--skip-trust"]
        if spec.model:
            argv += ["--model", spec.model]
        argv += spec.args
        if transport == "pty":
            argv = ["/bin/sh", "-c", RELAUNCH_LOOP, self.program, *argv]
        # its own program that starts it again ignores SIGTERM
        env = {"GEMINI_CLI_NO_RELAUNCH": "true"}
        if key := find_value(spec, *KEYS):
            env["GEMINI_API_KEY"] = key
        return Launch(tuple(argv), env)

    async def probe_login(self, program: str, env: Mapping[str, str]) -> AuthState:
        """Return whether the settings of gemini have a login. It has no command for its status."""
        if any(env.get(name) for name in KEYS):
            return "ok"
        folder = Path(env.get("GEMINI_CLI_HOME") or env.get("HOME") or "~").expanduser() / ".gemini"
        try:
            settings = json.loads((folder / "settings.json").read_text())
            chosen = settings["security"]["auth"]["selectedType"]
        except (OSError, ValueError, KeyError, TypeError):
            return "missing"
        if chosen == "oauth-personal":
            return "ok" if (folder / LOGIN_FILE).exists() else "missing"
        # Vertex AI and others take their credentials from elsewhere
        return "missing" if chosen == "gemini-api-key" else "unknown"

    def connect_structured(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection by the Agent Client Protocol."""
        from lsp_harness.runtime.structured.acp_connection import AcpConnection

        return AcpConnection(order, observe, self.login_hint)

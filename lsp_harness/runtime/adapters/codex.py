"""The adapter of Codex CLI (`codex`)."""

from collections.abc import Mapping

from lsp_harness.runtime.adapter import AuthState, Launch, LaunchOrder
from lsp_harness.runtime.adapters.cli_adapter import CliAdapter, find_value, run_command
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer

SETTINGS = ("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false")
KEY_IN_MEMORY = ("-c", 'cli_auth_credentials_store="ephemeral"')
"""Setting with which codex writes no key to the disk."""
ASK_SETTINGS = ("--ask-for-approval", "on-request", "--sandbox", "read-only")
"""In a sandbox that only reads, codex asks before everything else. Its policy `untrusted` is gone from the terminal."""
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")


class Codex(CliAdapter):
    """Codex CLI."""

    name = "codex"
    program = "codex"
    package = "@openai/codex"
    transports = ("stream-json", "pty")
    recorded = ((0, 169, 0), (0, 171, 0))
    login_hint = "run `codex login`, or set OPENAI_API_KEY"
    permission_modes = frozenset({"on-request", "never"})
    protected_arguments = frozenset(
        {
            "--dangerously-bypass-approvals-and-sandbox",
            "--yolo",
            "--ask-for-approval",
            "-a",
            "--remote",
            "--listen",
            "app-server",
            "exec",
        }
    )

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command. See the base class."""
        self.check_arguments(spec)
        if transport == "stream-json":
            return Launch((self.command, "app-server", *SETTINGS, *spec.args))
        argv = [self.command, "--no-daemon", "--no-alt-screen", *SETTINGS]
        argv += ["--ask-for-approval", spec.permission_mode] if spec.permission_mode else ASK_SETTINGS
        if spec.model:
            argv += ["--model", spec.model]
        return Launch((*argv, *spec.args))

    async def probe_login(self, program: str, env: Mapping[str, str]) -> AuthState:
        """Ask `codex login status`, and look for a key."""
        result = await run_command((program, "login", "status"), env)
        if result.exit_code == 0 or any(env.get(name) for name in KEYS):
            return "ok"
        return "missing" if result.exit_code == 1 else "unknown"

    def connect_structured(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection to its app server."""
        from lsp_harness.runtime.structured.app_server_connection import AppServerConnection

        return AppServerConnection(order, observe, find_value(order.spec, *KEYS), KEY_IN_MEMORY)

"""The adapter of Claude Code (`claude`)."""

import json
import os
from collections.abc import Mapping

from lsp_harness.runtime.adapter import AuthState, Launch, LaunchOrder
from lsp_harness.runtime.adapters.cli_adapter import CliAdapter, find_value, run_command
from lsp_harness.runtime.agent_errors import AuthRequired
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer

STREAM_JSON = (
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--include-partial-messages",
    "--verbose",
    "--permission-prompt-tool=stdio",
)
DEFAULT_MODE = "manual"
"""Claude's own default is `auto`, in which a model decides what may be done."""
KEPT_VARIABLES = (
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    "CLAUDE_CODE_SKIP_VERTEX_AUTH",
)
"""Variables of the user that say how claude logs in. The others with their prefix tell that it runs inside claude."""


class Claude(CliAdapter):
    """Claude Code."""

    name = "claude"
    program = "claude"
    package = "@anthropic-ai/claude-code"
    transports = ("stream-json", "pty")
    recorded = ((2, 1, 331), (2, 1, 332))
    login_hint = "run `claude auth login`, or set ANTHROPIC_API_KEY"
    permission_modes = frozenset({"acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"})
    protected_arguments = frozenset(
        {
            "-p",
            "--print",
            "--input-format",
            "--output-format",
            "--permission-prompt-tool",
            "--permission-mode",
            "--dangerously-skip-permissions",
            "--allow-dangerously-skip-permissions",
            "--settings",
            "--bg",
            "--background",
            "--cloud",
            "--chrome",
        }
    )

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command. See the base class."""
        self.check_arguments(spec)
        argv = [self.command]
        if transport == "stream-json":
            argv += ["-p", *STREAM_JSON]
        argv += ["--permission-mode", spec.permission_mode or DEFAULT_MODE]
        if spec.model:
            argv += ["--model", spec.model]
        env = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        env |= {name: value for name in KEPT_VARIABLES if (value := os.environ.get(name))}
        if key := find_value(spec, "ANTHROPIC_API_KEY", "CLAUDE_API_KEY"):
            env["ANTHROPIC_API_KEY"] = key
        return Launch((*argv, *spec.args), env, ("CLAUDECODE", "CLAUDE_CODE_*", "CLAUDE_API_KEY"))

    async def probe_login(self, program: str, env: Mapping[str, str]) -> AuthState:
        """Ask `claude auth status`, which reads files only."""
        return await self._read_login((program, "auth", "status"), env)

    def connect_structured(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection over lines of JSON."""
        from lsp_harness.runtime.structured.stream_json_connection import StreamJsonConnection

        async def require_login() -> None:
            if not await self._has_login(order):
                raise AuthRequired("claude has no login", self.login_hint)

        return StreamJsonConnection(order, observe, require_login)

    def connect_terminal(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection over a terminal, with hooks."""
        # the emulator is imported with the first agent
        from lsp_harness.runtime.adapters.claude_terminal import ClaudeTerminal
        from lsp_harness.runtime.pty_traits import CTRL_C, PtyTraits

        return ClaudeTerminal(
            order,
            PtyTraits(exit_keys=(CTRL_C, CTRL_C)),
            observe,
            lambda: self.read_version(order),
            lambda: self._has_login(order),
            self.login_hint,
        )

    async def _has_login(self, order: LaunchOrder) -> bool:
        argv = order.build_command((self.command, "auth", "status"))
        return await self._read_login(argv, order.env) != "missing"

    async def _read_login(self, argv: tuple[str, ...], env: Mapping[str, str]) -> AuthState:
        result = await run_command(argv, env)
        try:
            status = json.loads(result.stdout)
            return "ok" if status["loggedIn"] else "missing"
        except (ValueError, KeyError, TypeError):
            return "unknown"

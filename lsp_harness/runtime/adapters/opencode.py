"""The adapter of opencode (`opencode`)."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from lsp_harness.runtime.adapter import AuthState, Launch, LaunchOrder
from lsp_harness.runtime.adapters.cli_adapter import CliAdapter, find_value, run_command
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Connection, Observer

CONFIG_VARIABLE = "OPENCODE_CONFIG_CONTENT"
ASKED = ("edit", "bash", "webfetch", "websearch", "external_directory", "task")
"""The permissions that opencode asks for, whatever its own settings allow."""
CREDENTIALS = re.compile(r"(\d+) (?:credentials|environment variables?)")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Opencode(CliAdapter):
    """opencode."""

    name = "opencode"
    program = "opencode"
    package = "opencode-ai"
    transports = ("acp", "pty")
    recorded = ((1, 18, 33), (1, 18, 33))
    login_hint = "run `opencode auth login`, or use a model of a provider in your opencode.json"
    protected_arguments = frozenset({"acp", "serve", "web", "--port", "--hostname", "--model", "-m"})

    def build_launch(self, spec: AgentSpec, transport: TransportName) -> Launch:
        """Return the command. See the base class."""
        self.check_arguments(spec)
        provider, _, model = spec.model.partition("/")
        if not provider or not model:
            raise InvalidSpec(
                "opencode needs a model: without one it sends your code to a hosted model",
                "name one as provider/model, such as anthropic/claude-sonnet-4-5 or ollama/qwen3",
            )
        argv = [self.command, *(("acp",) if transport == "acp" else ()), *spec.args]
        env = {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            CONFIG_VARIABLE: json.dumps(_make_config(spec)),
        }
        return Launch(tuple(argv), env)

    async def probe_login(self, program: str, env: Mapping[str, str]) -> AuthState:
        """Ask `opencode auth list`. A local model needs no credentials, so their lack says nothing."""
        result = await run_command((program, "auth", "list"), env)
        text = ESCAPES.sub("", (result.stdout + result.stderr).decode(errors="replace"))
        return "ok" if any(int(number) for number in CREDENTIALS.findall(text)) else "unknown"

    def connect_structured(self, order: LaunchOrder, observe: Observer) -> Connection:
        """Return a connection by the Agent Client Protocol."""
        from lsp_harness.runtime.structured.acp_connection import AcpConnection

        return AcpConnection(order, observe, self.login_hint)


def _make_config(spec: AgentSpec) -> dict[str, Any]:
    """Return the settings that come before those of the user, and those that the user put into the same variable."""
    try:
        given = json.loads(find_value(spec, CONFIG_VARIABLE) or "{}")
    except ValueError:
        raise InvalidSpec(f"{CONFIG_VARIABLE} is no JSON") from None
    if not isinstance(given, dict):
        raise InvalidSpec(f"{CONFIG_VARIABLE} is no JSON object")
    return {
        **cast("dict[str, Any]", given),
        "model": spec.model,
        # the title of a conversation is made from its text by a second model
        "small_model": spec.model,
        "share": "disabled",
        "autoupdate": False,
        "permission": dict.fromkeys(ASKED, "ask"),
    }

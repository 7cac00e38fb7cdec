"""The command line agents of other makers, as `make agents` installs them, and what a test needs to run them.

They run with a home of their own, without credentials, and with a proxy that does not exist, so that nothing but the
loopback device can be reached.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from lsp_harness.process.process_table import environment_value, list_processes
from lsp_harness.process.process_tree import MARK_VARIABLE
from lsp_harness.runtime.adapter import Adapter, LaunchOrder
from lsp_harness.runtime.adapters.claude import Claude
from lsp_harness.runtime.adapters.codex import Codex
from lsp_harness.runtime.adapters.gemini import Gemini
from lsp_harness.runtime.adapters.opencode import Opencode
from lsp_harness.runtime.agent_spec import AgentSpec, TransportName
from lsp_harness.runtime.connection import Observation, StateClaimed

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("AGENTS") or ROOT / ".agents") / "node_modules" / ".bin"
DEAD_PROXY = "http://127.0.0.1:9"
LIMIT_S = 30.0
KEY = "sk-test-0123456789abcdef"
"""A key that no provider knows."""
ADAPTERS: Mapping[str, Callable[[str], Adapter]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "opencode": Opencode,
}
Kind = TypeVar("Kind")


def make_spec(name: str, run: "AgentRun", url: str, transport: TransportName | Literal[""] = "") -> AgentSpec:
    """Return the description of an agent that asks a fake of its model."""
    spec = AgentSpec(name, run.workdir, transport=transport)
    if name == "claude":
        return replace(spec, env={"CLAUDE_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})
    if name == "codex":
        provider = f'{{name="fake",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
        args = ("-c", 'model_provider="fake"', "-c", f"model_providers.fake={provider}")
        return replace(spec, env={"OPENAI_API_KEY": KEY}, args=args, model="gpt-5")
    if name == "gemini":
        env = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}
        return replace(spec, env=env, model="gemini-2.5-flash")
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m1": {}}}
    config = {"enabled_providers": ["fake"], "provider": {"fake": provider}}
    return replace(spec, env={"OPENCODE_CONFIG_CONTENT": json.dumps(config)}, model="fake/m1")


def require_agent(name: str) -> Adapter:
    """Return the adapter of an installed agent, or skip the test."""
    program = FOLDER / name
    if not program.exists():
        pytest.skip(f"{name} is not installed: run `make agents`")
    return ADAPTERS[name](str(program))


@dataclass
class AgentRun:
    """The folders and the environment of an agent in a test, and what it was seen to do.

    Attributes:
        folder: The folder for everything.
        observations: What the connection reported.
    """

    folder: Path
    observations: list[Observation] = field(default_factory=list[Observation])

    def __post_init__(self) -> None:
        self._changed = asyncio.Event()
        self.home, self.workdir = self.folder / "home", self.folder / "work"
        for folder in (self.home, self.workdir, self.folder / "private"):
            folder.mkdir(mode=0o700)

    @property
    def environment(self) -> dict[str, str]:
        """The environment without a variable of the person who runs the tests."""
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD_PROXY)
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            # claude refuses some modes for the user root outside of a sandbox
            "IS_SANDBOX": "1",
            **proxies,
        }

    def observe(self, observation: Observation) -> None:
        """Remember an observation."""
        self.observations.append(observation)
        self._changed.set()

    def make_order(self, adapter: Adapter, spec: AgentSpec, transport: TransportName) -> LaunchOrder:
        """Return the order to start an agent."""
        launch = adapter.build_launch(spec, transport)
        env = {**self.environment, **spec.env}
        return LaunchOrder(self.folder.name, spec, transport, launch.argv, env, self.folder / "private")

    def observed(self, kind: type[Kind]) -> list[Kind]:
        """Return the observations of one kind."""
        return [observation for observation in self.observations if isinstance(observation, kind)]

    @property
    def activities(self) -> list[str]:
        """The claimed activities, with the kinds of questions."""
        claims = [observation.claim for observation in self.observed(StateClaimed)]
        return [f"{claim.activity}:{claim.kind}".rstrip(":") for claim in claims]

    async def wait_for(self, kind: type[Kind], is_wanted: Callable[[Kind], bool] = lambda _: True) -> Kind:
        """Wait for an observation after those that were taken before, and take everything up to it."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                for i, observation in enumerate(self.observations):
                    if isinstance(observation, kind) and is_wanted(observation):
                        del self.observations[: i + 1]
                        return observation
                self._changed.clear()
                await self._changed.wait()

    def find_processes(self, mark: str = "") -> list[int]:
        """Return the processes of the agent, or of those with another mark."""
        mark = mark or self.folder.name
        return [row.pid for row in list_processes() if mark in environment_value(row.pid, MARK_VARIABLE).split(":")]


def seed_home(run: AgentRun) -> None:
    """Answer the questions of the first start in the private home of a test: theme, key, and trust in the folder."""
    claude = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(run.workdir): {"hasTrustDialogAccepted": True}},
    }
    (run.home / ".claude.json").write_text(json.dumps(claude))
    codex = run.home / ".codex"
    codex.mkdir()
    (codex / "config.toml").write_text(f'[projects."{run.workdir}"]\ntrust_level = "trusted"\n')
    gemini = run.home / ".gemini"
    gemini.mkdir()
    (gemini / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))

"""The commands and environments with which agents of other makers are started."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.runtime.adapters.claude import Claude
from lsp_harness.runtime.adapters.cli_adapter import CliAdapter
from lsp_harness.runtime.adapters.codex import Codex
from lsp_harness.runtime.adapters.gemini import Gemini
from lsp_harness.runtime.adapters.opencode import Opencode
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec

KEY = "sk-test-secret"


def make_spec(name: str) -> AgentSpec:
    return AgentSpec(name, Path("/work"))


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENCODE_CONFIG_CONTENT"):
        monkeypatch.delenv(name, raising=False)


def test_claude_is_started_with_questions_about_every_tool() -> None:
    launch = Claude().build_launch(make_spec("claude"), "stream-json")
    assert launch.argv[launch.argv.index("--permission-mode") + 1] == "manual"
    assert "--permission-prompt-tool=stdio" in launch.argv
    terminal = Claude().build_launch(make_spec("claude"), "pty")
    assert terminal.argv == ("claude", "--permission-mode", "manual")


@pytest.mark.parametrize(
    ("adapter", "given", "wanted"),
    [
        (Claude(), "CLAUDE_API_KEY", "ANTHROPIC_API_KEY"),
        (Claude(), "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        (Gemini(), "GOOGLE_API_KEY", "GEMINI_API_KEY"),
        (Gemini(), "GEMINI_API_KEY", "GEMINI_API_KEY"),
    ],
)
def test_keys_get_the_names_that_the_agents_read(adapter: CliAdapter, given: str, wanted: str) -> None:
    spec = replace(make_spec(adapter.name), env={given: KEY})
    launch = adapter.build_launch(spec, adapter.transports[0])
    assert launch.env[wanted] == KEY
    assert KEY not in " ".join(launch.argv)
    assert KEY not in repr(launch)


def test_a_variable_of_the_description_wins_over_an_inherited_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "inherited")
    spec = replace(make_spec("claude"), env={"CLAUDE_API_KEY": KEY})
    assert Claude().build_launch(spec, "pty").env["ANTHROPIC_API_KEY"] == KEY


def test_claude_does_not_see_the_variables_of_another_claude(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", KEY)
    launch = Claude().build_launch(make_spec("claude"), "pty")
    assert {"CLAUDECODE", "CLAUDE_CODE_*"} <= set(launch.removed_env)
    assert launch.env["CLAUDE_CODE_OAUTH_TOKEN"] == KEY


@pytest.mark.parametrize(
    ("adapter", "argument"),
    [
        (Claude(), "--dangerously-skip-permissions"),
        (Claude(), "--permission-mode=bypassPermissions"),
        (Claude(), "--settings"),
        (Codex(), "--dangerously-bypass-approvals-and-sandbox"),
        (Codex(), "--remote"),
        (Gemini(), "--yolo"),
        (Opencode(), "serve"),
    ],
)
def test_arguments_that_change_the_permissions_are_refused(adapter: CliAdapter, argument: str) -> None:
    spec = replace(make_spec(adapter.name), args=(argument,), model="a/b")
    with pytest.raises(InvalidSpec):
        adapter.build_launch(spec, adapter.transports[0])


def test_an_unknown_permission_mode_is_refused() -> None:
    with pytest.raises(InvalidSpec) as raised:
        Claude().build_launch(replace(make_spec("claude"), permission_mode="yolo"), "pty")
    assert "manual" in raised.value.resolution


@pytest.mark.parametrize("model", ["", "big-pickle", "/x", "x/"])
def test_opencode_requires_a_provider_and_a_model(model: str) -> None:
    with pytest.raises(InvalidSpec):
        Opencode().build_launch(replace(make_spec("opencode"), model=model), "acp")


def test_opencode_asks_although_its_own_settings_allow_tools() -> None:
    given = json.dumps({"permission": {"bash": "allow"}, "small_model": "opencode/big-pickle", "theme": "x"})
    spec = replace(make_spec("opencode"), model="ollama/qwen3", env={"OPENCODE_CONFIG_CONTENT": given})
    config = json.loads(Opencode().build_launch(spec, "acp").env["OPENCODE_CONFIG_CONTENT"])
    assert config["theme"] == "x"
    assert config["small_model"] == config["model"] == "ollama/qwen3"
    assert config["permission"]["bash"] == config["permission"]["edit"] == "ask"


async def test_a_missing_program_is_reported_with_its_installation(tmp_path: Path) -> None:
    probe = await Claude(str(tmp_path / "claude")).probe()
    assert (probe.program, probe.hint) == ("", "npm install -g @anthropic-ai/claude-code")


async def test_a_version_outside_of_the_recorded_range_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\ncase "$1" in --version) echo "9.9.9 (x)";; *) echo \'{"loggedIn": true}\';; esac\n')
    program.chmod(0o755)
    probe = await Claude(str(program)).probe()
    assert (probe.version, probe.is_recorded, probe.auth) == ("9.9.9", False, "ok")
    assert "2.1.331" in probe.hint


def test_gemini_is_started_again_after_its_folder_became_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ends with 199, and wants to be started again with the same arguments."""
    program = tmp_path / "gemini"
    program.write_text("""#!/bin/sh
printf '%s\\n' "$@" >> starts
[ "$(grep -c default starts)" -lt 3 ] && exit 199
exit 4
""")
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    spec = replace(make_spec("gemini"), args=("two words",))
    ended = subprocess.run(Gemini().build_launch(spec, "pty").argv, check=False)
    assert ended.returncode == 4
    assert (tmp_path / "starts").read_text().splitlines() == ["--approval-mode", "default", "two words"] * 3
    assert Gemini().build_launch(spec, "acp").argv[0] == "gemini"

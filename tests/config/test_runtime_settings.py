"""The settings of the runtime: only the user's own file may name programs and folders."""

from pathlib import Path

import pytest

from lsp_harness.config.load import apply_editor_settings, load
from lsp_harness.config.schema import Config

AGENT = """
[runtime]
max_agents = 3
allowed_roots = ["/srv"]

[runtime.agents.mine]
command = "my-agent"
args = ["--tui"]
ready_pattern = 'ready'
exit_keys = ["ctrl-c"]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_the_user_describes_agents_by_their_names(home: Path):
    (home / "config.toml").write_text(AGENT)
    config, problems = load(env={"LSP_HARNESS_RUNTIME__MAX_AGENTS": "4"})
    (agent,) = config.runtime.agents
    assert problems == []
    assert (agent.name, agent.command, agent.args, agent.exit_keys) == ("mine", "my-agent", ("--tui",), ("ctrl-c",))
    assert (config.runtime.max_agents, config.runtime.allowed_roots) == (4, ("/srv",))


@pytest.mark.parametrize("name", ["lsp-harness.toml", "lsp-harness.local.toml", "localcode.toml"])
def test_a_project_names_no_program_even_if_it_is_trusted(home: Path, tmp_path: Path, name: str):
    project = tmp_path / "project"
    project.mkdir()
    (project / name).write_text(AGENT)
    config, problems = load(project, {}, is_trusted=True)
    assert config.runtime == Config().runtime
    assert [problem.message.startswith("[runtime] may only be set in") for problem in problems] == [True]


def test_an_editor_names_no_program():
    agents = {"mine": {"command": "my-agent"}}
    config, problems = apply_editor_settings(
        Config(), {"runtime": {"agents": agents, "allowed_roots": ["/"], "max_agents": 99}}
    )
    assert config.runtime == Config().runtime
    assert len(problems) == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("runner", "local"),
        ("network", True),
        ("client_variables", ["ZDOTDIR"]),
        ("container_program", "mine"),
        ("container_image", "evil:1"),
        ("container_options", ["--privileged"]),
        ("ssh_host", "evil"),
        ("ssh_options", ["-oProxyCommand=x"]),
    ],
)
def test_an_editor_does_not_say_where_agents_run(key: str, value: object):
    config, problems = apply_editor_settings(Config(), {"runtime": {key: value}})
    assert config.runtime == Config().runtime
    assert key in problems[0]


@pytest.mark.parametrize("value", ["1", "[1]", "{mine = 1}", "{mine = {command = 1}}", "{mine = {shell = 'x'}}"])
def test_an_agent_that_cannot_be_read_is_a_problem(home: Path, value: str):
    (home / "config.toml").write_text(f"[runtime]\nagents = {value}\n")
    config, problems = load(env={})
    assert problems != []
    assert [agent for agent in config.runtime.agents if agent.command] == []

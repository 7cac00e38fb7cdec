"""The commands of the runners, their choice by the settings, and the errors about what is missing."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.runtime_schema import AgentSetting, Runtime
from lsp_harness.process.sandbox import bubblewrap
from lsp_harness.runtime.adapter import LaunchOrder
from lsp_harness.runtime.adapters.adapter_registry import AdapterRegistry
from lsp_harness.runtime.agent_errors import AgentError, CliNotFound, InvalidSpec, SpawnFailed
from lsp_harness.runtime.agent_spec import AgentSpec, RunnerName
from lsp_harness.runtime.isolation.git import find_git_folders
from lsp_harness.runtime.isolation.runners import Runners
from lsp_harness.runtime.isolation.sandbox_runner import find_program_folders

ARGV = ("claude", "--permission-mode", "manual")
EVIL = Path("/srv/a b; touch c")
HOST = Runtime(ssh_host="box")
IMAGE = Runtime(container_image="agents:1")


def make_order(runner: RunnerName, folder: Path = Path("/srv/w"), **fields: Any) -> LaunchOrder:
    env = {"DATABASE": "sk-1"}
    spec = AgentSpec("claude", folder, runner=runner, env=env, **fields)
    added = {"ANTHROPIC_API_KEY": "sk-2", "NO_UPDATE": "a b", **env, "LSP_HARNESS_AGENT_ID": "A1"}
    return LaunchOrder("A1", spec, "pty", ARGV, added, Path("/private/agents/A1"), added)


def wrap(runners: Runners, order: LaunchOrder, *, has_terminal: bool = True) -> tuple[str, ...]:
    return runners.wrap(order, order.argv, has_terminal)


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Return a function that makes a fake program of a runner with the text of its shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name: str, script: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    return make


@pytest.fixture
def programs(make_program: Callable[[str, str], Path]) -> None:
    """Make fake programs of all runners, which only succeed."""
    for name in ("bwrap", "podman", "ssh"):
        make_program(name, "exit 0")


def test_the_local_runner_does_not_change_the_command():
    assert wrap(Runners(), make_order("local")) == ARGV


def test_the_sandbox_hides_the_home_and_shows_the_login(programs: None, tmp_path: Path, monkeypatch: Any):
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".mine").mkdir()
    monkeypatch.setenv("HOME", str(home))
    folder = home / "work"
    folder.mkdir()
    settings = Runtime(agents=(AgentSetting(name="claude", sandbox_folders=("~/.mine",)),))
    command = wrap(Runners(settings), make_order("bwrap", folder))
    text = shlex.join(command)
    assert command[-3:] == ARGV
    assert text.index(f"--tmpfs {home} ") < text.index(f"--bind {folder} {folder}")
    assert f"--bind {home}/.claude {home}/.claude" in text
    assert f"--bind {home}/.mine {home}/.mine" in text
    assert "--ro-bind / /" in text
    assert "--unshare-all --share-net" in text
    assert "--new-session" not in command
    assert "--share-net" not in wrap(Runners(), make_order("bwrap", folder, network=False))


def test_the_sandbox_hides_our_tokens_in_any_folder(programs: None, tmp_path: Path, monkeypatch: Any):
    own, folder = tmp_path / "own", tmp_path / "work"
    for path in (own / "run/api", folder):
        path.mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(own))
    # `/tmp` is empty there, so a folder elsewhere is looked at
    monkeypatch.setattr(bubblewrap, "PRIVATE_FOLDERS", ())
    text = shlex.join(wrap(Runners(), make_order("bwrap", folder)))
    assert f"--tmpfs {own} --remount-ro {own}" in text


def test_the_home_itself_is_no_folder_of_an_agent_in_the_sandbox(programs: None, tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in (tmp_path, tmp_path / "home"):
        order = make_order("bwrap", folder)
        with pytest.raises(InvalidSpec, match="home folder"):
            Runners().choose(order.spec).check(order)


def test_a_node_package_in_the_home_is_found_with_its_interpreter(tmp_path: Path, monkeypatch: Any):
    prefix, package = tmp_path / "npm", tmp_path / "npm/lib/node_modules/agent"
    for folder in (prefix / "bin", package, tmp_path / "node/bin", tmp_path / "node/lib"):
        folder.mkdir(parents=True)
    (package / "cli.js").write_text("#!/usr/bin/env -S our-node\n")
    (tmp_path / "node/bin/our-node").write_text("")
    for file in (package / "cli.js", tmp_path / "node/bin/our-node"):
        file.chmod(0o755)
    (prefix / "bin/agent").symlink_to(package / "cli.js")
    monkeypatch.setenv("PATH", f"{prefix}/bin:{tmp_path}/node/bin")
    assert {*find_program_folders("agent")} == {prefix / "bin", package.parent, tmp_path / "node/bin"}
    assert [*find_program_folders("no-such-agent")] == []


def test_the_container_gets_the_folder_and_no_value_of_a_variable(programs: None):
    command = wrap(Runners(IMAGE), make_order("container"))
    assert command[:2] == ("podman", "run")
    assert command[-4:] == ("agents:1", *ARGV)
    assert "--volume=/srv/w:/srv/w" in command
    assert {"--env=DATABASE", "--env=ANTHROPIC_API_KEY", "--tty"} <= {*command}
    assert "sk-" not in shlex.join(command)
    assert "--network=none" not in command
    closed = wrap(Runners(IMAGE), make_order("container", network=False), has_terminal=False)
    assert "--network=none" in closed
    # a terminal would change the lines of a protocol
    assert "--tty" not in closed


def test_the_container_settings_name_program_and_options(make_program: Callable[[str, str], Path]):
    make_program("podman", "exit 0")
    make_program("docker", "exit 0")
    settings = Runtime(container_program="docker", container_image="agents:1", container_options=("--memory=1g",))
    command = wrap(Runners(settings), make_order("container"))
    assert command[0] == "docker"
    assert command[-5:-3] == ("--memory=1g", "agents:1")


def test_no_shell_of_another_machine_sees_a_command_in_a_name(programs: None):
    settings = Runtime(ssh_host="box", ssh_options=("-p2222",))
    command = wrap(Runners(settings), make_order("ssh", EVIL))
    assert (command[0], command[1], command[-4:-1]) == ("ssh", "-tt", ("-p2222", "--", "box"))
    inner = "LSP_HARNESS_AGENT_ID=A1 'NO_UPDATE=a b' claude --permission-mode manual"
    assert command[-1] == f"cd {shlex.quote(str(EVIL))} && exec env {inner}"
    # the values of secrets travel inside of the connection
    assert {"SendEnv=ANTHROPIC_API_KEY", "SendEnv=DATABASE"} <= {*command}
    assert "sk-" not in shlex.join(command)
    assert wrap(Runners(settings), make_order("ssh"), has_terminal=False)[1] == "-T"


@pytest.mark.parametrize(
    ("runner", "settings", "message"),
    [
        ("container", Runtime(), "container_image is not set"),
        ("container", Runtime(container_image="--privileged"), "no name of an image"),
        ("ssh", Runtime(), "ssh_host is not set"),
        ("ssh", Runtime(ssh_host="-oProxyCommand=touch x"), "hyphen"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named(
    programs: None, runner: RunnerName, settings: Runtime, message: str
):
    order = make_order(runner)
    with pytest.raises(InvalidSpec, match=message):
        Runners(settings).choose(order.spec).check(order)


@pytest.mark.parametrize("runner", ["bwrap", "container", "ssh"])
def test_a_program_of_a_runner_that_is_not_installed_is_named(runner: RunnerName, tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("PATH", str(tmp_path))
    order, runners = make_order(runner), Runners(Runtime(container_image="a:1", ssh_host="box"))
    with pytest.raises(CliNotFound, match="is not installed") as caught:
        runners.choose(order.spec).check(order)
    assert "install" in caught.value.resolution
    problems = {row["runner"]: row["problem"] for row in runners.describe()}
    assert "not installed" in problems[runner]
    assert problems["local"] == ""


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("exit 71", SpawnFailed, "box has no folder /srv/w"),
        ("exit 72", CliNotFound, "box has no program claude"),
        ("echo 'Permission denied (publickey).' >&2; exit 255", SpawnFailed, "cannot be reached: Permission denied"),
        ("exit 3", SpawnFailed, "exit status is 3"),
    ],
)
def test_a_program_that_is_missing_on_another_machine_is_named(
    make_program: Callable[[str, str], Path], script: str, error: type[AgentError], message: str
):
    make_program("ssh", script)
    order = make_order("ssh")
    with pytest.raises(error, match=message.replace("(", r"\(")):
        Runners(HOST).choose(order.spec).check(order)


def test_an_image_that_is_missing_is_named(make_program: Callable[[str, str], Path]):
    make_program("podman", "echo 'Error: no such image' >&2; exit 125")
    order = make_order("container")
    with pytest.raises(SpawnFailed, match="does not find the image agents:1: Error: no such image") as caught:
        Runners(IMAGE).choose(order.spec).check(order)
    assert caught.value.resolution == "run `podman pull agents:1`"


# -- the choice
def test_the_settings_of_a_kind_win_against_those_of_all():
    settings = Runtime(
        runner="bwrap",
        container_image="all:1",
        ssh_host="all",
        agents=(AgentSetting(name="claude", runner="container", container_image="own:1", ssh_host="own"),),
    )
    runners = Runners(settings)
    spec = runners.complete(AgentSpec("claude", Path("/srv/w")))
    assert spec.runner == "container"
    assert runners.choose(spec).settings.container_image == "own:1"
    assert runners.choose(spec).settings.ssh_host == "own"
    assert runners.complete(AgentSpec("codex", Path("/srv/w"))).runner == "bwrap"
    # the user who asks decides
    assert runners.complete(AgentSpec("claude", Path("/srv/w"), runner="local")).runner == "local"


@pytest.mark.parametrize(
    "settings", [Runtime(network=False), Runtime(agents=(AgentSetting(name="claude", network=False),))]
)
def test_a_request_cannot_open_the_network_that_the_settings_close(settings: Runtime):
    runners = Runners(settings)
    assert not runners.complete(AgentSpec("claude", Path("/srv/w"), runner="bwrap", network=True)).network
    for runner in ("local", "ssh"):
        with pytest.raises(InvalidSpec, match=f"{runner} cannot close the network"):
            runners.complete(AgentSpec("claude", Path("/srv/w"), runner=runner))


def test_a_runner_that_does_not_exist_is_named():
    with pytest.raises(InvalidSpec, match="no runner 'vm'"):
        Runners(Runtime(runner="vm")).complete(AgentSpec("claude", Path("/srv/w")))


def test_a_table_without_a_command_changes_the_agent_of_that_name():
    registry = AdapterRegistry([AgentSetting(name="claude", runner="bwrap"), AgentSetting(name="mine")])
    assert registry.require("claude").transports == ("stream-json", "pty")
    with pytest.raises(InvalidSpec, match="has no command"):
        registry.require("mine")


def test_the_folders_of_git_that_a_worktree_needs(tmp_path: Path):
    common = tmp_path / "repository/.git"
    own = common / "worktrees/w1"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    worktree = tmp_path / "w1"
    (worktree / "src").mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {own}\n")
    assert find_git_folders(worktree) == [worktree / ".git", common]
    assert find_git_folders(worktree / "src") == [worktree / ".git", common]
    assert find_git_folders(tmp_path / "repository") == []
    (worktree / ".git").write_text("nonsense")
    assert find_git_folders(worktree) == [worktree / ".git"]

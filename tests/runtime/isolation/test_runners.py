"""The commands of the runners. Only `local` is known to work; the others are built and say that they are untested."""

import shlex
from pathlib import Path

import pytest

from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_spec import AgentSpec, RunnerName
from lsp_harness.runtime.isolation.runners import Runners

ARGV = ("claude", "--permission-mode", "manual")
EVIL = Path("/srv/a b; touch c")


def spec(runner: RunnerName, folder: Path = Path("/srv/w")) -> AgentSpec:
    return AgentSpec("claude", folder, runner=runner, env={"SECRET": "sk-1"})


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fake programs of the runners, which only succeed."""
    for name in ("bwrap", "podman", "ssh"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_the_local_runner_changes_nothing():
    assert Runners().wrap(spec("local"), ARGV) == ARGV


def test_the_sandbox_lets_the_agent_write_in_its_folder_and_reach_its_model(programs: Path, tmp_path: Path):
    command = Runners().wrap(spec("bwrap", tmp_path), ARGV)
    assert command[0] == str(programs / "bwrap")
    assert command[-3:] == ARGV
    text = shlex.join(command)
    assert f"--bind {tmp_path} {tmp_path}" in text
    assert "--ro-bind / /" in text
    assert "--unshare-all --share-net" in text
    assert "--new-session" not in command


def test_the_container_gets_the_folder_and_no_value_of_a_variable(programs: Path):
    command = Runners(container_image="agents:1").wrap(spec("container"), ARGV)
    assert command[:2] == ("podman", "run")
    assert command[-4:] == ("agents:1", *ARGV)
    assert "/srv/w:/srv/w" in command
    assert "SECRET" in command
    assert "sk-1" not in shlex.join(command)


def test_no_shell_of_another_machine_sees_a_command_in_a_name(programs: Path):
    command = Runners(ssh_host="box").wrap(spec("ssh", EVIL), ARGV)
    assert command[:-1] == ("ssh", "-tt", "-o", "BatchMode=yes", "--", "box")
    assert command[-1] == f"cd {shlex.quote(str(EVIL))} && exec claude --permission-mode manual"
    with pytest.raises(InvalidSpec):
        Runners(ssh_host="-oProxyCommand=touch x").wrap(spec("ssh"), ARGV)


@pytest.mark.parametrize("runner", ["bwrap", "container", "ssh"])
def test_a_runner_that_is_not_there_is_refused(runner: RunnerName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidSpec, match=f"runner {runner} does not work here"):
        Runners().wrap(spec(runner), ARGV)


def test_the_runners_say_which_of_them_were_tested(programs: Path):
    tested = {row["runner"]: row["isTested"] for row in Runners().describe()}
    assert tested == {"local": True, "bwrap": False, "container": False, "ssh": False}

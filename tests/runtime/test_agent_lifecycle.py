"""The life of an agent: its statuses and events from the start to the end."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime.agent_errors import (
    AgentNotReady,
    CliNotFound,
    InvalidSpec,
    SpawnFailed,
    TooManyAgents,
    UnknownAgent,
)
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.agent_state import ENDED
from tests.runtime.conftest import AgentBench


async def test_an_agent_has_all_statuses_during_a_message(bench: AgentBench):
    agent = await bench.start("echo")
    reply = await agent.send("hello there")
    assert (reply.response, reply.submitted, reply.queued) == ("hello there", True, False)
    await bench.wait(agent, lambda state: state.status == "ready")
    assert await agent.stop() == []
    assert bench.statuses(agent) == ["starting", "ready", "busy", "ready", "stopping", "stopped"]
    names = [name for name in bench.events(agent) if name != "status"]
    assert names == ["agent_started", "agent_ready", "submitted", "message", "agent_stopped"]


async def test_an_agent_can_be_read_after_its_end(bench: AgentBench):
    agent = await bench.start("echo")
    await agent.send("remember me")
    await agent.stop()
    same = bench.pool.require(agent.id)
    assert same.state.status == "stopped"
    assert "remember me" in same.read_lines(10)
    assert await same.stop() == []
    with pytest.raises(AgentNotReady):
        await same.send("are you there?")


async def test_an_agent_is_found_by_the_name_that_is_shown(bench: AgentBench):
    first = await bench.start("echo")
    assert bench.pool.require("echo") is first
    named = await bench.start("echo", name="second")
    assert bench.pool.require("second") is named
    await bench.start("echo")
    with pytest.raises(UnknownAgent, match="2 agents have the name"):
        bench.pool.require("echo")
    with pytest.raises(UnknownAgent, match="no such agent"):
        bench.pool.require("")


async def test_the_shell_is_ready_busy_and_ready(bench: AgentBench):
    agent = await bench.start("shell", columns=93, rows=27)
    reply = await agent.send("stty size; printf '\\033[31mred\\033[0m\\n'; test -t 0 && echo a terminal")
    assert reply.response == "27 93\nred\na terminal"
    both = await agent.send("for number in 1 2; do\necho $number\ndone")
    assert both.response.endswith("1\n2")


async def test_the_shell_is_busy_as_long_as_its_command_runs(bench: AgentBench):
    agent = await bench.start("shell")
    # the shell reports before the command runs, and a Ctrl-C between both is lost
    agent.press(b"sh -c 'printf %s%s be gun; exec sleep 100'\r")
    await bench.wait_for_text(agent, "begun")
    await bench.wait(agent, lambda state: state.status == "busy")
    await agent.interrupt()
    await bench.wait(agent, lambda state: state.status == "ready")


async def test_an_agent_that_ends_by_itself_is_stopped(bench: AgentBench):
    agent = await bench.start()
    with pytest.raises(AgentNotReady, match="ended"):
        await agent.send("/exit 3")
    event = await bench.wait_for_event("agent_stopped", agent)
    assert event.data["reason"] == "the program ended with 3"
    assert agent.fields()["exitCode"] == 3


async def test_a_program_that_ends_at_once_is_an_error(bench: AgentBench):
    with suppress(SpawnFailed):
        # the error is raised if the program ends while it is watched
        await bench.spawn("fake", "--exit", "7")
    (agent,) = bench.pool.list()
    event = await bench.wait_for_event("agent_error", agent)
    assert event.data["error"]["code"] == "SPAWN_FAILED"
    assert "cannot start" in event.data["error"]["message"]
    assert agent.state.status == "error"


async def test_a_missing_or_broken_program_is_an_error(make_bench: Callable[..., AgentBench], tmp_path: Path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    missing = AgentSetting(name="missing", command="no-such-agent-of-ours")
    bench = make_bench([missing, AgentSetting(name="broken", command=str(broken))])
    with pytest.raises(CliNotFound):
        await bench.spawn("missing")
    with pytest.raises(SpawnFailed):
        await bench.spawn("broken")
    assert [agent.state.status for agent in bench.pool.list()] == ["error", "error"]


async def test_agents_that_ended_do_not_count_against_the_limit(make_bench: Callable[..., AgentBench]):
    bench = make_bench(max_agents=1)
    first = await bench.start("echo")
    with pytest.raises(TooManyAgents):
        await bench.spawn("echo")
    await first.stop()
    second = await bench.start("echo")
    assert [agent.state.status in ENDED for agent in (first, second)] == [True, False]


async def test_an_idle_agent_is_stopped(bench: AgentBench):
    agent = await bench.spawn("echo", idle_timeout_s=0.2)
    event = await bench.wait_for_event("agent_stopped", agent)
    assert "idle" in event.data["reason"]


async def test_an_agent_that_ignores_sigterm_is_killed(bench: AgentBench):
    agent = await bench.start("fake", "--ignore-term")
    agent.press(b"/hang\r")
    await bench.wait(agent, lambda state: state.status == "busy")
    assert await agent.stop(timeout_s=0.5) == []
    assert agent.state.status == "stopped"
    assert agent.fields()["exitCode"] == -9


async def test_a_working_folder_must_be_allowed(bench: AgentBench, tmp_path: Path):
    (bench.work / "link").symlink_to(tmp_path)
    for folder in (tmp_path, bench.work / "..", bench.work / "link", bench.work / "missing", Path("/")):
        with pytest.raises(InvalidSpec):
            await bench.pool.spawn(AgentSpec("echo", folder))
    assert bench.pool.list() == []


CHOOSING = (
    "LD_PRELOAD PATH NODE_OPTIONS BASH_ENV PYTHONPATH ZDOTDIR CLAUDE_CONFIG_DIR XDG_CONFIG_HOME LESSOPEN CODEX_HOME "
    "ANTHROPIC_BASE_URL https_proxy GIT_CONFIG_COUNT npm_config_script_shell TERMINFO NOBODY_KNOWS_IT path lang"
)


@pytest.mark.parametrize("name", [*CHOOSING.split(), "a=b", "", "é", "LANG\n", "LC_é"])
async def test_a_client_cannot_set_variables_that_run_code(bench: AgentBench, name: str):
    with pytest.raises(InvalidSpec):
        await bench.spawn("echo", env={name: "x"})


@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "NO_COLOR", "FAKE_API_KEY", "FAKE_TOKEN", "MINE"])
async def test_a_client_sets_keys_and_harmless_variables_and_those_of_the_settings(bench: AgentBench, name: str):
    bench.pool.limits = replace(bench.pool.limits, client_variables=("MINE",))
    agent = await bench.start("fake", env={name: "C.UTF-8"})
    await agent.send(f"/env {name}")
    assert f"{name}=C.UTF-8" in "\n".join(agent.read_lines(20))


async def test_secrets_are_neither_in_events_nor_in_arguments(bench: AgentBench):
    agent = await bench.start("fake", env={"FAKE_API_KEY": "sk-test-0123456789"})
    await agent.send("/env FAKE_API_KEY")
    assert "sk-test-0123456789" in "\n".join(agent.read_lines(20))
    await agent.stop()
    shown = [event for event in bench.pool.feed.read() if event.event != "message"]
    assert "sk-test" not in str([event.fields for event in shown])
    log = bench.folder / "agents" / agent.id / "terminal.log"
    assert "sk-test" not in log.read_text()


async def test_agents_of_the_settings_must_be_valid(make_bench: Callable[..., AgentBench]):
    bench = make_bench(
        [
            AgentSetting(name="empty"),
            AgentSetting(name="wrong", command=sys.executable, ready_pattern="("),
            AgentSetting(name="unset", command=sys.executable, env=("novalue",)),
        ]
    )
    for name in ("empty", "wrong", "unset", "nobody"):
        with pytest.raises(InvalidSpec):
            await bench.spawn(name)

"""Real agents in the real places: a sandbox, a container, and another machine, which is this one over ssh."""

import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lsp_harness.config.runtime_schema import AgentSetting, Runtime
from lsp_harness.runtime.agent import Agent
from lsp_harness.runtime.agent_errors import SpawnFailed
from lsp_harness.runtime.isolation.container_runner import container_name
from lsp_harness.runtime.isolation.runner import run_place_command
from lsp_harness.runtime.isolation.runners import Runners
from tests.runtime.conftest import AgentBench
from tests.runtime.isolation.test_runners import make_order

BWRAP_PROBLEM = next(row["problem"] for row in Runners().describe() if row["runner"] == "bwrap")
needs_bwrap = pytest.mark.skipif(bool(BWRAP_PROBLEM), reason=f"bwrap: {BWRAP_PROBLEM}")
# a process that leaves the session and ignores what a closed terminal sends
ESCAPE = "setsid sh -c 'trap \"\" TERM HUP; sleep 4321; sleep 4322' >/dev/null 2>&1 & echo gone"


def count_sleepers() -> int:
    """Return the number of processes that `ESCAPE` has left."""
    return sum(process.info["cmdline"] in (["sleep", "4321"], ["sleep", "4322"]) for process in _find_processes())


def _find_processes() -> list[psutil.Process]:
    return [process for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"]]


def list_containers() -> str:
    """Return the ids of all containers, also of those that have ended."""
    return subprocess.run(["podman", "ps", "-aq"], capture_output=True, text=True, check=True).stdout


def find_ended_process() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen(["true"]) as ended:
        return ended.pid


async def ask(agent: Agent, command: str) -> str:
    """Return what a shell prints."""
    return (await agent.send(command, timeout_s=20.0)).response


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home with a login of claude and a secret."""
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude/login").write_text("logged in")
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def remote_bench(bench: AgentBench, ssh_settings: Runtime) -> AgentBench:
    """Return a bench whose agents can run over ssh."""
    bench.pool.runners = Runners(ssh_settings)
    return bench


@pytest.fixture
def container_bench(bench: AgentBench, container_settings: Runtime) -> AgentBench:
    """Return a bench whose agents can run in a container."""
    bench.pool.runners = Runners(container_settings)
    return bench


# -- the sandbox
@needs_bwrap
async def test_an_agent_answers_in_the_sandbox(bench: AgentBench):
    agent = await bench.start("echo", runner="bwrap")
    assert (await agent.send("hello")).response == "hello"
    assert agent.fields()["runner"] == "bwrap"


@needs_bwrap
async def test_the_sandbox_shows_the_folder_and_hides_the_home(bench: AgentBench, home: Path):
    agent = await bench.start("shell", runner="bwrap", columns=100)
    assert await ask(agent, "echo written > here.txt; cat here.txt") == "written"
    assert (bench.work / "here.txt").read_text() == "written\n"
    assert await ask(agent, f"ls -A {home}") == ""
    # what is written outside of the folder does not reach the disk
    assert "Read-only" in await ask(agent, "touch /usr/lib/ours")
    await ask(agent, f"echo x > {home}/ours")
    assert not (home / "ours").exists()
    assert "stays" not in await ask(agent, f"ls {bench.folder}/agents")


@needs_bwrap
async def test_the_sandbox_shows_an_agent_only_its_own_login(make_bench: Callable[..., AgentBench], home: Path):
    (home / "mine").write_text("token")
    setting = AgentSetting(name="mine", command="bash", args=("--norc", "-i"), ready_pattern=r"bash-\S+[$#]")
    bench = make_bench([setting])
    own = AgentSetting(name="mine", sandbox_folders=("~/mine",))
    bench.pool.runners = Runners(Runtime(runner="bwrap", agents=(own,)))
    agent = await bench.start("mine", env={"LANG": "C"})
    assert agent.spec.runner == "bwrap"
    agent.press(f"cat {home}/mine; ls {home}/secret; echo changed > {home}/mine; echo d''one\r".encode())
    await bench.wait_for_text(agent, "done")
    # a long path wraps the message over two rows
    screen = "".join(agent.read_lines(40))
    assert "token" in screen
    assert "No such file" in screen
    assert (home / "mine").read_text() == "changed\n"


@needs_bwrap
async def test_the_network_of_the_sandbox_is_open_or_closed(bench: AgentBench):
    interfaces = "cat /proc/net/dev | sed 1,2d | cut -d: -f1 | tr -d ' ' | sort | xargs echo"
    closed = await bench.start("shell", runner="bwrap", network=False)
    assert (await ask(closed, interfaces)).split() == ["lo"]
    opened = await bench.start("shell", runner="bwrap")
    outside = sorted(line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    assert (await ask(opened, interfaces)).split() == outside


@needs_bwrap
async def test_no_process_of_the_sandbox_is_left(bench: AgentBench):
    agent = await bench.start("shell", runner="bwrap")
    await ask(agent, ESCAPE)
    assert count_sleepers() == 1
    assert await agent.stop() == []
    assert count_sleepers() == 0


# -- another machine
async def test_an_agent_answers_on_another_machine(remote_bench: AgentBench):
    agent = await remote_bench.start("shell", runner="ssh", env={"FAKE_API_KEY": "sk-remote"}, columns=91, rows=33)
    assert await ask(agent, "stty size; pwd") == f"33 91\n{remote_bench.work}"
    assert await ask(agent, 'test -n "$SSH_CONNECTION" && echo $FAKE_API_KEY') == "sk-remote"
    assert not [process for process in _find_processes() if "sk-remote" in " ".join(process.info["cmdline"])]


async def test_no_process_on_another_machine_is_left(remote_bench: AgentBench):
    agent = await remote_bench.start("shell", runner="ssh")
    await ask(agent, ESCAPE)
    assert count_sleepers() == 1
    await agent.stop()
    await remote_bench.pool.aclose()
    assert count_sleepers() == 0


async def test_a_machine_that_does_not_answer_is_named(remote_bench: AgentBench, ssh_settings: Runtime):
    other = Runtime(ssh_host="127.0.0.1", ssh_options=("-F/dev/null", "-p1"))
    remote_bench.pool.runners = Runners(other)
    with pytest.raises(SpawnFailed, match=r"127\.0\.0\.1 cannot be reached: .*refused"):
        await remote_bench.spawn("shell", runner="ssh")
    assert remote_bench.pool.list() == []


# -- containers
async def test_an_agent_answers_in_a_container(container_bench: AgentBench, home: Path):
    bench = container_bench
    agent = await bench.start("shell", runner="container", network=False, env={"FAKE_API_KEY": "sk-inside"})
    assert await ask(agent, "echo $FAKE_API_KEY; pwd") == f"sk-inside\n{bench.work}"
    await ask(agent, "echo inside > here.txt")
    assert (bench.work / "here.txt").read_text() == "inside\n"
    assert "No such file" in await ask(agent, f"ls {home}")
    assert not [process for process in _find_processes() if "sk-inside" in " ".join(process.info["cmdline"])]
    await ask(agent, ESCAPE)
    assert count_sleepers() == 1
    await agent.stop()
    await bench.pool.aclose()
    assert count_sleepers() == 0
    assert list_containers() == ""


async def test_a_program_that_the_image_does_not_have_is_named(container_bench: AgentBench):
    # the container may begin before its program is looked for
    with suppress(SpawnFailed):
        await container_bench.spawn("echo", runner="container", network=False)
    (agent,) = container_bench.pool.list()
    event = await container_bench.wait_for_event("agent_error", agent)
    assert re.search("no such file|not found", event.data["error"]["message"], re.IGNORECASE)


async def test_the_container_of_a_server_that_was_killed_is_removed(
    container_bench: AgentBench, container_settings: Runtime
):
    name = re.sub(r"-\d+-A1$", f"-{find_ended_process()}-A1", container_name(make_order("container")))
    argv = ("podman", "create", "--network=none", "--name", name, container_settings.container_image, "/bin/sh")
    assert run_place_command(argv).problem == ""
    order = make_order("container")
    Runners(container_settings).choose(order.spec).check(order)
    assert list_containers() == ""

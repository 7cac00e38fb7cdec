"""Foreign agents of an editor: real programs in real terminals, which real language servers start."""

import base64
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.runtime.conftest import FAKE_CLI
from tests.server.sessions.conftest import Serve, ask, root, run_command, serve
from tests.support.lsp import Editor, ResponseError

__all__ = ["root", "serve"]
KNOWN = {"agents": True, "questions": True}
AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
Started = Callable[..., Any]


@pytest.fixture(autouse=True)
def agent_settings(root: Path) -> None:
    """Let the settings of the user describe the agent of these tests."""
    home = Path(os.environ["LSP_HARNESS_HOME"])
    damaged = home / "damaged"
    damaged.write_bytes(b"\x7fELF nothing")
    damaged.chmod(0o755)
    (home / "config.toml").write_text(
        f"""
[runtime.agents.fake]
command = {sys.executable!r}
args = [{str(FAKE_CLI)!r}]
ready_pattern = '\\? for shortcuts'
busy_pattern = 'esc to interrupt'
exit_keys = ['ctrl-c', 'ctrl-c']
[runtime.agents.absent]
command = 'no-such-program-anywhere'
[runtime.agents.failing]
command = {str(damaged)!r}
"""
    )


async def start(editor: Editor, *args: str, **fields: Any) -> str:
    """Start the agent of the tests, wait until it is ready, and return its id."""
    agent = await run_command(editor, "runtime.spawn", type="fake", args=list(args), **fields)
    await wait_for_event(editor, "agent_ready", agent["id"])
    return agent["id"]


async def wait_for_event(editor: Editor, name: str, agent_id: str) -> Any:
    """Wait for an event of an agent, past or future, and return its data."""
    wanted = {"event": name, "agentId": agent_id}
    params = await editor.find_params("$/lspHarness/event", lambda params: wanted.items() <= params.items())
    return params["data"]


async def run_and_fail(editor: Editor, name: str, /, **fields: Any) -> dict[str, Any]:
    """Run a command that must fail, and return its error."""
    id = ask(editor, name, **fields)
    answer = await editor.find(lambda message: message.get("id") == id and "method" not in message)
    return answer["error"]


def find_agent_processes(home: str) -> list[psutil.Process]:
    """Return the processes of the agents of a server with this home."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.Error, OSError):
            continue
        if environment.get("LSP_HARNESS_HOME") == home and "LSP_HARNESS_AGENT_ID" in environment:
            found.append(process)
    return found


def make_repository(root: Path) -> None:
    """Make a repository of the files in a folder."""
    for arguments in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)


class Viewer:
    """The terminal of an agent, as an editor reads it."""

    def __init__(self, editor: Editor, viewer_id: str) -> None:
        self._editor, self.id = editor, viewer_id
        self.data = b""
        self.end = ""

    @classmethod
    async def attach(cls, editor: Editor, agent_id: str, **size: int) -> "Viewer":
        answer = await run_command(editor, "runtime.attach", agentId=agent_id, **size)
        return cls(editor, answer["viewerId"])

    async def until(self, text: str) -> None:
        """Read until a text has come, or the end."""
        while text.encode() not in self.data and not self.end:
            await self.read()
        assert text.encode() in self.data

    async def read(self) -> None:
        piece = await run_command(self._editor, "runtime.read", viewerId=self.id)
        self.data += base64.b64decode(piece["data"])
        if piece["isEnd"]:
            self.end = piece["reason"] or "without a reason"


async def press(editor: Editor, agent_id: str, keys: str) -> None:
    """Type into the terminal of an agent."""
    await run_command(editor, "runtime.press", agentId=agent_id, keys=base64.b64encode(keys.encode()).decode())


async def test_an_agent_is_started_answers_and_is_stopped(serve: Serve, root: Path):
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor, name="helper")

    reply = await run_command(editor, "runtime.send", agentId="helper", message="hello")
    listed = (await run_command(editor, "runtime.list"))["agents"]
    log = await run_command(editor, "runtime.logs", agentId=agent_id, lines=1000)
    explained = await run_command(editor, "runtime.explain", agentId=agent_id)

    assert (reply["sent"], reply["submitted"], reply["queued"]) == (True, True, False)
    assert "You said: hello" in reply["response"]
    assert [(agent["id"], agent["name"], agent["type"]) for agent in listed] == [(agent_id, "helper", "fake")]
    assert listed[0]["workdir"] == str(root.resolve())
    assert any("You said: hello" in line for line in log["lines"])
    assert explained["state"]["status"] == listed[0]["status"] == "ready"

    assert await run_command(editor, "runtime.stop", agentId=agent_id) == {"left": []}
    await wait_for_event(editor, "agent_stopped", agent_id)
    assert (await run_command(editor, "runtime.list"))["agents"][0]["status"] == "stopped"
    assert find_agent_processes(os.environ["LSP_HARNESS_HOME"]) == []


async def test_a_terminal_is_shown_from_the_middle_and_typed_into(serve: Serve):
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor)
    await run_command(editor, "runtime.send", agentId=agent_id, message="before")

    viewer = await Viewer.attach(editor, agent_id, columns=90, rows=20)
    await viewer.until("You said: before")
    await press(editor, agent_id, "after\r")
    await viewer.until("You said: after")
    assert await run_command(editor, "runtime.resize", agentId=agent_id, columns=70, rows=15) == {
        "columns": 70,
        "rows": 15,
    }
    await run_command(editor, "runtime.stop", agentId=agent_id)
    while not viewer.end:
        await viewer.read()

    assert viewer.end == "it was stopped"
    assert "no such view" in (await run_and_fail(editor, "runtime.read", viewerId=viewer.id))["message"]


async def test_two_viewers_get_the_same_bytes_and_one_may_leave(serve: Serve):
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor)
    first, second = [await Viewer.attach(editor, agent_id) for _ in range(2)]

    await run_command(editor, "runtime.detach", viewerId=second.id)
    await press(editor, agent_id, "/lines 3000\r")

    await first.until("line 3000")
    assert all(f"line {number}\r".encode() in first.data for number in range(1, 3001))


async def test_other_requests_are_answered_while_an_agent_prints_without_end(serve: Serve):
    editor = await serve(announced=KNOWN)
    agent = await run_command(editor, "runtime.spawn", type="shell")
    viewer = await Viewer.attach(editor, agent["id"])
    await press(editor, agent["id"], "yes 0123456789\r")
    await viewer.until("0123456789\r\n0123456789\r\n0123456789")

    # nobody reads, so nothing but answers is sent
    before = len(editor.received)
    for _ in range(20):
        await run_command(editor, "runtime.list")
    answers = [message for message in editor.received[before:] if "method" not in message]
    assert len(answers) == 20
    assert sum("data" in (message.get("result") or {}) for message in answers) == 0

    await press(editor, agent["id"], "\x03")
    await press(editor, agent["id"], "echo in $((40+2)) order\r")
    # an editor that missed some output gets the screen as it is
    await viewer.until("in 42 order")


async def test_the_permission_is_asked_in_the_editor_and_reaches_the_agent(serve: Serve, root: Path):
    editor = await serve(announced=KNOWN, mode="ask")
    agent_id = await start(editor)
    for number, is_allowed in enumerate((False, True)):
        name = f"file{number}.txt"
        sent = ask(editor, "runtime.send", agentId=agent_id, message=f"/permit write {name}")
        question = await editor.find_params("$/lspHarness/question", lambda params, name=name: name in str(params))
        listed = (await run_command(editor, "runtime.list"))["agents"][0]["questions"]
        assert [each["questionId"] for each in listed] == [question["questionId"]]
        assert question["agentId"] == question["agent"]["id"] == agent_id

        answer = {"agentId": agent_id, "questionId": question["questionId"], "isAllowed": is_allowed}
        await run_command(editor, "runtime.answer", **answer)

        response = (await editor.answer(sent))["response"]
        assert ("was allowed" in response, (root / name).exists()) == (is_allowed, is_allowed)
    assert (await run_command(editor, "runtime.list"))["agents"][0]["questions"] == []


@pytest.mark.parametrize(("button", "is_allowed"), [("Allow", True), ("Deny", False), (None, False)])
async def test_an_editor_without_its_own_questions_is_asked_by_a_message(
    serve: Serve, root: Path, button: str | None, is_allowed: bool
):
    editor = await serve(announced={"agents": True}, mode="ask")
    editor.replies["window/showMessageRequest"] = button and {"title": button}
    agent_id = await start(editor)

    reply = await run_command(editor, "runtime.send", agentId=agent_id, message="/permit write new.txt")

    params = await editor.find_params("window/showMessageRequest")
    assert params["message"].startswith("fake asks:\n")
    assert [action["title"] for action in params["actions"]] == ["Allow", "Deny"]
    assert (root / "new.txt").exists() is is_allowed
    assert ("was allowed" in reply["response"]) is is_allowed


async def test_a_question_that_a_rule_decides_is_not_asked(serve: Serve, root: Path):
    editor = await serve(announced={"agents": True}, mode="ask", permissions={"deny": ["unknown"]})
    agent_id = await start(editor)

    await run_command(editor, "runtime.send", agentId=agent_id, message="/permit write new.txt")

    assert (await wait_for_event(editor, "permission_decided", agent_id))["decision"] == "deny"
    assert not any(message.get("method") == "window/showMessageRequest" for message in editor.received)
    assert not (root / "new.txt").exists()


@pytest.mark.parametrize(("button", "is_opened"), [("Open in the browser", True), ("Not now", False), (None, False)])
async def test_the_page_of_a_login_is_opened_when_the_user_agrees(serve: Serve, button: str | None, is_opened: bool):
    editor = await serve(announced={"agents": True}, client="vscode")
    editor.replies["window/showMessageRequest"] = button and {"title": button}
    editor.replies["window/showDocument"] = {"success": True}
    agent = await run_command(editor, "runtime.spawn", type="fake", args=["--login"])

    required = await wait_for_event(editor, "login_required", agent["id"])
    params = await editor.find_params("window/showMessageRequest")

    assert required["loginUrl"].startswith("https://login.example.com/oauth/authorize?")
    assert params["message"] == "fake wants you to log in at login.example.com"
    if is_opened:
        shown = await editor.find_params("window/showDocument")
        assert (shown["uri"], shown["external"]) == (required["loginUrl"], True)
    await run_command(editor, "runtime.stop", agentId=agent["id"], force=True)
    assert any(message.get("method") == "window/showDocument" for message in editor.received) is is_opened


async def test_errors_have_their_codes(serve: Serve, tmp_path: Path):
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor)
    busy = ask(editor, "runtime.send", agentId=agent_id, message="/slow 3600")
    await wait_for_event(editor, "submitted", agent_id)

    assert (await run_and_fail(editor, "runtime.spawn", type="absent"))["data"]["code"] == "CLI_NOT_FOUND"
    assert (await run_and_fail(editor, "runtime.spawn", type="failing"))["data"]["code"] == "SPAWN_FAILED"
    assert (await run_and_fail(editor, "runtime.spawn", type="nonsense"))["data"]["code"] == "INVALID"
    outside = await run_and_fail(editor, "runtime.spawn", type="fake", workdir=str(tmp_path))
    assert (outside["code"], outside["data"]["code"]) == (-32803, "INVALID")
    assert (await run_and_fail(editor, "runtime.send", agentId="nobody", message="hi"))["data"]["code"] == "NOT_FOUND"
    assert (await run_and_fail(editor, "runtime.send", agentId=agent_id, message="hi"))["data"]["code"] == "BUSY"
    await run_command(editor, "runtime.interrupt", agentId=agent_id)
    assert "Interrupted" in (await editor.answer(busy))["response"]
    late = await run_and_fail(editor, "runtime.send", agentId=agent_id, message="/slow 3600", timeoutMs=200)
    assert late["data"]["code"] == "TIMEOUT"
    assert late["data"]["resolution"]


WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("runtime.spawn", {}),
    ("runtime.spawn", {"type": 3}),
    ("runtime.spawn", {"type": "fake", "args": "--exit"}),
    ("runtime.spawn", {"type": "fake", "columns": 100_000}),
    ("runtime.spawn", {"type": "fake", "isolation": "maybe"}),
    ("runtime.press", {"agentId": "x", "keys": "no base64!"}),
    ("runtime.read", {"viewerId": "x"}),
    ("runtime.attach", {}),
)


async def test_arguments_that_are_wrong_are_refused(serve: Serve):
    editor = await serve(announced=KNOWN)
    for name, fields in WRONG:
        failure = await run_and_fail(editor, name, **fields)
        assert failure["code"] in (-32602, -32803), name
        assert "internal error" not in failure["message"], name


async def test_an_untrusted_workspace_starts_no_agent(serve: Serve):
    editor = await serve(announced=KNOWN, trusted=False)

    denied = await run_and_fail(editor, "runtime.spawn", type="fake")

    assert denied["data"]["code"] == "DENIED"
    assert "not trusted" in denied["message"]
    assert find_agent_processes(os.environ["LSP_HARNESS_HOME"]) == []
    assert (await run_command(editor, "runtime.list"))["agents"] == []


async def test_events_are_sent_only_to_clients_that_announced_them(serve: Serve):
    editor = await serve()
    with pytest.raises(ResponseError):
        await run_command(editor, "runtime.spawn", type="absent")
    agent = await run_command(editor, "runtime.spawn", type="fake")
    await run_command(editor, "runtime.stop", agentId=agent["id"])
    assert not any(message.get("method") == "$/lspHarness/event" for message in editor.received)


async def test_agents_end_with_their_server(serve: Serve):
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor)
    await run_command(editor, "runtime.send", agentId=agent_id, message="/spawn setsid")
    home = os.environ["LSP_HARNESS_HOME"]
    assert len(find_agent_processes(home)) >= 2

    await editor.leave()

    assert find_agent_processes(home) == []


async def test_the_kinds_of_agents_are_listed_with_their_properties(serve: Serve):
    editor = await serve(announced=KNOWN)

    types = {each["type"]: each for each in (await run_command(editor, "runtime.types"))["types"]}

    assert {"echo", "shell", "fake", "absent"} <= types.keys()
    assert types["fake"]["isInstalled"] is True
    assert types["absent"]["isInstalled"] is False


async def test_changes_in_a_worktree_are_checked_applied_and_undone(serve: Serve, root: Path):
    make_repository(root)
    before = (root / "app.py").read_text()
    editor = await serve(announced=KNOWN)
    agent_id = await start(editor, isolation="worktree")
    listed = (await run_command(editor, "runtime.list"))["agents"][0]
    assert (listed["isolation"], listed["workdir"] == str(root)) == ("worktree", False)

    await run_command(
        editor, "runtime.send", agentId=agent_id, message="/write app.py def add(a, b):\\n    return a + c\\n"
    )
    broken = await run_command(editor, "runtime.changes", agentId=agent_id)
    assert broken["passed"] is False
    assert "c" in "".join(broken["findings"])
    refused = await run_and_fail(editor, "runtime.apply", agentId=agent_id, reviewId=broken["reviewId"])
    assert "not passed" in refused["message"]
    assert (root / "app.py").read_text() == before

    await run_command(
        editor, "runtime.send", agentId=agent_id, message="/write app.py def add(a, b):\\n    return b + a\\n"
    )
    changes = await run_command(editor, "runtime.changes", agentId=agent_id)
    assert (changes["passed"], changes["files"]) == (True, [{"path": "app.py", "kind": "changed"}])
    assert "+    return b + a" in changes["text"]
    assert "no such review" in (await run_and_fail(editor, "runtime.apply", agentId=agent_id, reviewId="x"))["message"]
    applied = await run_command(editor, "runtime.apply", agentId=agent_id, reviewId=changes["reviewId"])
    assert applied["text"] == "applied app.py"
    assert "b + a" in (root / "app.py").read_text()

    undone = await run_command(editor, "runtime.undo", agentId=agent_id)
    assert undone["text"] == "restored app.py"
    assert (root / "app.py").read_text() == before
    (worktree,) = (await run_command(editor, "runtime.list", worktrees=True))["worktrees"]
    assert (worktree["agentId"], worktree["isRunning"], worktree["takenBy"]) == (agent_id, True, None)
    assert (await run_command(editor, "runtime.discard", agentId=agent_id))["text"] == "removed the worktree of fake"
    assert not Path(listed["workdir"]).exists()

"""The nine checks. Each does what it is named after, and returns what it saw. A new check is a function and a row."""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsp_harness.cli.selftest.scripted_home import ScriptedHome, ScriptedSession, require, tool_call
from lsp_harness.errors import UsageError
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.process.process_table import list_processes
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions

COMMAND_S = 60
WAIT_S = 20.0
LARGE_LINES = 20_000
SMALL_WINDOW = 4_000
ANSWER = "PI is three here"


async def check_command_line(home: ScriptedHome) -> str:
    """Run `lsp-harness run` as a program, and read its answer and the session that it left."""
    provider = home.write_script([tool_call("read", path="geo.py"), ANSWER])
    command = [sys.executable, "-m", "lsp_harness", "run", "what is PI?", "--bare", "--provider", provider]
    ended = await asyncio.to_thread(
        subprocess.run, command, cwd=home.project, capture_output=True, text=True, timeout=COMMAND_S, check=False
    )
    require(ended.returncode == 0, f"the command ended with {ended.returncode}: {ended.stderr.strip()[-200:]}")
    require(ended.stdout == f"{ANSWER}\n", f"the command printed {ended.stdout[:80]!r}")
    require(len(SessionStore().ids()) == 1, "the command left no session")
    return f"the command printed {ANSWER!r} and saved its session"


async def check_provider(home: ScriptedHome) -> str:
    """Ask the provider that the options name, and find its name and its tokens in the log."""
    async with home.open(ANSWER) as session:
        await _ask(session, "what is PI?")
        model, started = session.first("model.completed"), session.first("session.started")
        usage = model["usage"]
        expected = f"scripted:{home.folder / 'script.json'}"
        require(model["model"] == started["model"] == session.opened.model, "the log names another model")
        require("script" in model["model"], f"the answer is from {model['model']!r} and not from {expected}")
        require(model["text"] == ANSWER, f"the answer was {model['text']!r}")
        require(usage["input_tokens"] > 0 and usage["output_tokens"] > 0, "the log has no tokens")
        return f"{model['model']} read {usage['input_tokens']} tokens and wrote {usage['output_tokens']}"


async def check_append_only_log(home: ScriptedHome) -> str:
    """Continue a session, and find its old bytes unchanged before the new ones. Nobody else may write meanwhile."""
    async with home.open("one") as session:
        await _ask(session, "first")
        log = session.opened.session.log
        try:
            SessionStore().open(log.id).log.close()
        except UsageError as error:
            refusal = error.message
        else:
            refusal = ""
        require(refusal, "two writers had the session at once")
    before = log.path.read_bytes()
    async with home.open("two", resume=log.id) as session:
        await _ask(session, "second")
        after = log.path.read_bytes()
        require(after.startswith(before) and len(after) > len(before), "the old events were changed")
        events = session.events()
    require([event.seq for event in events] == list(range(len(events))), "the events are not numbered without gaps")
    return f"{len(events)} events; the first {len(before):,} bytes stayed as they were, and a second writer was refused"


async def check_artifacts(home: ScriptedHome) -> str:
    """Run a command with a large output, and compare the file with it and the prompt with its stub."""
    call = tool_call("bash", command=f"seq 1 {LARGE_LINES}", execution="inline")
    async with home.open(call, "that was long") as session:
        await _ask(session, "count")
        created = session.first("artifact.created")
        content = (session.opened.session.log.folder / created["path"]).read_bytes()
        expected = "".join(f"{number}\n" for number in range(1, LARGE_LINES + 1)).encode()
        require(content == expected, f"the artifact has {len(content):,} bytes and not the output of the command")
        require(hashlib.sha256(content).hexdigest() == created["sha256"], "the hash in the log is another one")
        first, second = session.prompts
        growth = len(second) - len(first)
        require(growth < 2_000, f"the prompt grew by {growth:,} characters")
        require(created["artifact_id"] in second, "the prompt does not name the artifact")
        return f"{len(content):,} bytes are in a file, and the prompt grew by {growth:,} characters"


async def check_core_tools(home: ScriptedHome) -> str:
    """Let the model read, search, edit and run a command, and look at what they did."""
    replies = [
        tool_call("read", path="geo.py"),
        tool_call("grep", pattern="def "),
        tool_call("edit", path="geo.py", old="PI = 3", new="PI = 3.14"),
        tool_call("bash", command="cp geo.py copy.py", execution="inline"),
        "done",
    ]
    async with home.open(*replies) as session:
        await _ask(session, "make PI better")
        outputs = {event.data["tool"]: event.data["output"] for event in session.events("tool.completed")}
        missing = {"read", "grep", "edit", "bash"} - outputs.keys()
        require(not missing, f"these tools failed: {', '.join(sorted(missing))}")
        require("PI = 3" in outputs["read"] and "def area" in outputs["grep"], "the tools did not find the code")
        text = (home.project / "geo.py").read_text()
        require(text.startswith("PI = 3.14\n"), "the edit is not in the file")
        copy = home.project / "copy.py"
        require(copy.is_file() and copy.read_text() == text, "the command did nothing")
        return "read, grep, edit and bash did what they say"


async def check_compaction(home: ScriptedHome) -> str:
    """Fill the window of the model, and find a smaller prompt and the whole log."""
    lines = ["".join(f"word{number + column} " for column in range(10)) for number in range(0, 300, 10)]
    (home.project / "notes.txt").write_text("\n".join(lines))
    replies = [reply for _ in range(6) for reply in (tool_call("read", path="notes.txt"), "read it")]
    async with home.open(*replies, context_tokens=SMALL_WINDOW) as session:
        for number in range(6):
            await _ask(session, f"read the notes, time {number}")
        ends = [event.data for event in session.events("compaction.completed")]
        require(ends, "nothing was made smaller")
        smaller = [end for end in ends if end["after"] < end["before"]]
        require(smaller, "no step made the prompt smaller")
        count = sum("word299" in event.data["output"] for event in session.events("tool.completed"))
        require(count == 6, "outputs are missing in the log")
        require(session.prompts[-1].count("word299") < 6, "the last prompt has everything")
        best = max(smaller, key=lambda end: end["before"] - end["after"])
        return f"{len(ends)} steps; {best['tier']} made {best['after']} of {best['before']} tokens"


async def check_task_handles(home: ScriptedHome) -> str:
    """Start a command in the background, read its output by its id, and end it with its processes."""
    command = "echo $$ > pid; echo begun; sleep 300"
    async with home.open(tool_call("bash", command=command, execution="background"), "it runs") as session:
        await _ask(session, "start it")
        opened, file = session.opened, home.project / "pid"
        task_id = session.first("task.started")["task_id"]
        await _wait_until(lambda: "begun" in opened.parts.tasks.read(task_id).text, "the task has no output")
        pid = int(file.read_text())
        require(_is_running(pid), "the task has no process")
        states = [row["status"] for row in opened.list_tasks() if row["task_id"] == task_id]
        require(states == ["running"], "the list does not have the task as running")
        opened.session.run_next = None
        result = await opened.cancel_task(task_id)
        require(result["status"] == "cancelled", f"the task is {result['status']} after it was cancelled")
        require(not _is_running(pid), "the process of the task still runs")
        session.first("task.cancelled")
        return f"task {task_id} was listed, read and ended with its process {pid}"


async def check_subagent(home: ScriptedHome) -> str:
    """Let a subagent read a file, and find its work in its own log and only its answer in that of the parent."""
    replies = [tool_call("agent", prompt="read geo.py"), tool_call("read", path="geo.py"), ANSWER, "three"]
    async with home.open(*replies) as session:
        await _ask(session, "ask somebody what PI is")
        child_id = session.first("task.started")["session_id"]
        require(child_id and child_id != session.opened.session.id, "the subagent has no session of its own")
        parent_text = str([event.data for event in session.events()])
        require("return PI" not in parent_text, "the log of the parent has what the subagent read")
        require("return PI" in session.first("tool.completed", child_id)["output"], "the subagent read nothing")
        require("ask somebody" not in session.prompts[1], "the subagent saw the conversation of its parent")
        require(ANSWER in session.prompts[-1], "the parent did not get the answer")
        return f"the subagent {child_id} worked alone, and its parent got the answer"


async def check_notifications(home: ScriptedHome) -> str:
    """Let a task end while the session is idle, and find a new turn that knows about it."""
    command = "while [ ! -e go ]; do sleep 0.02; done; echo finished"
    replies = [tool_call("bash", command=command, execution="background"), "it runs", "I see"]
    async with home.open(*replies) as session:
        await _ask(session, "start it")
        require(session.opened.session.is_idle, "the session waits for the task")
        (home.project / "go").touch()
        await _wait_until(lambda: len(session.events("turn.stopped")) == 2, "no turn began when the task had ended")
        task_id = session.first("task.completed")["task_id"]
        require(session.first("invocation.auto")["task_id"] == task_id, "the turn is about another task")
        note = f"[background task {task_id} completed]"
        require(note in session.prompts[-1], "the model was not told that the task has ended")
        return f"a turn began by itself, and its prompt has {note!r}"


Check = Callable[[ScriptedHome], Awaitable[str]]
CHECKS: dict[str, Check] = {
    "cli-first": check_command_line,
    "one-provider": check_provider,
    "append-only-log": check_append_only_log,
    "artifact-persistence": check_artifacts,
    "core-tools": check_core_tools,
    "compaction": check_compaction,
    "task-handles": check_task_handles,
    "subagent": check_subagent,
    "completion-notifications": check_notifications,
}
"""Name → check, in the order in which they run."""


async def check_real_model(folder: Path) -> str:
    """Ask the model of the settings, and find its answer and its tokens."""
    options = SessionOptions(cwd=str(folder), session_persistence=False, allowed_tools=(), source="selftest")
    opened = await open_session(options)
    try:
        stopped = await opened.submit(Ingress("message", "Answer with the single word: ready"), opened.create_driver())
        usage = opened.session.state.tokens
    finally:
        await opened.aclose()
    require(stopped.reason == "completed" and stopped.text.strip(), f"{opened.model} gave no answer: {stopped.detail}")
    require(usage.output > 0, "no tokens were counted")
    return f"{opened.model} answered {stopped.text.strip()[:60]!r} with {usage.output} tokens"


async def _ask(session: ScriptedSession, text: str) -> TurnStopped:
    stopped = await session.ask(text)
    require(stopped.reason == "completed", f"the turn ended with {stopped.reason}: {stopped.detail}")
    return stopped


async def _wait_until(is_true: Callable[[], bool], message: str) -> None:
    """Wait until something is true. Raises SelftestFailed after `WAIT_S`."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + WAIT_S
    while not is_true():
        require(loop.time() < end_s, message)
        await asyncio.sleep(0.02)


def _is_running(pid: int) -> bool:
    return any(row.pid == pid for row in list_processes())

"""A conversation of ten turns with two Python tools and one MCP server, or with our own tools, with a real model.

    python -m benchmarks.tool_session [--model NAME] [--provider ADDRESS] [--runs N] [--own-tools]

It reports the tool calls that could not be read or did not fit their schema, the tasks that were done, and the tokens
that were evaluated and reused. A task is done if the right tool was called with the right input, and if the answer says
what the tool returned. With `--provider http://127.0.0.1:8080` the same model runs in llama-server.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.sdk import CostUpdate, HarnessClient, ToolEnd, ToolStart, TurnStop, tool

WEATHER = {"paris": "sunny, 21 degrees", "oslo": "snow, -3 degrees", "rome": "rain, 15 degrees"}
SERVER = Path(__file__).parents[1] / "tests" / "support" / "mcp_server.py"
SYSTEM = "You answer in one short sentence. Call a tool whenever one can answer, and then say what it returned."
READ_FAILURES = ("could not be read", "needs '", "has no input", "must be ")
"""Parts of the messages about calls that are not well formed."""
notes: list[str] = []


@tool
def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return WEATHER.get(city.casefold(), "unknown")


@tool
def save_note(text: str) -> str:
    """Save a note of the user."""
    notes.append(text)
    return f"saved note {len(notes)}"


@dataclass(frozen=True, slots=True)
class Task:
    """One turn: the prompt, the call that it needs, and what the answer must contain.

    Attributes:
        prompt: The prompt.
        tool: The tool that must be called, or empty if none is needed.
        inputs: Parts that the input of the call must contain.
        answer: Words of which the answer must contain one.
    """

    prompt: str
    tool: str = ""
    inputs: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()


TASKS = (
    Task("What is the weather in Paris?", "get_weather", ("paris",), ("21", "sunny")),
    Task("And what is the weather in Oslo?", "get_weather", ("oslo",), ("snow", "-3")),
    Task("Add 17 and 25 with the tool.", "add", ("17", "25"), ("42",)),
    Task("Save the note: buy milk", "save_note", ("milk",), ("saved", "note")),
    Task("Which of the two cities is warmer, Paris or Oslo?", "", (), ("paris",)),
    Task("Add 1200 and 34 with the tool.", "add", ("1200", "34"), ("1234", "1,234")),
    Task("What is the weather in Rome?", "get_weather", ("rome",), ("rain", "15")),
    Task("Save the note: meeting at ten", "save_note", ("meeting",), ("saved", "note")),
    Task("Add 5 and 8 with the tool.", "add", ("5", "8"), ("13",)),
    Task("Which notes did you save for me?", "", (), ("milk", "meeting")),
)


OWN_TASKS = (
    Task("Read the file geo.py. What is the value of PI?", "read", ("geo.py",), ("3.14",)),
    Task("List all Python files.", "glob", ("py",), ("shop.py",)),
    Task("Find the lines with the word discount.", "grep", ("discount",), ("shop.py", "discount")),
    Task("Show the code of the function area.", "find_symbol", ("area",), ("pi", "radius")),
    Task("In geo.py, replace 3.14 by 3.1416.", "edit", ("geo.py", "3.1416"), ("geo.py", "3.1416", "replaced")),
    Task("Create the file notes.txt with the text: buy milk", "create", ("notes.txt", "milk"), ("notes.txt",)),
    Task("Run the command: echo hello", "bash", ("echo hello",), ("hello",)),
    Task("Which functions does shop.py have? Use the tool symbol_overview.", "symbol_overview", ("shop",), ("total",)),
    Task("Where is the function total used? Use the tool find_references.", "find_references", ("total",), ("app.py",)),
    Task("Read app.py and say what it prints.", "read", ("app.py",), ("total", "price", "area")),
)
OWN_FILES = {
    "geo.py": "PI = 3.14\n\n\ndef area(radius):\n    return PI * radius**2\n",
    "shop.py": "def total(prices, discount=0):\n    return sum(prices) - discount\n",
    "app.py": "from geo import area\nfrom shop import total\n\nprint(total([area(1), 2]))\n",
}


@dataclass(slots=True)
class Result:
    """The figures of all turns."""

    done: int = 0
    format_errors: int = 0
    calls: int = 0
    evaluated: int = 0
    reused: int = 0
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list[str])


async def run_tasks(options: Mapping[str, Any], *, own_tools: bool = False) -> Result:
    """Run the ten turns in one session."""
    notes.clear()
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "servers.json"
        server = {"command": sys.executable, "args": [str(SERVER)]}
        config.write_text(json.dumps({"mcpServers": {"demo": server}}))
        brought = {
            "tools": [get_weather, save_note],
            "mcp_config": str(config),
            "allowed_tools": ["mcp__sdk__get_weather", "mcp__sdk__save_note", "mcp__demo__add"],
            "system_prompt": SYSTEM,
        }
        for name, text in OWN_FILES.items() if own_tools else ():
            (Path(folder) / name).write_text(text)
        chosen = {} if own_tools else brought
        async with HarnessClient(cwd=folder, driver="chat", max_turns=4, **chosen, **options) as client:
            for number, task in enumerate(OWN_TASKS if own_tools else TASKS, 1):
                started_s = time.monotonic()
                is_done = await _run_task(client, task, result)
                seconds = time.monotonic() - started_s
                result.seconds += seconds
                result.done += is_done
                result.lines.append(f"{number:>2} {'✓' if is_done else '✗'} {seconds:5.1f} s  {task.prompt}")
                print(result.lines[-1], flush=True)
    return result


async def _run_task(client: HarnessClient, task: Task, result: Result) -> bool:
    called, answer = not task.tool, ""
    async for event in await client.send(task.prompt):
        match event:
            case ToolStart():
                result.calls += 1
                given = json.dumps(dict(event.input)).casefold()
                print(f"     {event.tool} {given[:100]}", flush=True)
                is_right = event.tool.endswith(task.tool) and all(part in given for part in task.inputs)
                called = called or (bool(task.tool) and is_right)
            case ToolEnd():
                result.format_errors += event.error and any(part in event.output for part in READ_FAILURES)
            case CostUpdate():
                result.evaluated += event.input_tokens - event.cached_tokens
                result.reused += event.cached_tokens
            case TurnStop():
                answer = event.text
            case _:
                pass
    print(f"     {answer[:110]}", flush=True)
    return called and any(word in answer.casefold() for word in task.answer)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="")
    parser.add_argument("--provider", default="")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--own-tools", action="store_true", help="tasks about files, with our own tools")
    given = parser.parse_args()
    options = {name: value for name in ("model", "provider") if (value := getattr(given, name))}
    for _ in range(given.runs):
        result = asyncio.run(run_tasks(options, own_tools=given.own_tools))
        print(
            f"done {result.done}/{len(TASKS)}, calls {result.calls}, format errors {result.format_errors}, "
            f"tokens evaluated {result.evaluated}, reused {result.reused}, {result.seconds:.0f} s"
        )


if __name__ == "__main__":
    main()

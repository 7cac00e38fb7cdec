"""The public names, the cost of their import, and their types for a program that is checked strictly."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from lsp_harness import sdk
from lsp_harness.wire.client_event_codec import ENVELOPE, EVENT_CLASSES

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "mcp",
    "uvicorn",
    "starlette",
    "llama_cpp",
    "textual",
    "pygls",
    "lsprotocol",
    "numpy",
    "httpx2",
    "platformdirs",
)
MAX_IMPORT_MS = 60
RUNS = 5
MEASURE = """
import time
began = time.process_time()
{statement}
ms = (time.process_time() - began) * 1000
import sys
print(ms, *(name for name in {heavy} if name in sys.modules))
"""


def measure(statement: str, runs: int = RUNS) -> tuple[float, list[str]]:
    """Return the processor time of an import in milliseconds, the best of several runs, and the heavy modules of it."""
    times: list[float] = []
    loaded: list[str] = []
    for _ in range(runs):
        code = MEASURE.format(statement=statement, heavy=HEAVY)
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        time, *loaded = ran.stdout.split()
        times.append(float(time))
    return min(times), loaded


def test_an_import_is_quick():
    ms, loaded = measure("import lsp_harness.sdk")
    assert loaded == []
    assert ms < MAX_IMPORT_MS


@pytest.mark.parametrize(
    "statement",
    [
        "from lsp_harness.sdk import *",
        "from lsp_harness.wire import frame_lines, client_event_codec, session_socket",
    ],
)
def test_importing_the_public_names_loads_no_heavy_module(statement: str):
    assert measure(statement, runs=1)[1] == []


def test_each_public_name_can_be_imported():
    assert sorted(sdk.__all__) == sdk.__all__
    for name in sdk.__all__:
        assert getattr(sdk, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = sdk.Nothing  # type: ignore[attr-defined]
    assert {cls.__name__ for cls in EVENT_CLASSES.values()} <= set(sdk.__all__)


CONSUMER = """
import asyncio
from lsp_harness.sdk import HarnessClient, HarnessOptions, TextDelta, ToolEnd, TurnStop, query, tool

@tool
def add(a: int, b: int) -> int:
    return a + b

@tool(name="twice")
async def double(text: str) -> str:
    return text * 2

async def main() -> None:
    options = HarnessOptions(model="m", permission_mode="plan", tools=[add, double], can_use_tool=lambda _: "allow")
    async for event in query("hi", **options.to_kwargs()):
        if isinstance(event, TextDelta):
            print(event.content.upper())
        elif isinstance(event, ToolEnd):
            print(event.error, add(1, 2) + 1)
    async with HarnessClient(max_turns=3) as client:
        turn = await client.send("hi")
        stop: TurnStop = await turn.result()
        print(client.session_id + stop.reason)

asyncio.run(main())
"""
MISTAKES = """
from lsp_harness.sdk import HarnessClient, query, tool

@tool
def add(a: int, b: int) -> int:
    return a + b

HarnessClient(modell="m")
query("hi", permission_mode="yes")
add("1", 2)
"""


def test_programs_are_checked_strictly(tmp_path: Path):
    (tmp_path / "consumer.py").write_text(CONSUMER)
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    settings = f'{{"typeCheckingMode": "strict", "extraPaths": ["{ROOT}"]}}'
    (tmp_path / "pyrightconfig.json").write_text(settings)
    argv = [Path(sys.executable).parent / "pyright", "-p", tmp_path, "--pythonpath", sys.executable]
    ran = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    errors = [line for line in ran.stdout.splitlines() if " - error:" in line]
    assert [line for line in errors if "mistakes.py" not in line] == []
    assert [sum(word in line for line in errors) for word in ("modell", "Literal['yes']", "Literal['1']")] == [
        1,
        1,
        1,
    ], ran.stdout


def read_table(heading: str) -> dict[str, tuple[str, ...]]:
    """Return the first column of a table of the page, by its names in code → the names of the other columns."""
    section = (ROOT / "docs" / "sdk.md").read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| `")]
    names = [[tuple(re.findall(r"`(\w+)`", cell)) for cell in row] for row in rows]
    return {name: sum(row[1:], ()) for row in names for name in row[0]}


def test_the_page_of_events_lists_each_event_with_its_fields():
    page = (ROOT / "docs" / "events.md").read_text()
    for frame, cls in EVENT_CLASSES.items():
        [row] = [line for line in page.splitlines() if line.startswith("| ") and f"| `{cls.__name__}` |" in line]
        assert f"`{frame}`" in row
        own = {field.name for field in fields(cls)} - {*ENVELOPE, "details"}
        assert own <= set(re.findall(r"`(\w+)`", row)), cls.__name__


def test_the_page_lists_each_option():
    assert set(read_table("Options")) == {field.name for field in fields(sdk.HarnessOptions)}

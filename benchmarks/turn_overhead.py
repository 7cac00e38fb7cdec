"""The time that a turn costs without its model: three commands, a file that is read and a search, by a scripted model.

    python -m benchmarks.turn_overhead [--mode MODE] [--turns N]
    PYTHONPATH=OTHER_CHECKOUT python PATH_OF_THIS_FILE       (the same for other code)

It prints the median of the turns of one session in milliseconds.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from lsp_harness.sdk import HarnessClient, PermissionMode

CALLS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("read", {"path": "src/file_1.py"}),
    ("grep", {"pattern": "def"}),
    ("bash", {"command": "ls src"}),
    ("bash", {"command": "grep -rn def src | head -5"}),
    ("bash", {"command": "git status --short"}),
)
FILES = 20
WARM_TURNS = 2
"""Turns at the beginning that do not count: what is started once is started in them."""


def make_repository(folder: Path) -> None:
    """Make a small repository."""
    (folder / "src").mkdir()
    for number in range(FILES):
        (folder / "src" / f"file_{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    user = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*user, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


async def measure(mode: PermissionMode, turns: int) -> list[float]:
    """Return the milliseconds of each turn."""
    calls = [f"<tool_call>\n{json.dumps({'name': name, 'arguments': given})}\n</tool_call>" for name, given in CALLS]
    replies = [{"text": text} for text in (*calls, "done")] * turns
    times = list[float]()
    with tempfile.TemporaryDirectory() as name:
        folder, script = Path(name) / "project", Path(name) / "script.json"
        folder.mkdir()
        make_repository(folder)
        script.write_text(json.dumps(replies), encoding="utf-8")
        client = HarnessClient(cwd=folder, provider=f"scripted:{script}", in_process=True, permission_mode=mode)
        async with client:
            for number in range(turns):
                began = perf_counter()
                async for _ in await client.send(f"prompt {number}"):
                    pass
                times.append(1000 * (perf_counter() - began))
    return times[WARM_TURNS:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default="trust")
    parser.add_argument("--turns", type=int, default=14)
    options = parser.parse_args()
    times = asyncio.run(measure(options.mode, options.turns))
    print(
        f"a turn in the mode {options.mode}: {statistics.median(times):.0f} ms at the median, {min(times):.0f} at least"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

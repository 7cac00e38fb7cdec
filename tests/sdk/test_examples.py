"""The examples of the documentation run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sdk.conftest import FakeProgram

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
    def converse(frame, number):
        start(frame, number)
        if option("ask-permissions"):
            put("permission_request", id=frame["id"], turn=number, request_id="q", tool="bash", input={"command": "rm"})
            answer = get()
            respond(answer)
            put("hook_decision", id=frame["id"], turn=number, event="preToolUse", tool="bash", by="callback",
                decision=answer["decision"], reason=answer["reason"])
        if config := option("mcp-config"):
            put("tool_end", id=frame["id"], turn=number, tool=option("allowed-tools"),
                output=", ".join(json.load(open(config))["mcpServers"]))
        say(frame, number, "answer to: " + frame["prompt"])
        stop(frame, number)
    ready(resumed_events=7 if option("resume") else 0)
    serve(converse)
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("quickstart", ["answer to: which functions are there?", "(completed)"]),
        (
            "multi_turn",
            ["> Which colour did I name?", "resumed 01TESTSESSION with 7 events", "answer to: And now?"],
        ),
        ("tools", ["[mcp__sdk__weather: sdk]", "answer to: How is the weather in Paris?"]),
        ("permissions", ["[deny bash by callback: bash is not allowed in this example]"]),
    ],
)
def test_an_example_runs(name: str, lines: list[str], write_fake_program: FakeProgram, tmp_path: Path):
    write_fake_program(PROGRAM)
    argv = [sys.executable, ROOT / "examples" / f"{name}.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    for line in lines:
        assert line in ran.stdout


def test_each_example_has_a_test():
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {"quickstart", "multi_turn", "tools", "permissions"}

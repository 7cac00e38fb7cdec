"""A test that a killed session loses no event that the client has seen, and can be continued."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_session_survives_kills_at_many_points() -> None:
    # the points fork, which a process with threads of a test runner must not do
    command = [sys.executable, "-m", "benchmarks.chaos", "--points", "12", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[0])
    assert report["passed"] == report["points"] == 12
    assert set(report["killed"]) == {"append", "frames", "model"}
    assert sum(report["killed"].values()) >= 10

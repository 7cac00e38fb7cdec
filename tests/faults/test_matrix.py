"""Commands under each fault end in the way that the table says: their exit status, a sentence, never a traceback."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.commands import Command
from tests.faults.fault import End, Fault
from tests.faults.groups import APPLY
from tests.faults.page import render_page
from tests.faults.surroundings import may_mount
from tests.faults.table import FAULTS, choose_commands
from tests.faults.world import FIXED, UNUSED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "faults.md"


@pytest.fixture(scope="session")
def runner() -> Iterator["subprocess.Popen[str]"]:
    """Yield the process that runs the commands, in a folder with a short path."""
    folder = tempfile.mkdtemp(prefix="lf-")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.runner", folder],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        yield process
        assert process.stdin
        process.stdin.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_command_ends_as_the_table_of_faults_says(fault: Fault, runner: "subprocess.Popen[str]") -> None:
    if fault.needs_mount and not may_mount():
        pytest.skip("only root may mount a small disk; `no-file-grows` is tried in its place")
    assert runner.stdin
    assert runner.stdout
    runner.stdin.write(fault.name + "\n")
    runner.stdin.flush()
    found: dict[str, Any] = json.loads(runner.stdout.readline())
    chosen = choose_commands(fault)
    assert found.keys() == {command.name for command in chosen}
    assert {
        command.name: wrong for command in chosen if (wrong := _find_differences(fault, command, found[command.name]))
    } == {}


def test_the_page_has_the_same_table(golden_update: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if golden_update:
        PAGE.write_text(render_page(page), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == render_page(page)


def _find_differences(fault: Fault, command: Command, ran: dict[str, Any]) -> list[str]:
    """Return the differences between a run and the table."""
    end = fault.ends.get(command.name, End(command.code, answers=command.answer))
    lines = [line.removeprefix("lsp-harness: ") for line in ran["err"].splitlines()]
    # a server has its warnings in its log and in the editor's view
    lines = [re.sub(r"^WARNING [\w.]+: ", "", line) for line in lines]
    usual = command.error if command.name not in fault.ends else ""
    wanted = [
        *(sentence for sentence, names in fault.says.items() if command.name in names),
        *(one for one in (end.says, usual) if one),
    ]
    wrong: list[str] = []
    if ran["code"] != end.code:
        wrong.append(f"it ended with {ran['code']}, not {end.code}")
    if end.answers and end.answers not in ran["out"] and not fault.stdout:
        wrong.append(f"it did not answer {end.answers!r} but {ran['out']!r:.300}")
    wrong += [f"nobody said {one!r}" for one in wanted if not any(_matches_sentence(one, line) for line in lines)]
    allowed = [*wanted, *(sentence for sentence, names in fault.may_say.items() if command.name in names)]
    wrong += [f"it said {line!r:.400}" for line in lines if not any(_matches_sentence(one, line) for one in allowed)]
    wrong += [f"it showed {word!r}" for word in ("Traceback", "a bug:") if word in ran["out"] + ran["err"]]
    applied = command.name == APPLY and (end.code == 0 or end.code == 74) and "ruff" not in end.answers
    if ran["file"] != (FIXED if applied else UNUSED):
        wrong.append(f"the file is {ran['file']!r}")
    return wrong


def _matches_sentence(sentence: str, line: str) -> bool:
    """Return whether a line is the sentence; `…` matches any text, and signs may be written in ASCII."""
    return re.fullmatch(".*".join(map(re.escape, sentence.split("…"))), line) is not None

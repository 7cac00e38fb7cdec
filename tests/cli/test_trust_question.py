"""The question of a command in a terminal before code of a folder runs that is not trusted."""

import io
import os
import sys
from pathlib import Path

import pytest

from lsp_harness.cli import terminal_person
from lsp_harness.cli.terminal_person import TerminalPerson
from lsp_harness.session.permission.action import SUITE_TOOL, Action
from lsp_harness.session.permission.person import PermissionQuestion

FOLDER = Path("/somewhere/shop")
ACTION = Action(
    SUITE_TOOL,
    "execute",
    {"program": "/usr/bin/python3", "folder": str(FOLDER), "sandbox": "landlock"},
    argv=("pytest", "test_geo.py"),
    untrusted=FOLDER,
)
QUESTION_ABOUT_TESTS = PermissionQuestion("1", ACTION, "you do not trust it")


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("y\n", "once"),
        ("maybe\ny\n", "once"),
        ("maybe\n", "reject"),
        ("n\n", "reject"),
        ("\n", "reject"),
        ("", "reject"),
    ],
)
async def test_only_a_yes_lets_it_run(
    typed: str, choice: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal_person, "is_terminal", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    given = await TerminalPerson().ask(QUESTION_ABOUT_TESTS)
    assert given is not None
    assert given.choice == choice
    shown = capsys.readouterr().err
    for text in ("pytest test_geo.py", "/usr/bin/python3", str(FOLDER), "landlock", "permissions.trusted_folders"):
        assert text in shown


async def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull) as empty:
        monkeypatch.setattr(sys, "stdin", empty)
        assert await TerminalPerson().ask(QUESTION_ABOUT_TESTS) is None

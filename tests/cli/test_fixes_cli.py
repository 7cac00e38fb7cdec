"""`lsp-harness fixes`, and `fix --apply` before it, which learns a fix of the model."""

from pathlib import Path

import pytest

from tests.cli.conftest import Shell

FIRST = "def f(text):\n    try:\n        return int(text)\n    except ValueError:\n        raise KeyError(text)\n"
SECOND = "class A:\n    def g(self, word):\n        try:\n            return float(word)\n        except ValueError:\n"
SECOND += "            raise KeyError(word)\n"
FIXED = "raise KeyError(text) from None"


@pytest.fixture
def learned_project(shell: Shell) -> Shell:
    """A project in which a fix of the model was applied."""
    shell.file("ruff.toml", '[lint]\nselect = ["F", "B904"]\n')
    file = shell.file("a.py", FIRST)
    shell.replies(FIXED)
    result = shell.run("fix", "a.py", "--apply")
    assert (result.code, file.read_text()) == (0, FIRST.replace("raise KeyError(text)", FIXED))
    return shell


def test_the_second_error_is_fixed_without_a_model_and_listed(learned_project: Shell) -> None:
    assert "tried 0, passed 0, failed 0" in learned_project.run("fixes", "list").out
    file = learned_project.file("b.py", SECOND)
    learned_project.replies()
    result = learned_project.run("fix", "b.py", "--apply", "--json")
    assert file.read_text() == SECOND.replace("(word)\n", "(word) from None\n").replace(
        "float(word) from None", "float(word)"
    )
    assert result.json["summary"] == (
        "learned fix passes (parse ✓, kept ✓, lint ✓, gone ✓, types – (ty is not installed (pip install ty)), "
        "tests – (no program is known that runs the tests for b.py))"
    )
    assert [row["candidate"] for row in result.json["candidates"]] == [1]
    [fix] = learned_project.run("fixes", "list", "--json").json
    assert (fix["code"], fix["tried"], fix["passed"], fix["failed"]) == ("B904", 1, 1, 0)
    shown = learned_project.run("fixes", "list").out
    assert "  ruff B904: " in shown
    assert "tried 1, passed 1, failed 0" in shown
    started = learned_project.run("events", "--types", "model.started", "--json")
    assert started.out == ""


def test_learned_fixes_can_be_shared_and_forgotten(learned_project: Shell, tmp_path: Path) -> None:
    assert "nothing to share" in learned_project.run("fixes", "share").err
    learned_project.file("b.py", SECOND)
    learned_project.replies()
    learned_project.run("fix", "b.py")
    assert learned_project.run("fixes", "share").out.startswith("1 learned fix written to ")
    assert (learned_project.folder / ".lsp-harness" / "fixes.jsonl").exists()
    assert learned_project.run("fixes", "clear").out == "1 learned fix forgotten\n"
    # a colleague has the file of the project only
    learned_project.set("LSP_HARNESS_HOME", str(tmp_path / "other home"))
    assert "  [shared]" in learned_project.run("fixes", "list").out
    assert "learned fix passes" in learned_project.run("fix", "b.py").out
    (learned_project.folder / ".lsp-harness" / "fixes.jsonl").unlink()
    learned_project.run("fixes", "clear")
    assert learned_project.run("fixes", "list").out.startswith("no fix has been learned here yet")
    assert "there is no folder 'nowhere'" in learned_project.run("fixes", "list", "nowhere").err


def test_a_variable_switches_learned_fixes_off(learned_project: Shell) -> None:
    learned_project.file("b.py", SECOND)
    learned_project.set("LSP_HARNESS_KNOWLEDGE__ERROR_CACHE", "false")
    learned_project.replies("raise KeyError(word) from None")
    assert "candidate 1 of 1 passes" in learned_project.run("fix", "b.py").out

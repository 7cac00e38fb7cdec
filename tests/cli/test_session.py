"""What a session has come to, on the command line."""

from lsp_harness.config import paths
from lsp_harness.session.log import SessionLog
from tests.cli.conftest import Shell


def logged(text: str) -> str:
    log = SessionLog(paths.state() / "sessions")
    log.turn().tell("invocation.received", kind="edit", text=text, path="a.py")
    log.close()
    return log.id


def test_the_last_session_and_any_by_its_name(shell: Shell):
    assert "there is no session yet" in shell.run("session").err
    first, last = sorted([logged("use pi"), logged("use tau")])
    assert shell.run("session").out.startswith(f"{last}, 1 turns\nGoal: use")
    assert shell.run("session", first).out.startswith(f"{first}, 1 turns\nGoal: use")
    assert shell.run("session", first, "--json").json["files"] == ["a.py"]


def test_a_name_that_means_none_or_several(shell: Shell):
    logged("use pi")
    logged("use tau")
    assert shell.run("session", "nope").err == "lsp-harness: there is no session 'nope'\n"
    assert "2 sessions begin with '0'" in shell.run("session", "0").err

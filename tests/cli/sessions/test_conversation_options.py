"""Options without a prompt: a conversation in a terminal, and an error elsewhere."""

import io
from pathlib import Path

import pytest

from lsp_harness.cli.usage_errors import add_command
from lsp_harness.errors import UsageError
from tests.cli.conftest import Shell


@pytest.mark.parametrize(
    "options", [["--session", "01M8"], ["--provider=openai"], ["-p", "openai", "-m", "a"], ["--debug"], []]
)
def test_options_without_a_prompt_begin_a_conversation_in_a_terminal(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert add_command(options, is_terminal=True) == ["chat", *options]
    with pytest.raises(UsageError, match=r"there is no prompt, .*write: lsp-harness") as failure:
        add_command(options, is_terminal=False)
    assert all(option in failure.value.message for option in options)


def test_without_arguments_the_code_driver_begins_in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    assert add_command([], is_terminal=True) == ["code"]
    assert add_command(["--debug"], is_terminal=True) == ["chat", "--debug"]


@pytest.mark.parametrize(
    "arguments",
    [["-p", "openai", "say hi"], ["--debug", "say hi"], ["--session", "01M8", "-"], ["--debug", "--", "-x is odd"]],
)
def test_a_prompt_after_options_is_run_everywhere(arguments: list[str]):
    for is_terminal in (True, False):
        assert add_command(arguments, is_terminal=is_terminal) == ["run", *arguments]


@pytest.mark.parametrize(
    "arguments", [["-p", "openai", "hi"], ["--session", "01M8", "commit"], ["--debug", "--", "-x"]]
)
def test_a_single_word_after_options_is_not_taken_for_a_prompt(arguments: list[str]):
    with pytest.raises(UsageError, match="If it is a prompt: lsp-harness run"):
        add_command(arguments, is_terminal=True)


def test_the_error_is_one_sentence_and_an_unknown_option_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    result = shell.run("--session", "01M8")
    assert (result.code, result.out) == (2, "")
    assert 'lsp-harness --session 01M8 "what does geo.py do?"' in result.err
    assert "no option --frobnicate" in shell.run("--frobnicate").err


def test_a_piped_text_is_the_prompt():
    added = add_command(["--debug"], is_terminal=False, read_piped=lambda: "who calls area?\n")
    assert added == ["run", "--debug", "--", "who calls area?"]
    with pytest.raises(UsageError, match="there is no prompt"):
        add_command([], is_terminal=False, read_piped=lambda: " \n")

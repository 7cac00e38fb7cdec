"""`lsp-harness completion`: the scripts name all commands, and shells accept and use them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ptyprocess import PtyProcess

from lsp_harness.cli.command_table import GROUPS, app
from lsp_harness.cli.commands.completion_cli import ShellName, make_script
from tests.cli.conftest import Shell

SHELLS: tuple[ShellName, ...] = ("bash", "zsh", "fish")
ASK_BASH = """
source "$1"; shift
registered=$(complete -p lsp-harness); [[ $registered =~ -F\\ ([^ ]+) ]] && function=${BASH_REMATCH[1]}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$function"; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files with the scripts of all shells, by the name of the shell."""
    folder = tmp_path_factory.mktemp("scripts")
    for name in SHELLS:
        (folder / name).write_text(make_script(name))
    return {name: folder / name for name in SHELLS}


def ask_bash(script: Path, *words: str) -> list[str]:
    """Return what bash offers for the last word of a command line."""
    argv = ["bash", "--norc", "-c", ASK_BASH, "bash", str(script), "lsp-harness", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_names_all_commands_and_the_program(scripts: dict[str, Path], name: str):
    text = scripts[name].read_text()
    commands = [command.name for commands in GROUPS.values() for command in commands]
    groups = [command.name for commands in GROUPS.values() for command in commands if command.has_subcommands]
    subcommands = [word for group in groups for word in app[group] if not word.startswith("-")]
    assert [word for word in (*commands, *subcommands) if word not in text] == []
    assert "lsp-harness" in text.splitlines()[0]


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_accepts_its_script(scripts: dict[str, Path], name: str):
    if not (shell := shutil.which(name)):
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([shell, "-n", scripts[name]], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_offers_commands_subcommands_and_options(scripts: dict[str, Path]):
    script = scripts["bash"]
    assert ask_bash(script, "comp") == ["complete", "completion"]
    assert ask_bash(script, "completion", "") == list(SHELLS)
    assert ask_bash(script, "engine", "libraries", "") == ["list", "use", "remove"]
    assert ask_bash(script, "serve", "--tc") == ["--tcp"]
    assert ask_bash(script, "nothing", "-") == ask_bash(script, "-") == ["--help", "-h", "--version", "-V"]


def test_a_person_in_bash_gets_a_command_and_the_name_of_a_file(scripts: dict[str, Path], tmp_path: Path):
    (tmp_path / "geometry.py").touch()
    environment = {**os.environ, "PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null"}
    bash = PtyProcess.spawn(["bash", "--norc", "--noprofile", "-i"], cwd=str(tmp_path), env=environment)
    shown = b""

    def wait_for(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            shown += bash.read()

    try:
        bash.write(f"source {scripts['bash']}; echo is-''ready\n".encode())
        wait_for(b"is-ready")
        bash.write(b"lsp-harness dige\t")
        wait_for(b"lsp-harness digest ")
        bash.write(b"geom\t")
        wait_for(b"lsp-harness digest geometry.py")
    finally:
        bash.terminate(force=True)


def test_zsh_finds_the_function_in_a_file_of_its_name(scripts: dict[str, Path]):
    text = scripts["zsh"].read_text()
    assert text.startswith("#compdef lsp-harness\n")
    assert "\n_lsp-harness() {" in text
    assert "_cyclopts" not in text


def test_another_shell_is_refused(shell: Shell):
    result = shell.run("completion", "csh")
    assert result.code == 2
    assert "see lsp-harness help completion" in result.err


def test_the_help_says_where_the_script_belongs(shell: Shell):
    text = shell.run("help", "completion").out
    assert [name for name in ("bash-completion", "_lsp-harness", "lsp-harness.fish") if name not in text] == []

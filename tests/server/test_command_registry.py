"""The registry of the commands: one module is all that the server and the editors need."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from lsp_harness.server import commands
from lsp_harness.server.commands.command_registry import command_names, editor_commands, find_command
from lsp_harness.server.generation import vscode_commands
from lsp_harness.server.generation.command_files import render_files
from tests.server.conftest import Spawn

ROOT = Path(__file__).resolve().parents[2]
GREETING = dedent('''
    """`lspHarness.greetUser`: greet a user."""

    from lsp_harness.server.execution.command_arguments import single_string
    from lsp_harness.server.execution.editor_command import EditorCommand, PaletteEntry

    COMMAND = EditorCommand(
        name="lspHarness.greetUser",
        arguments="[name]",
        description="greets a user",
        result="`text`: the greeting",
        palette=PaletteEntry(title="Greet the User", handler="text", needs_trust=True),
    )


    async def run(client, snapshot, params):
        return {"text": f"Hello, {single_string(params, 'a name')}!"}
    ''')


@pytest.fixture
def command_folder(tmp_path: Path) -> Path:
    """A folder with the module of a command that only this test has."""
    (tmp_path / "greet_user_command.py").write_text(GREETING)
    return tmp_path


async def test_a_command_of_one_file_is_announced_and_runs(spawn: Spawn, command_folder: Path):
    editor = await spawn(None, "--commands", str(command_folder))

    answer = await editor.initialize("vscode")
    result = await editor.request("workspace/executeCommand", {"command": "lspHarness.greetUser", "arguments": ["Ada"]})

    assert "lspHarness.greetUser" in answer["capabilities"]["executeCommandProvider"]["commands"]
    assert result == {"text": "Hello, Ada!"}


def test_a_command_of_one_file_is_in_the_documentation_and_in_the_editors(
    command_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(command_folder)])

    files = {path.name: text for path, text in render_files(ROOT, editor_commands()).items()}
    manifest = json.loads(files["package.json"])

    assert "| `lspHarness.greetUser` | `[name]` | greets a user | `text`: the greeting |" in files["lsp-extensions.md"]
    assert {
        "command": "lsp-harness.greetUser",
        "title": "Greet the User",
        "category": "lsp-harness",
        "enablement": "lsp-harness.running && lsp-harness.can.greetUser && isWorkspaceTrusted",
    } in manifest["contributes"]["commands"]
    assert manifest["lspHarness"]["forwardedCommands"]["greetUser"] == {
        "command": "lspHarness.greetUser",
        "handler": "text",
        "resultTitle": "Greet the User",
        "sendsSelection": False,
    }
    assert "greetUser = 'lspHarness.greetUser'," in files["server_commands.lua"]
    assert "title = 'Greet the User'," in files["server_commands.lua"]


def test_a_command_that_is_removed_leaves_the_palette():
    text = (ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8")
    fewer = [command for command in editor_commands() if command.short_name != "explain"]

    assert "lsp-harness.explain" not in json.dumps(
        json.loads(vscode_commands.render(text, fewer))["contributes"]["commands"]
    )


@pytest.mark.parametrize("name", command_names())
def test_a_command_has_the_name_of_its_module(name: str):
    module = find_command(name)
    assert module is not None
    assert module.COMMAND.name == name

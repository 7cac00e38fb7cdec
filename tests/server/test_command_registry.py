"""The registry of the commands: one decorated function is all that the server and the editors need."""

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from lsp_harness.server import commands
from lsp_harness.server.commands import command_registry
from lsp_harness.server.commands.command_registry import command_names, editor_commands, find_command
from tests.server.conftest import Spawn
from tools import vscode_commands
from tools.command_files import render_files

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = Path(command_registry.__file__).parent
GREETING = dedent('''
    """The commands about greetings."""

    from lsp_harness.server.commands.command_registry import PaletteEntry, command
    from lsp_harness.server.commands.command_arguments import single_string


    @command(
        "lspHarness.greetUser",
        arguments="[name]",
        description="greets a user",
        result="`text`: the greeting",
        palette=PaletteEntry(title="Greet the User", handler="text", needs_trust=True),
    )
    async def greet_user(client, snapshot, params):
        return {"text": f"Hello, {single_string(params, 'a name')}!"}
    ''')


@pytest.fixture
def command_folder(tmp_path: Path) -> Path:
    """A folder with a module of commands that only this test has."""
    (tmp_path / "greetings.py").write_text(GREETING)
    return tmp_path


async def test_a_command_of_one_function_is_announced_and_runs(spawn: Spawn, command_folder: Path):
    editor = await spawn(None, "--commands", str(command_folder))

    answer = await editor.initialize("vscode")
    result = await editor.request("workspace/executeCommand", {"command": "lspHarness.greetUser", "arguments": ["Ada"]})

    assert "lspHarness.greetUser" in answer["capabilities"]["executeCommandProvider"]["commands"]
    assert result == {"text": "Hello, Ada!"}


async def test_a_command_of_one_function_is_listed_for_users(spawn: Spawn, command_folder: Path):
    editor = await spawn("nvim", "--commands", str(command_folder))

    result = await editor.request("workspace/executeCommand", {"command": "lspHarness.commands"})

    listed = {command["name"]: command for command in result["commands"]}
    assert listed["lspHarness.greetUser"] == {
        "name": "lspHarness.greetUser",
        "title": "Greet the User",
        "resultTitle": "Greet the User",
        "handler": "text",
        "sendsSelection": False,
        "needsTrust": True,
    }
    assert listed["lspHarness.explain"]["resultTitle"] == "Explanation"
    assert listed["lspHarness.statistics"]["handler"] == "custom"
    # only code of the editors executes it
    assert "lspHarness.accepted" not in listed


def test_a_command_of_one_function_is_in_the_documentation_and_in_the_manifest_of_vscode(
    command_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(command_folder)])
    monkeypatch.setattr(command_registry, "MODULES", (*command_registry.MODULES, "greetings"))

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
    assert files.keys() == {"lsp-extensions.md", "package.json"}, "a command needs no other generated file"


def test_a_command_that_is_removed_leaves_the_manifest():
    text = (ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8")
    fewer = [command for command in editor_commands() if command.short_name != "explain"]

    manifest = json.loads(vscode_commands.render(text, fewer))

    assert "lsp-harness.explain" not in json.dumps(manifest["contributes"]["commands"])
    assert "explain" not in manifest["lspHarness"]["forwardedCommands"]


@pytest.mark.parametrize(
    "path", ["editors/vscode/src/serverCommands.ts", "editors/neovim/lua/lsp_harness/server_commands.lua"]
)
def test_the_names_that_an_editor_uses_exist(path: str):
    names = re.findall(r"""["'](lspHarness\.\w+)["']""", (ROOT / path).read_text(encoding="utf-8"))

    assert names
    assert set(names) <= set(command_names())


def test_a_command_with_code_in_the_editors_is_not_forwarded():
    text = (ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8")

    manifest = json.loads(vscode_commands.render(text, editor_commands()))

    assert "statistics" not in manifest["lspHarness"]["forwardedCommands"]


def test_the_names_in_the_sources_are_those_of_the_commands():
    assert command_names() == [command.name for command in editor_commands()]


def test_each_command_can_be_found_by_its_name():
    found = [find_command(name) for name in command_names()]
    assert [command.name for command in found if command] == command_names()


def test_no_command_is_found_by_another_name():
    assert find_command("lspHarness.nothing") is None


def test_each_module_with_a_command_is_registered():
    sources = {path.stem: path.read_text(encoding="utf-8") for path in COMMANDS.glob("*.py")}
    assert {name for name, source in sources.items() if "\n@command(" in source} == {*command_registry.MODULES}

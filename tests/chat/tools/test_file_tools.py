"""Tests of the tools that read and find files."""

from pathlib import Path

import pytest

from lsp_harness.chat.tools.file_search_tools import GrepTool, PathPattern
from lsp_harness.errors import UsageError
from tests.chat.tools.surroundings import CONTEXT, ToolWorkspace

pytestmark = pytest.mark.process

TOKEN = "ghp_" + "a" * 36
FILES: dict[str, str | bytes] = {
    "app.py": "import os\n\n\ndef main():\n    print(os.name)\n",
    "src/cart.ts": "export const total = 1;\n",
    "src/deep/cart.test.ts": "total();\n",
    "data.bin": b"\0\1\2",
    ".env": "KEY=1\n",
    ".gitignore": "build/\n",
    "build/out.py": "print('built')\n",
    ".git/config": "[core]\n",
    "keys.py": f"TOKEN = '{TOKEN}'\n",
}


@pytest.fixture
def tool_workspace(tmp_path: Path) -> ToolWorkspace:
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("secret\n")
    return ToolWorkspace(root, FILES)


async def test_a_file_is_read_with_line_numbers(tool_workspace: ToolWorkspace):
    assert await tool_workspace.text("read", path="app.py") == (
        "app.py, lines 1-5 of 5\n1\timport os\n2\t\n3\t\n4\tdef main():\n5\t    print(os.name)"
    )


async def test_a_part_of_a_file_is_read_and_the_head_says_how_to_go_on(tool_workspace: ToolWorkspace):
    assert (
        await tool_workspace.text("read", path="app.py", first_line=4, last_line=4)
        == "app.py, lines 4-4 of 5\n4\tdef main():"
    )
    (tool_workspace.root / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 3000)))
    text = await tool_workspace.text("read", path="long.txt", first_line=10)
    assert text.startswith("long.txt, lines 10-409 of 2999 (read on with first_line=410)\n10\tline 10\n")
    assert len(text) < 8192


async def test_an_output_is_smaller_than_an_artifact_and_long_lines_are_cut(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "wide.txt").write_text(("x" * 1000 + "\n") * 100)
    text = await tool_workspace.text("read", path="wide.txt")
    assert len(text.encode()) < 8192
    assert "… (600 more characters)" in text
    assert "read on with first_line=" in text


async def test_secrets_in_a_text_are_hidden(tool_workspace: ToolWorkspace):
    assert TOKEN not in await tool_workspace.text("read", path="keys.py")
    assert TOKEN not in await tool_workspace.text("grep", pattern="TOKEN")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../outside.txt", "../outside.txt is outside of the workspace; only files in it can be used"),
        ("/etc/passwd", "/etc/passwd is outside of the workspace; only files in it can be used"),
        ("link.txt", "link.txt is outside of the workspace; only files in it can be used"),
        (".env", ".env must not be read or changed here: it is a file for secrets, by its name"),
        ("alias", ".env must not be read or changed here: it is a file for secrets, by its name"),
        ("build/out.py", "build/out.py must not be read or changed here: it is ignored by .gitignore"),
        (".git/config", ".git/config must not be read or changed here: it is a file of the version control"),
        ("data.bin", "data.bin is a binary file; only texts can be used"),
        ("src", "src is a folder; name a file in it, such as src/cart.ts"),
        ("nothing.py", "there is no file nothing.py"),
        ("a\0b", "the path is empty or has a NUL character; give a path like src/app.py"),
        (" ", "the path is empty or has a NUL character; give a path like src/app.py"),
    ],
)
async def test_a_file_that_must_not_be_read_gives_the_reason(tool_workspace: ToolWorkspace, path: str, message: str):
    (tool_workspace.root / "link.txt").symlink_to("../outside.txt")
    (tool_workspace.root / "alias").symlink_to(".env")
    assert await tool_workspace.error("read", path=path) == message


@pytest.mark.parametrize(
    ("input", "message"),
    [
        ({}, '"path" is missing; give it as a text'),
        ({"path": 5}, '"path" must be a text'),
        ({"path": "app.py", "first_line": 0}, '"first_line" must be a whole number from 1 to 2147483648'),
        ({"path": "app.py", "first_line": True}, '"first_line" must be a whole number from 1 to 2147483648'),
        ({"path": "app.py", "first_line": 9}, "app.py has only 5 lines; give a smaller first_line"),
        ({"path": "app.py", "first_line": 3, "last_line": 2}, "last_line is before first_line; exchange them"),
    ],
)
async def test_a_wrong_input_says_what_to_write(tool_workspace: ToolWorkspace, input: dict[str, object], message: str):
    assert await tool_workspace.error("read", **input) == message


def test_the_gate_gets_absolute_paths_without_links(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "link.txt").symlink_to("../outside.txt")
    paths = {
        name: tool_workspace.tools["read"].action({"path": name}).paths
        for name in ("app.py", "src/../app.py", "link.txt")
    }
    assert paths == {
        "app.py": (tool_workspace.root / "app.py",),
        "src/../app.py": (tool_workspace.root / "app.py",),
        "link.txt": (tool_workspace.root.parent / "outside.txt",),
    }
    assert tool_workspace.tools["edit"].action({"path": "app.py"}).kind == "edit"
    assert tool_workspace.tools["read"].action({"path": "\0"}).paths == ()
    assert tool_workspace.tools["grep"].action({}).paths == (tool_workspace.root,)


async def test_files_are_listed_without_those_that_no_model_may_see(tool_workspace: ToolWorkspace):
    assert (await tool_workspace.text("glob", pattern="**")).split("\n") == [
        ".gitignore",
        "app.py",
        "data.bin",
        "keys.py",
        "src/cart.ts",
        "src/deep/cart.test.ts",
    ]
    assert await tool_workspace.text("glob", pattern="*.py") == "app.py\nkeys.py"
    assert await tool_workspace.text("glob", pattern="*.rs") == "no file matches *.rs"


async def test_a_long_list_of_files_is_cut(tool_workspace: ToolWorkspace):
    for number in range(1000):
        (tool_workspace.root / f"file_{number:04}.txt").touch()
    lines = (await tool_workspace.text("glob", pattern="file_*")).split("\n")
    assert lines[-1] == f"… and {1000 - (len(lines) - 1)} more; use a narrower pattern"


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/*.py", "a/b/c.py", True),
        ("a/**/*.py", "a/c.py", True),
        ("**/c.py", "c.py", True),
        ("a/**", "a/b/c.py", True),
        ("a/", "a/b/c.py", True),
        ("./a/**", "a/c.py", True),
        ("b/**", "a/b/c.py", False),
        ("*.{ts,tsx}", "src/x.tsx", True),
        ("*.{ts,tsx}", "src/x.js", False),
        ("t_?[ab].py", "t_1a.py", True),
        ("[", "[", True),
        ("**/" * 30 + "x", "a/" * 60 + "y", False),
        ("*a" * 30 + "b", "a" * 200, False),
    ],
)
def test_a_path_pattern_matches_the_expected_paths(pattern: str, path: str, fits: bool):
    assert PathPattern(pattern).matches(path) is fits


def test_braces_stand_for_a_limited_number_of_patterns():
    assert PathPattern("{a,b}" * 30).matches("a" * 30) in (True, False)


async def test_lines_are_found_by_an_expression(tool_workspace: ToolWorkspace):
    assert await tool_workspace.text("grep", pattern=r"tot\w+") == (
        "src/cart.ts:1: export const total = 1;\nsrc/deep/cart.test.ts:1: total();"
    )
    assert await tool_workspace.text("grep", pattern="total", glob="*.test.ts") == "src/deep/cart.test.ts:1: total();"
    assert await tool_workspace.text("grep", pattern="nothing here") == "no line matches nothing here"
    assert await tool_workspace.error("grep", pattern="") == '"pattern" is empty; give a regular expression'


async def test_an_invalid_expression_is_searched_as_text(tool_workspace: ToolWorkspace):
    text = await tool_workspace.text("grep", pattern="total(")
    assert text.startswith("src/deep/cart.test.ts:1: total();\n(the pattern is no regular expression (missing )")


async def test_an_expression_that_takes_exponential_time_is_stopped(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "a.txt").write_text("a" * 60 + "\n")
    tool = GrepTool(tool_workspace.environment, seconds=0.2)
    with pytest.raises(UsageError, match="the search took too long; use a simpler pattern or a narrower glob"):
        await tool.run({"pattern": "(a+)+b"}, CONTEXT)


async def test_a_search_that_runs_out_of_time_says_so(tool_workspace: ToolWorkspace):
    answer = await GrepTool(tool_workspace.environment, seconds=-0.5).run({"pattern": "total"}, CONTEXT)
    assert "(only 0 of" in answer.text or "only 0 of" in answer.text


async def test_many_matches_are_cut(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "many.txt").write_text("needle in a line\n" * 1000)
    text = await tool_workspace.text("grep", pattern="needle")
    assert text.endswith("(there are more matches; use a narrower pattern or glob)")
    assert len(text) < 8192


# -- rules of the session
def hide_source(path: Path, tool: str) -> bool:
    return tool == "read" or "src" not in path.parts


async def test_files_that_a_rule_hides_are_neither_named_nor_searched_but_counted(tmp_path: Path):
    desk = ToolWorkspace(tmp_path / "w", {**FILES, "use.py": "main\n"}, can_read=hide_source)
    assert await desk.text("glob", pattern="*.ts") == (
        "no file matches *.ts\n2 files were left out, because the rules of this session do not allow to read them"
    )
    answer = await desk.text("grep", pattern="total|main", glob="*.{ts,py}")
    assert answer.splitlines() == [
        "app.py:4: def main():",
        "use.py:1: main",
        "(2 files were left out, because the rules of this session do not allow to read them)",
    ]
    assert "left out" not in await desk.text("grep", pattern="main", glob="*.py")


# -- unsaved texts of an editor
async def test_the_unsaved_text_of_the_editor_is_read(tmp_path: Path):
    desk = ToolWorkspace(tmp_path / "w", FILES)
    editor = desk.edit_in_editor("app.py", "def start():\n    return 1\n")
    desk = ToolWorkspace(desk.root, {}, editor_texts=editor)
    assert await desk.text("read", path="app.py") == "app.py, lines 1-2 of 2\n1\tdef start():\n2\t    return 1"
    assert await desk.text("grep", pattern="main|start", glob="*.py") == "app.py:1: def start():"
    assert (await desk.text("find_symbol", name="start")).startswith("app.py:1-2 function start")
    assert "start" in await desk.text("symbol_overview", path="app.py")
    assert "app.py exists" in await desk.error("create", path="app.py", text="x")


async def test_an_edit_of_an_unsaved_text_goes_to_the_editor_and_not_to_the_file(tmp_path: Path):
    desk = ToolWorkspace(tmp_path / "w", FILES)
    editor = desk.edit_in_editor("app.py", "def start():\n    return 1\n")
    desk = ToolWorkspace(desk.root, {}, editor_texts=editor)
    answer = await desk.text("edit", path="app.py", old="return 1", new="return 2")
    assert answer == "app.py was changed in the editor, where it is not saved yet, in line 2."
    assert editor.texts[desk.root / "app.py"].data == b"def start():\n    return 2\n"
    assert await desk.text("replace_symbol_body", path="app.py", name="start", text="def start():\n    return 3")
    assert editor.texts[desk.root / "app.py"].data == b"def start():\n    return 3\n"
    assert "syntax error" in await desk.error("edit", path="app.py", old="(", new="((")
    assert (desk.read("app.py"), desk.kept) == (FILES["app.py"], [])
    editor.refusal = "the editor is busy"
    assert await desk.error("edit", path="app.py", old="3", new="4") == "the editor is busy"

"""Tests of the tools that change a file by an exact replacement, and that create one."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.chat.tools.edit_tools import EditTool, find_replacement
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.errors import FileError, HarnessError
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from tests.chat.tools.surroundings import CONTEXT, ToolWorkspace

pytestmark = pytest.mark.process

AREA = "import math\n\n\ndef area(r):\n    return math.pi * r * r\n"


@pytest.fixture
def tool_workspace(tmp_path: Path) -> ToolWorkspace:
    return ToolWorkspace(tmp_path, {"area.py": AREA})


async def test_a_text_is_replaced_and_the_result_has_the_diff(tool_workspace: ToolWorkspace):
    result = await tool_workspace.run("edit", path="area.py", old="r * r", new="r**2")
    assert tool_workspace.read("area.py") == AREA.replace("r * r", "r**2")
    assert result.text == "area.py was changed in line 5."
    assert not result.findings
    assert result.data["checks"] == {"syntax": "passed", "lint": "passed"}
    assert "-    return math.pi * r * r\n+    return math.pi * r**2" in result.data["diff"]


async def test_a_checkpoint_is_made_before_the_file_is_written(tool_workspace: ToolWorkspace):
    await tool_workspace.run("edit", path="area.py", old="r * r", new="r**2")
    await tool_workspace.run("create", path="new/b.py", text="x = 1")
    assert tool_workspace.kept == [
        (tool_workspace.root / "area.py", AREA.encode()),
        (tool_workspace.root / "new/b.py", None),
    ]


async def test_a_file_stays_unchanged_if_no_checkpoint_can_be_made(tool_workspace: ToolWorkspace):
    async def fail(paths: object) -> None:
        raise FileError("the disk is full")

    tool = EditTool(ToolEnvironment((tool_workspace.root,), PrivateFiles([tool_workspace.root]), before_edit=fail))
    with pytest.raises(FileError, match="the disk is full"):
        await tool.run({"path": "area.py", "old": "r * r", "new": "r"}, CONTEXT)
    assert tool_workspace.read("area.py") == AREA


async def test_an_edit_with_a_new_finding_is_refused(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "area.py").write_text("import os\n" + AREA)
    message = await tool_workspace.error("edit", path="area.py", old="math.pi", new="math.pi * k")
    assert message == (
        "nothing was written: the checks have new findings about area.py. Correct the edit. If the findings must stay, "
        'repeat the call with "accept_findings": true.\nline 6: LINT: F821 Undefined name `k`'
    )
    assert tool_workspace.read("area.py") == "import os\n" + AREA
    assert tool_workspace.kept == []


async def test_the_result_lists_accepted_findings_and_no_old_findings(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "area.py").write_text("import os\n" + AREA)
    result = await tool_workspace.run("edit", path="area.py", old="math.pi", new="math.pi * k", accept_findings=True)
    assert result.findings == ("line 6: LINT: F821 Undefined name `k`",)
    assert result.text == (
        "area.py was changed in line 6.\nNew findings of the checks:\nline 6: LINT: F821 Undefined name `k`"
    )
    assert not result.is_error


async def test_an_edit_that_adds_a_syntax_error_is_refused(tool_workspace: ToolWorkspace):
    message = await tool_workspace.error("edit", path="area.py", old="area(r):", new="area(r:", accept_findings=True)
    assert message.startswith("nothing was written: the edit adds a syntax error to area.py. Correct it.\nSYNTAX ERROR")
    assert "at line 4" in message
    assert tool_workspace.read("area.py") == AREA
    assert tool_workspace.kept == []


async def test_a_file_with_a_syntax_error_can_be_repaired_in_steps(tool_workspace: ToolWorkspace):
    broken = "def a(:\n    return 1\n\n\ndef b():\n    return 2\n"
    (tool_workspace.root / "area.py").write_text(broken)
    result = await tool_workspace.run("edit", path="area.py", old="def b():", new="def b(:")
    assert result.findings[0].startswith("SYNTAX ERROR at line 5")
    assert tool_workspace.read("area.py") == broken.replace("b()", "b(")
    await tool_workspace.run("edit", path="area.py", old="def b(:", new="def b():")
    result = await tool_workspace.run("edit", path="area.py", old="def a(:", new="def a():")
    assert not result.findings


async def test_a_text_that_does_not_occur_gets_the_nearest_lines(tool_workspace: ToolWorkspace):
    assert await tool_workspace.error("edit", path="area.py", old="return math.pi*r*r", new="x") == (
        "old does not occur in area.py. Copy it exactly. The nearest lines:\n5\t    return math.pi * r * r"
    )
    assert await tool_workspace.error("edit", path="area.py", old="zzzzzz", new="x") == (
        "old does not occur in area.py. Copy it exactly. No line is similar; read the file first."
    )


async def test_a_text_that_occurs_several_times_gets_their_lines(tool_workspace: ToolWorkspace):
    assert await tool_workspace.error("edit", path="area.py", old="math", new="x") == (
        "old occurs 2 times in area.py, in lines 1, 5; add the lines around the one to change"
    )


async def test_line_numbers_that_were_copied_are_left_out(tool_workspace: ToolWorkspace):
    await tool_workspace.run(
        "edit",
        path="area.py",
        old="4\tdef area(r):\n5\t    return math.pi * r * r",
        new="4\tdef area(r):\n5\t    return math.tau",
    )
    assert tool_workspace.read("area.py").endswith("def area(r):\n    return math.tau\n")


async def test_the_line_ends_of_the_file_stay(tool_workspace: ToolWorkspace):
    crlf = AREA.replace("\n", "\r\n").encode()
    (tool_workspace.root / "area.py").write_bytes(crlf)
    await tool_workspace.run(
        "edit", path="area.py", old="def area(r):\n    return math.pi", new="def area(r):\n    k = math.e\n    return k"
    )
    assert (tool_workspace.root / "area.py").read_bytes() == crlf.replace(
        b"return math.pi", b"k = math.e\r\n    return k"
    )
    (tool_workspace.root / "one.txt").write_bytes(b"a\r\nb\nc\r\n")
    await tool_workspace.run("edit", path="one.txt", old="b", new="b\nb2")
    assert (tool_workspace.root / "one.txt").read_bytes() == b"a\r\nb\r\nb2\nc\r\n"


@given(
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "ä", "x"]), max_size=20),
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "ä", "x"]), max_size=20),
    st.sampled_from(["KEY", "KEY\nKEY2", "\nKEY", "KEY\n"]),
)
def test_the_right_bytes_are_replaced_with_any_line_ends(before: list[str], after: list[str], old: str):
    head, tail = "".join(before), "".join(after)
    for key in (old, old.replace("\n", "\r\n")):
        document = Document.from_text("file:///a.txt", f"{head}{key}{tail}")
        edit = find_replacement(document, old, "new", "a.txt")
        assert apply(document.data, [edit]).decode() == f"{head}new{tail}"


async def test_a_byte_order_mark_and_the_mode_of_the_file_stay(tool_workspace: ToolWorkspace):
    path = tool_workspace.root / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfecho 1\n")
    path.chmod(0o755)
    await tool_workspace.run("edit", path="run.sh", old="1", new="2")
    assert path.read_bytes() == b"\xef\xbb\xbfecho 2\n"
    assert path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("name", "data", "input", "message"),
    [
        ("l.txt", b"a\n\xff b\n", {"old": "a", "new": "c"}, "l.txt is not UTF-8 in line 2, so it cannot be edited"),
        ("a.txt", b"a\n", {"old": "", "new": "c"}, '"old" is empty; copy the text to replace from the file'),
        ("a.txt", b"a\n", {"old": "a", "new": "a"}, "the edit changes nothing in a.txt; the new text is the old one"),
        ("a.txt", b"a\n", {"old": "a"}, '"new" is missing; give it as a text'),
        ("a.txt", b"aaa\n", {"old": "aa", "new": "b"}, "old occurs 2 times in a.txt, in lines 1, 1; add"),
    ],
)  # fmt: skip
async def test_an_impossible_edit_gives_the_reason(
    tool_workspace: ToolWorkspace, name: str, data: bytes, input: dict[str, str], message: str
):
    (tool_workspace.root / name).write_bytes(data)
    assert (await tool_workspace.error("edit", path=name, **input)).startswith(message)


async def test_a_file_that_changes_while_it_is_checked_is_not_overwritten(tool_workspace: ToolWorkspace):
    async def interfere(paths: object) -> None:
        (tool_workspace.root / "area.py").write_text("x = 1\n")

    tool = EditTool(ToolEnvironment((tool_workspace.root,), PrivateFiles([tool_workspace.root]), before_edit=interfere))
    with pytest.raises(HarnessError, match="has changed since it was read; read it again and repeat the edit"):
        await tool.run({"path": "area.py", "old": "r * r", "new": "r"}, CONTEXT)
    assert tool_workspace.read("area.py") == "x = 1\n"


async def test_edits_at_the_same_time_do_not_overwrite_each_other(tool_workspace: ToolWorkspace):
    (tool_workspace.root / "n.txt").write_text("".join(f"line {n};\n" for n in range(20)))
    await asyncio.gather(
        *(tool_workspace.run("edit", path="n.txt", old=f"line {n};", new=f"done {n};") for n in range(20))
    )
    assert tool_workspace.read("n.txt") == "".join(f"done {n};\n" for n in range(20))


async def test_a_file_is_created_once(tool_workspace: ToolWorkspace):
    assert "F401" in await tool_workspace.error("create", path="pkg/mod.py", text="import os", accept_findings=False)
    assert not (tool_workspace.root / "pkg").exists()
    result = await tool_workspace.run("create", path="pkg/mod.py", text="import os", accept_findings=True)
    assert tool_workspace.read("pkg/mod.py") == "import os\n"
    assert result.text.startswith("pkg/mod.py was created.\nNew findings of the checks:\nline 1: LINT: F401")
    assert await tool_workspace.error("create", path="pkg/mod.py", text="") == (
        "pkg/mod.py exists; use edit to change it, or choose another path"
    )
    await tool_workspace.run("create", path="empty.txt", text="")
    assert tool_workspace.read("empty.txt") == ""


async def test_a_file_with_a_syntax_error_is_not_created(tool_workspace: ToolWorkspace):
    assert (await tool_workspace.error("create", path="b.py", text="def f(:\n")).startswith("nothing was written: ")
    assert not (tool_workspace.root / "b.py").exists()


@pytest.mark.parametrize("path", ["../b.py", ".env", ".git/hooks/pre-commit", "secret/../../b.py"])
async def test_no_file_is_created_at_a_forbidden_path(tool_workspace: ToolWorkspace, path: str):
    await tool_workspace.error("create", path=path, text="x = 1\n")
    assert [entry.name for entry in tool_workspace.root.iterdir()] == ["area.py"]
    assert tool_workspace.kept == []

"""Fixes at the start of a file: a byte order mark and the line ends stay, and nothing else is added."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import BYTE_ORDER_MARK, Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Position
from lsp_harness.verify.change import Change
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.ruff_linter import Ruff
from tests.harness.tools import Script

pytestmark = pytest.mark.process

LOAD = "def load(text):\n    return json.loads(text)\n"
CODING = "# -*- coding: utf-8 -*-\n"
SHEBANG = "#!/usr/bin/env python\n"

FIXES = [
    ("a.py", "import os\n\n\ndef area(radius):\n    return 3 * radius\n", "def area(radius):\n    return 3 * radius\n"),
    ("a.py", "import os\nimport sys\n\nprint(sys.argv)\n", "import sys\n\nprint(sys.argv)\n"),
    ("a.py", "import os, sys\n\nprint(sys.argv)\n", "import sys\n\nprint(sys.argv)\n"),
    ("a.py", "import os\n", ""),
    ("a.py", "\n\nimport os\n", "\n\n"),
    ("a.py", LOAD, f"import json\n\n\n{LOAD}"),
    ("a.py", CODING + LOAD, f"{CODING}import json\n\n\n{LOAD}"),
    ("a.py", SHEBANG + LOAD, f"{SHEBANG}\nimport json\n\n\n{LOAD}"),
    ("a.py", f'{SHEBANG}{CODING}"""Doc."""\n{LOAD}', f'{SHEBANG}{CODING}"""Doc."""\n\nimport json\n\n\n{LOAD}'),
    ("a.py", f"import sys\n\nprint(sys)\n\n\n{LOAD}", f"import json\nimport sys\n\nprint(sys)\n\n\n{LOAD}"),
    ("a.py", f"# c\nimport sys\n\nprint(sys)\n\n\n{LOAD}", f"# c\nimport json\nimport sys\n\nprint(sys)\n\n\n{LOAD}"),
    ("a.py", "pritn(1)\n", "print(1)\n"),
    ("a.py", "valeu = 1\nprint(value)\n", "valeu = 1\nprint(valeu)\n"),
    ("a.py", "print(1\n", "print(1)\n"),
    ("a.py", "if True\n    print(1)\n", "if True:\n    print(1)\n"),
    ("a.js", "function f( {\n  return 1\n}\n", "function f() {\n  return 1\n}\n"),
    ("a.go", "package a\n\nfunc f( {\n}\n", "package a\n\nfunc f() {\n}\n"),
    ("a.cs", "using System\nclass A {}\n", "using System;\nclass A {}\n"),
]
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "mark": lambda data: BYTE_ORDER_MARK + data,
    "returns": lambda data: data.replace(b"\n", b"\r\n"),
    "mark and returns": lambda data: BYTE_ORDER_MARK + data.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("name", "before", "after"), FIXES)
async def test_a_fix_keeps_the_start_of_a_file(
    name: str, before: str, after: str, encoding: str, tmp_path: Path, ruff: Ruff
) -> None:
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    encode, file = ENCODINGS[encoding], tmp_path / name
    document = Document.from_text(file.as_uri(), encode(before.encode()))
    [finding, *_] = (await examine_text(document, parse(document), ruff, file, tmp_path)).findings
    log = SessionLog(tmp_path / "sessions")
    tools = CheckTools(ruff)
    context = TurnContext(Script(), Config(), tools, log.turn(), document, file, tmp_path, name, lambda progress: None)
    proposal = await run_edit_task(Fix(context, finding, is_model_allowed=False))
    log.close()
    assert proposal.changes.main.after.data == encode(after.encode())


def test_an_edit_of_any_maker_begins_behind_the_mark(tmp_path: Path) -> None:
    document = Document.from_text("file:///a.py", BYTE_ORDER_MARK + b"x = 1\n")
    for edit in (
        Edit(0, 0, b"import os\n"),
        Edit(0, 8, BYTE_ORDER_MARK + b"y = 2"),
        Edit(0, 8, b"y = 2"),
        Edit(1, 3, b""),
    ):
        after = Change.from_edits(document, [edit], tmp_path / "a.py").after.data
        assert after.startswith(BYTE_ORDER_MARK)
        assert after.count(BYTE_ORDER_MARK) == 1


async def test_the_linter_does_not_count_the_mark(tmp_path: Path, ruff: Ruff) -> None:
    document = Document.from_text((tmp_path / "a.py").as_uri(), BYTE_ORDER_MARK + "é = sy\nos\n".encode())
    reports = await ruff.check(document, tmp_path / "a.py", tmp_path, select="F821")
    assert [document.data[report.finding.start : report.finding.end] for report in reports] == [b"sy", b"os"]
    assert document.tool_offset(Position(1, 1), "utf-32") == document.offset(Position(1, 1), "utf-32")

"""The removal of what an edit adds and nothing uses. What was there before stays."""

from pathlib import Path

import pytest

from lsp_harness.coding.candidates.unused_additions import remove_unused_additions
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.text.uri import local_path
from lsp_harness.verify.change import Change, ChangeSet


def clean(before: str, after: str, task: str = "check the radius", name: str = "area.py") -> str:
    uri = f"file:///shop/{name}"
    change = Change.from_documents(
        Document.from_text(uri, before), Document.from_text(uri, after), local_path(uri) or Path(name)
    )
    return decode(remove_unused_additions(ChangeSet.of(change), task).main.after.data)


AREA = "def area(r):\n    return r * r\n"


@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("a.py", AREA, f"import math\n{AREA}", AREA),
        ("a.py", AREA, f"from math import pi, tau\n\n{AREA}x = tau\n", f"from math import tau\n\n{AREA}x = tau\n"),
        ("a.py", f"import os\n{AREA}", f"import os\nimport sys\n{AREA}", f"import os\n{AREA}"),
        ("a.ts", "f();\n", 'import { a, b } from "x";\nf(b);\n', 'import { b } from "x";\nf(b);\n'),
        ("a.js", "f();\n", 'import a from "a";\nf();\n', "f();\n"),
    ],
)
def test_an_import_that_nothing_uses_goes(name: str, before: str, after: str, expected: str) -> None:
    assert clean(before, after, name=name).rstrip() == expected.rstrip()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.py", "from __future__ import annotations\n"),
        ("a.py", "from math import *\n"),
        ("a.py", "from math import pi as pi\n"),
        ("a.py", "from math import pi\nx: 'list[pi]' = []\n"),
        ("__init__.py", "from math import pi\n"),
        ("a.ts", 'import "x";\n'),
        ("a.rs", "use std::io::Write;\n"),
    ],
)
def test_an_import_with_an_effect_of_its_own_stays(name: str, line: str) -> None:
    assert clean("", line, name=name) == line


def test_an_import_that_the_edit_leaves_unused_stays() -> None:
    after = "import math\n\ndef area(r):\n    return r\n"
    assert clean("import math\n\ndef area(r):\n    return math.pi * r\n", after) == after


HELPER = "def _validate(value):\n    return math.isfinite(value)\n"
CHECKED = "def area(r):\n    if r < 0:\n        raise ValueError(r)\n    return r * r\n"


def test_a_helper_that_nothing_calls_goes_with_its_import() -> None:
    assert clean(AREA, f"import math\n\n\n{HELPER}\n\n{CHECKED}") == CHECKED


@pytest.mark.parametrize(
    ("helper", "task"),
    [
        (HELPER, "extract the check of the radius"),
        (HELPER, "add a helper for the radius"),
        (HELPER, "validate the radius"),
        (f"@register\n{HELPER}", "check the radius"),
        ("def test_area():\n    assert area(1) == 1\n", "check the radius"),
        ("class Radius:\n    pass\n", "check the radius"),
    ],
)
def test_a_new_function_that_the_task_or_a_tool_may_want_stays(helper: str, task: str) -> None:
    after = f"{CHECKED}\n\n{helper}"
    assert clean(AREA, after, task) == after


def test_new_code_that_stands_alone_stays() -> None:
    after = f"{AREA}\n\ndef volume(r):\n    return r ** 3\n"
    assert clean(AREA, after, "the size of a cube") == after


def test_an_exported_function_stays() -> None:
    after = "export const size = (r: number) => r;\nfunction area(r: number) { return r + 0; }\n"
    assert clean("function area(r: number) { return r; }\n", after, name="a.ts") == after

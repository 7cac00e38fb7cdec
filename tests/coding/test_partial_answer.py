"""Tests that an answer without the head of a function, or without the code above it, is completed."""

from textwrap import dedent

import pytest

from lsp_harness.coding.candidates import partial_answer
from lsp_harness.coding.candidates.partial_answer import AskedCode
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span

NAMES = 'import re\n\n\ndef join(names):\n    """Join them."""\n    text = names\n    return text\n'
ADD = "export function add(a: number, b: number): number {\n  return a;\n}\n"


def complete(source: str, code: str, start: int = 0, file: str = "names.py") -> str:
    document = Document.from_text(f"file:///{file}", source)
    return AskedCode(parse(document), Span(start, len(source.encode()))).complete(code)


def test_an_answer_without_a_head_is_the_body() -> None:
    new = NAMES.replace("    text = names\n    return text\n", '    return ", ".join(names)\n')
    assert complete(NAMES, 'return ", ".join(names)') == new
    assert complete(NAMES, '    return ", ".join(names)\n') == new


def test_the_body_of_a_method_keeps_its_indentation() -> None:
    source = dedent(
        """
        class Box:
            def size(self):
                return 0

            def other(self):
                return 1
        """
    )
    start = source.index("    def size")
    end = source.index("\n    def other")
    document = Document.from_text("file:///box.py", source)
    completed = AskedCode(parse(document), Span(start, end)).complete("if self:\n    return 2\nreturn 3")
    assert completed == "    def size(self):\n        if self:\n            return 2\n        return 3\n"


def test_a_body_in_braces_gets_its_head() -> None:
    assert complete(ADD, "return a + b;", file="add.ts") == ADD.replace("return a;", "return a + b;")


def test_a_changed_function_keeps_the_imports_above_it() -> None:
    function = "def join(names):\n    return re.escape(names)\n"
    assert complete(NAMES, function) == "import re\n\n\n" + function


@pytest.mark.parametrize(
    ("source", "code"),
    [
        pytest.param(NAMES, "import os\n\n\ndef join(names):\n    return os.name\n", id="it has its own imports"),
        pytest.param(NAMES, NAMES[NAMES.index("def") :], id="only the import is removed"),
        pytest.param(NAMES, "def other(names):\n    return names\n", id="another function"),
        pytest.param(NAMES + "\n\ndef b():\n    return 1\n", "return 2", id="two functions"),
        pytest.param("a = 1\n", "a = 2", id="no function"),
        pytest.param("def f(): return 1\n", "return 2", id="a body on the line of its head"),
    ],
)
def test_complete_answers_are_not_changed(source: str, code: str) -> None:
    assert complete(source, code) == code


def test_the_function_is_looked_for_once_for_all_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = parse(Document.from_text("file:///names.py", NAMES))
    assert parsed
    searched: list[object] = []
    find = partial_answer.find_declarations
    monkeypatch.setattr(
        partial_answer, "find_declarations", lambda *found: (searched.append(found[2] == parsed.root), find(*found))[1]
    )
    asked = AskedCode(parsed, Span(0, len(NAMES)))
    assert [asked.complete(f"return {number}")[-2:] for number in range(3)] == ["0\n", "1\n", "2\n"]
    # each answer is searched, too
    assert searched == [True, False, False, False]


def test_the_title_of_related_code_is_no_part_of_the_answer() -> None:
    new = NAMES.replace("text = names", "text = sorted(names)")
    titled = new.replace("import re\n", "import re\n# src/names.py:12, in join\n# a comment\n")
    assert complete(NAMES, titled) == titled.replace("# src/names.py:12, in join\n", "")

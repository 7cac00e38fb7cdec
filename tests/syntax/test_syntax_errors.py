"""Tests of the messages about syntax errors, and of the edit that caused them."""

import warnings

import pytest

from lsp_harness.syntax.syntax_errors import find_faults, find_new_faults, find_python_fault
from lsp_harness.text.edit import Edit, line_edits
from tests.syntax.markup import parse_tree


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "f() }\nx()\n", [("unexpected `}`", "}")]),
        ("a.js", "foo(1;\nbar()\n", [("missing `)`", "")]),
        ("a.js", "function f() {\n  a()\n", [("missing `}`", "")]),
        ("a.js", "let x = {a: 1, b 2};\n", [("unexpected `2`", "2")]),
        ("a.go", "package a\nfunc f() {\n x := \n}\n", [("missing identifier", "")]),
        ("a.rs", "fn f() { let x = 1 }\n", [("missing `;`", "")]),
        ("a.rs", "fn f() {\n if x {\n}\nfn g() {}\n", [("`{` is never closed", "{")]),
        ("a.json", '{"a": 1,}', [("unexpected `,`", ",")]),
        ("a.rb", "def f\nend\nend\n", [("unexpected `end`", "end")]),
        ("a.sh", "echo a\nfi\n", [("unexpected `fi`", "fi")]),
        ("a.py", "x = 1))\ny = 2\n", [("unexpected `)`", ")")]),
        ("a.py", "x = foo(1, 2\ny = 3\n", [("`(` is never closed", "(")]),
        ("a.py", 'x = "é\ny = 1\n', [('`"` is never closed', '"')]),
        ("a.py", "x = = 1\nf(a b)\n", [("unexpected `=`", "="), ("unexpected `b`", "b")]),
        ("a.py", "for x i y:\n   pass\n", [("unexpected `for x i y:`", "for x i y:")]),
        ("a.py", "x = 1\n", []),
    ],
)
def test_an_error_message_has_its_place(path: str, text: str, expected: list[tuple[str, str]]):
    tree = parse_tree(path, text)
    assert [(f.message, tree.data[f.start : f.end].decode()) for f in find_faults(tree)] == expected


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("x = 1\n    y = 1\n", "unexpected indent", "y = 1"),
        ("def f():\npass\n", "expected an indented block after function definition on line 1", "pass"),
        ("if x:\n    a\n  b\n", "unindent does not match any outer indentation level", ""),
        ("é = = 1\r\n", "invalid syntax", "= 1"),
        ("\ufeffé = = 1", "invalid syntax", "= 1"),
        ("x\x0c\ry = = 1", "invalid syntax", "= 1"),
        ("def f():\n    x\nreturn x\n", "'return' outside function", "return x"),
        ("1 = x\n", "cannot assign to literal here. Maybe you meant '==' instead of '='?", "1 = x"),
    ],
)
def test_the_compiler_reports_the_error_and_its_place(text: str, message: str, at: str):
    fault = find_python_fault(text.encode())
    assert fault is not None
    assert (fault.message, text.encode()[fault.start : fault.end].decode()) == (message, at)


def test_the_compiler_reports_no_error_in_sound_odd_and_huge_texts():
    with warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always")
        assert find_python_fault(b'x = "\\d"\nassert (1, "a")\nx is 1\n') is None
        # a cell of a notebook
        assert find_python_fault(b"await x\n") is None
    assert result == []
    assert find_python_fault(b"# coding: latin-1\nx = '\xe9'\n") is None
    assert find_python_fault(b"\xef\xbb\xbfx = 1\n") is None
    assert find_python_fault(b"-" * 100_000 + b"1") is None


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        # what was broken stays nobody's fault
        ("a.py", "x = = 1\ny = 3\n", "import q\nx = = 1\ny = 4\n", []),
        ("a.py", "x = = 1\ny = 3\n", "x = = 2\ny = 3\n", []),
        ("a.py", "x = = 1\ny = 3\n", "y = 3\n", []),
        ("a.py", "x = foo(1, 2\ny = 3\n", "x = foo(1, 2\ny = 3\nz = 4\n", []),
        ("a.py", "print 'a' if\n\ndef f():\n    pass\n", "print 'a' if\n\ndef f():\n    return 1\n", []),
        ("a.js", "foo(1;\nbar()\n", "foo(1;\nbar(2)\nbaz()\n", []),
        ("a.js", "function f() {\n a()\nfunction g() {}\n", "function f() {\n a()\n b()\nfunction g() {}\n", []),
        ("a.js", "function f() {\n a()\nfunction g() {}\n", "function f() {\n a()\nfunction g() {}\nlet h = 1;\n", []),
        ("a.go", "package a\nfunc f( {\n}\n", "package a\nfunc f( {\n}\nfunc g() {}\n", []),
        # what is mended is not held against the one who mends it
        ("a.py", "x = foo(1, 2\ny = 3\n", "x = foo(1, 2)\ny = 3\n", []),
        ("a.js", "foo(1;\nbar(]\n", "foo(1);\nbar(]\n", []),
        # what is written is
        ("a.py", "x = = 1\ny = 3\n", "x = ) 1\ny = 3\n", ["unexpected `)`"]),
        ("a.py", "x = = 1\ny = 3\n", "x = = 1\ny = = 3\n", ["unexpected `=`"]),
        ("a.js", "foo(1;\nbar()\n", "foo(1));\nbar()\n", ["unexpected `)`"]),
        ("a.js", "foo()\n", "foo()\nbar(]\n", ["unexpected `]`"]),
        ("a.js", "function f() {\n a()\nfunction g() {}\n", "function f() {\n a()\nfunction g() {\n", ["missing `}`"]),
        ("a.rs", "fn f() { a(; }\nfn g() { 1 }\n", "fn f() { a(; }\nfn g() { 1 ] }\n", ["unexpected `]`"]),
        ("a.rb", "def f\nend\n", "def f\nend\nend\n", ["unexpected `end`"]),
        # Python: the compiler sees what the grammar forgives
        ("a.py", "x = 1\ny = 3\n", "x = 1\n    y = 3\n", ["unexpected indent"]),
        (
            "a.py",
            "def f():\n    pass\n",
            "def f():\n",
            ["expected an indented block after function definition on line 1"],
        ),
        ("a.py", 'x = "\\d"\n', 'x = "\\d"\ny = 1\n', []),
    ],
)
def test_only_new_faults_are_blamed(path: str, before: str, after: str, expected: list[str]):
    old, new = parse_tree(path, before), parse_tree(path, after)
    edits = line_edits(old.data, new.data)
    assert [f.message for f in find_new_faults(old, new, edits)] == expected
    # the same, said as one edit of everything
    assert [f.message for f in find_new_faults(old, new, [Edit(0, len(old.data), new.data)])] == expected


def test_a_text_is_not_blamed_for_itself():
    text = "x = (1]\ndef f(:\n  retrun x y\n'abc\nclass A\n"
    for path in ("a.py", "a.js", "a.go", "a.rs", "a.c", "a.rb"):
        tree = parse_tree(path, text)
        assert find_faults(tree)
        assert find_new_faults(tree, parse_tree(path, text), []) == []

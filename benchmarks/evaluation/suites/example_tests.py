"""Makes pytest files of the examples that a task shows: docstrings, tables of calls, and parts of the set's tests."""

import ast
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

CALL_ROW = re.compile(r"^(?P<call>.+\))\s+->\s+(?P<result>.+)$")
"""A line such as `top_k([9, 4], 1)  ->  [9]`."""


def make_example_tests(module: str, source: str) -> str:
    """Return a test for each `>>>` example of a text, or an empty text if it has none.

    Args:
        module: The module with the tested names.
        source: The text, such as the source of the module.
    """
    import doctest

    try:
        examples = doctest.DocTestParser().get_examples(source)
    except ValueError:
        return ""
    tests: list[str] = []
    for example in examples:
        call = example.source.strip()
        if not _is_expression(call) or not _is_expression(example.want.strip()):
            continue
        tests.append(_format_test(len(tests) + 1, f"assert ({call}) == ({example.want.strip()})"))
    return _format_module(module, tests)


def make_call_tests(module: str, table: str) -> str:
    """Return a test for each row `call  ->  result` of a table, or an empty text. Results are compared as texts."""
    rows = [
        match
        for line in table.splitlines()
        if (match := CALL_ROW.match(line.strip())) and _is_expression(match["call"])
    ]
    tests = [
        _format_test(number, f"assert str({row['call']}) == {row['result'].strip()!r}")
        for number, row in enumerate(rows, 1)
    ]
    return _format_module(module, tests)


def make_script_tests(module: str, script: str, *, before: str = "") -> str:
    """Return one test that runs the statements of a script, or an empty text if it is no Python.

    The script uses the names of the module.

    Args:
        module: The module with the tested names.
        script: The statements.
        before: Statements before the import.
    """
    try:
        tree = ast.parse(script)
    except SyntaxError:
        return ""
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom)]
    statements = [node for node in tree.body if node not in definitions]
    lines = [line for node in statements for line in ast.unparse(node).splitlines()]
    if not lines:
        return ""
    header = [*(before.splitlines()), f"from {module} import *", *(ast.unparse(node) for node in definitions)]
    return "\n".join([*header, "", "", "def test_examples():", *(f"    {line}" for line in lines), ""])


def choose_half(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a check with every second case: rows of data, or test functions if there is no data."""
    has_data = any(path.startswith("json_testcases/") for path in files)
    chosen: dict[str, str] = {}
    for path, text in files.items():
        if path.startswith("json_testcases/"):
            chosen[path] = "".join(f"{line}\n" for line in [row for row in text.splitlines() if row.strip()][::2])
        elif PurePosixPath(path).name.startswith("test_") and not has_data:
            chosen[path] = _keep_every_second_test(text)
        else:
            chosen[path] = text
    return chosen


def _keep_every_second_test(source: str) -> str:
    tree = ast.parse(source)
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    left_out = tests[1::2]
    tree.body = [node for node in tree.body if node not in left_out]
    return ast.unparse(tree) + "\n"


def _is_expression(text: str) -> bool:
    """Return whether a text is a Python expression. A table may also have lines of prose."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _format_test(number: int, statement: str) -> str:
    body = "\n".join(f"    {line}" for line in statement.splitlines())
    return f"def test_example_{number}():\n{body}\n"


def _format_module(module: str, tests: list[str]) -> str:
    return "\n\n".join([f"from {module} import *\n", *tests]) if tests else ""

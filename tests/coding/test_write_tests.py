"""The choice of the function that a test is written for."""

import pytest

from lsp_harness.coding.write_tests import find_target_function
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document


@pytest.mark.parametrize(("path", "module"), [("src/geo/area.py", "geo.area"), (".", None), ("", None)])
def test_a_function_in_a_text_without_a_file_name_is_no_subject(path: str, module: str | None) -> None:
    tree = parse(Document.from_text("file:///area.py", b"def area(r):\n    return r\n"))
    assert tree
    target_function = find_target_function(tree, 0, path)
    assert (target_function.module if target_function else None) == module

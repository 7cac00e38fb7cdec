"""Names that are imported and not used."""

import pytest

from lsp_harness.context.lookup.cursor_names import find_unused_imports, read_cursor_names
from tests.syntax.markup import parse_marked

CASES = {
    "the last is the first": ("a.py", "from m import one, two\nimport three\n\nuse(two)\n<|>\n", ("three", "one")),
    "in the function around": ("a.py", "def f():\n    from m import one\n    <|>\n", ("one",)),
    "in another function": ("a.py", "def f():\n    from m import one\n\n\ndef g():\n    <|>\n", ()),
    "used below": ("a.py", "from m import one\n\n<|>\n\none()\n", ()),
    "used in a text": ("a.py", "from m import one\n\n__all__ = ['one']\n<|>\n", ()),
    "part of another name": ("a.py", "from m import one\n\none_more = 1\n<|>\n", ("one",)),
    "by another name": ("a.py", "from m import one as first\n\none = 1\n<|>\n", ("first",)),
    "all of a module": ("a.py", "from m import *\n<|>\n", ()),
    "too many": ("a.py", "from m import a, b, c, d, e, f, g\n<|>\n", ()),
    "TypeScript": ("a.ts", "import { one, two } from './m';\n\ntwo();\n<|>\n", ("one",)),
    "what is exported again": ("a.ts", "export { one } from './m';\n<|>\n", ()),
    "Rust": ("a.rs", "use crate::m::{one, two};\n\nfn f() { two(); <|> }\n", ("one",)),
    "a pub use": ("a.rs", "pub use crate::m::one;\n\nfn f() { <|> }\n", ()),
}


@pytest.mark.parametrize("case", CASES)
def test_names_that_are_not_used_yet(case: str):
    path, text, expected = CASES[case]
    source = parse_marked(path, text)
    assert find_unused_imports(source.tree, source.start) == expected
    assert read_cursor_names(source.tree, source.start).unused_imports == expected

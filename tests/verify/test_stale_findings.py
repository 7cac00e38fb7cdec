"""Tests of outdated findings, and of findings that may hold although our own tools are silent."""

from pathlib import Path

import pytest

from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.stale_findings import find_removal_objection, find_stale_reason

pytestmark = pytest.mark.process


class FindingCase:
    """A finding about the `nth` place of a name in a text, counted from 0."""

    def __init__(self, file: Path, text: str, about: str, message: str, code: str = "", nth: int = 0) -> None:
        self.file = file
        self.document = Document.from_text(file.as_uri(), text)
        start = -1
        for _ in range(nth + 1):
            start = self.document.data.index(about.encode(), start + 1)
        self.finding = Finding(start, start + len(about.encode()), message, "tool", code)
        self.tree = parse(self.document)
        self.subject = find_subject(self.finding, self.document, self.tree)

    async def outdated(self, ruff: Ruff) -> str:
        arguments = (self.finding, self.subject, self.document, self.tree, ruff, self.file, self.file.parent)
        return await find_stale_reason(*arguments)

    async def premature(self, ruff: Ruff) -> str:
        return await find_removal_objection(self.subject, self.document, ruff, self.file, self.file.parent)


STALE_FINDINGS = [
    # ruff, pyright, mypy and pylint say it in their own words
    ("a.py", "pi = 3\nx = pi\n", "pi", "Undefined name `pi`", "F821", 1, "ruff does not report F821 there"),
    ("a.py", "pi = 3\nx = pi\n", "pi", '"pi" is not defined', "reportUndefinedVariable", 1,
     "ruff does not report F821"),
    ("a.py", "pi = 3\nx = pi\n", "pi", 'Name "pi" is not defined', "name-defined", 1, "ruff does not report F821"),
    ("a.py", "pi = 3\nx = pi\n", "pi", "Undefined variable 'pi'", "E0602", 1, "ruff does not report F821"),
    ("a.py", "pi = 3\nx = pi\n", "pi", "name 'pi' is not defined", "", 1, "ruff does not report F821"),
    ("a.py", "import os\nos.x()\n", "os", "Unused import os", "W0611", 0, "ruff does not report F401 there"),
    ("a.py", "import os\nos.x()\n", "os", "`os` imported but unused", "F401", 0, "ruff does not report F401 there"),
    ("a.py", "import os\nos.x()\n", "os", 'Import "os" is not accessed', "reportUnusedImport", 0, "report F401"),
    ("a.py", "x = tau\n", "tau", "Undefined name `pi`", "F821", 0, "`pi` is not on line 1"),
    ("a.py", "x = 1\n", "x", "invalid syntax", "invalid-syntax", 0, "the text has no syntax error"),
    ("a.ts", "const width = 1;\nf(width);\n", "width", "Cannot find name 'width'.", "2304", 1,
     "`width` is declared on line 1"),
    ("a.ts", "import { a } from './a';\nf(a);\n", "a)", "Cannot find name 'a'.", "2304", 0,
     "`a` is imported on line 1"),
    ("a.ts", "f(b);\n", "b", "Cannot find name 'a'.", "2304", 0, "`a` is not on line 1"),
    ("a.ts", "f(b);\n", "b", "')' expected.", "1005", 0, ""),
    ("a.js", "const fs = require('fs');\nfs.x();\n", "fs", "'fs' is not defined.", "no-undef", 2,
     "`fs` is declared on line 1"),
    ("a.ts", "import { join } from 'path';\njoin();\n", "join", "'join' is declared but its value is never read.",
     "6133", 0, "`join` is used on line 2"),
    ("a.rs", "use std::fs;\nfn f() { fs::read(1); }\n", "std::fs", "unused import: `std::fs`", "unused_imports", 0,
     "`fs` is used on line 2"),
    ("a.go", "package m\n\nfunc f() int {\n\tx := 1\n\treturn x\n}\n", "x", "declared and not used: x", "UnusedVar", 0,
     "`x` is used on line 5"),
    ("a.go", "package m\n\nfunc f() {\n\tx := 1\n\tx = 2\n}\n", "x", "declared and not used: x", "UnusedVar", 0, ""),
    ("a.ts", "import { a } from 'b';\nf({ a: 1 }).a;\n", "a", "'a' is declared but its value is never read.", "6133", 0,
     ""),
    ("a.js", "go();\nfunction go() {}\n", "go", "'go' is not defined.", "no-undef", 0, "`go` is declared on line 2"),
    ("a.go", 'package m\n\nimport "fmt"\n\nfunc f() { fmt.Print() }\n', "fmt", "undefined: fmt", "", 1,
     "`fmt` is imported on line 3"),
    ("a.go", "package m\n\nfunc f() { g() }\n\nfunc g() {}\n", "g()", "undefined: g", "UndeclaredName", 0,
     "`g` is declared on line 5"),
    ("a.rs", "fn f() { g(); }\nfn g() {}\n", "g", "cannot find function `g` in this scope", "E0425", 0,
     "declared on line 2"),
    ("A.java", "class A { B b; }\nclass B {}\n", "B", "B cannot be resolved to a type", "", 0,
     "`B` is declared on line 2"),
    ("a.cs", "using A;\nusing Bcd.Ef;\n", "using Bcd", "Unnecessary using directive.", "CS8019", 0,
     "the marked range on line 2"),
    ("a.cs", "using A;\nusing B.C;\n", "using B.", "Unnecessary using directive.", "CS8019", 0,
     "the marked range on line 2"),
    ("a.cs", "using A;\nusing Bc.De;\n", "Bc.D", "Unnecessary using directive.", "CS8019", 0,
     "the marked range on line 2"),
    ("a.cs", "using A;\nusing Bc.De;\n", "Bc.De", "Unnecessary using directive.", "CS8019", 0, ""),
    ("a.cs", "using A;\nusing B.C;\n", "using B.C;", "Unnecessary using directive.", "CS8019", 0, ""),
    ("a.cs", "using A;\nusing B.C;\nclass D {}\n", "using A;\nusing B.C;", "Unnecessary using directive.", "CS8019", 0,
     ""),
    ("a.py", "f(0, Cart(one))\n", "0, Ca",
     'Argument of type "Cart" cannot be assigned to parameter "index" of type "int"', "reportArgumentType", 0,
     "the marked range on line 1"),
    ("a.py", "f(Cart(one), 0)\n", "Cart(one)",
     'Argument of type "Cart" cannot be assigned to parameter "index" of type "int"', "reportArgumentType", 0, ""),
    ("a.go", "package m\n\nvar x = f(q, 0)\n", "q",
     "cannot use 0 (untyped int constant) as []int value in argument to f", "", 0, "`0` is not at this place"),
    ("a.go", "package m\n\nvar x = f(0, q)\n", "0",
     "cannot use 0 (untyped int constant) as []int value in argument to f", "", 0, ""),
    ("a.go", "package m\n\nvar x = f(0, q)\n", "f(0, q)",
     "cannot use 0 (untyped int constant) as []int value in argument to f", "", 0, ""),
    ("a.c", "int g(void) { return 1; }\nint f(void) { return g(); }\n", "g", "use of undeclared identifier 'g'", "", 1,
     "declared on line 1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "about", "message", "code", "nth", "said"), STALE_FINDINGS)
async def test_a_finding_that_no_longer_holds_is_known_and_why(
    ruff: Ruff, project: Path, name: str, text: str, about: str, message: str, code: str, nth: int, said: str
) -> None:
    reason = await FindingCase(project / name, text, about, message, code, nth).outdated(ruff)
    assert said in reason
    assert bool(said) is bool(reason)


THERE = [
    ("a.py", "x = pi\n", "pi", "Undefined name `pi`", "F821", 0),
    ("a.py", "x = pi\n", "pi", '"pi" is not defined', "reportUndefinedVariable", 0),
    # a member and a type are no business of ruff's, nor are the rules of another tool
    ("a.py", "x = '{a}'\n", "'{a}'", "Formatting a regular string which could be an f-string", "W1311", 0),
    ("a.py", "x = a.pi\n", "pi", 'Cannot access attribute "pi" for class "A"', "reportAttributeAccessIssue", 0),
    ("a.py", "x: int = ''\n", "''", 'Type "str" is not assignable to "int"', "reportAssignmentType", 0),
    ("a.py", "from shop import Cart\nCart()\n", "Cart", '"Cart" is unknown import symbol', "reportAttributeAccessIssue",
     0),
    ("a.py", "import shopx\nshopx()\n", "shopx", 'Import "shopx" could not be resolved', "reportMissingImports", 0),
    ("a.py", "from a import *\nx = pi\n", "pi", '"pi" is not defined', "reportUndefinedVariable", 0),
    # silenced for ruff by a comment, by its settings or by the rules that the project selects
    ("a.py", "x = pi  # noqa\n", "pi", '"pi" is not defined', "reportUndefinedVariable", 0),
    ("a.py", "# ruff: noqa\nx = pi\n", "pi", 'Name "pi" is not defined', "name-defined", 0),
    ("a.py", "x = y == None\n", "None", "Comparison to `None` should be `cond is None`", "E711", 0),
    # the name of an import that fails is bound by it, and still not known
    ("a.ts", "import { a } from './b';\na();\n", "a", "Module './b' has no exported member 'a'.", "2305", 0),
    ("a.ts", "import shop from './shop';\n", "'./shop'", "Cannot find module './shop'.", "2307", 0),
    ("A.java", "import com.Cart;\nclass A { Cart c; }\n", "Cart", "Cart cannot be resolved to a type", "", 1),
    ("a.php", "<?php\nuse App\\Cart;\n$x = new Cart();\n", "Cart", "Undefined type 'App\\Cart'.", "P1009", 1),
    # members, keys and fields are not what is declared under their name
    ("a.ts", "const b = 1;\nconst o = { a: 1 };\no.b;\n", "b;", "Property 'b' does not exist on type '{ a: number; }'.",
     "2339", 0),
    ("a.ts", "const b = 1;\nconst o: T = { b: 1 };\n", "b:", "'b' does not exist in type 'T'.", "2353", 0),
    ("a.rs", "struct P { x: i32 }\nfn y() {}\nfn f() { P { y: 1 }; }\n", "y:", "struct `P` has no field named `y`",
     "E0560", 0),
    ("a.go", "package m\n\nfunc B() {}\n\nvar t = T{B: 1}\n", "B:", "unknown field B in struct literal of type T", "",
     0),
    # scopes, namespaces, order and conditions
    ("a.js", "function a() { const fs = 1; }\nfs.read();\n", "fs", "'fs' is not defined.", "no-undef", 1),
    ("a.rs", "fn g() {}\nmod tests { fn f() { g(); } }\n", "g", "cannot find function `g` in this scope", "E0425", 1),
    ("a.rs", "fn a() { use std::fs; }\nfn b() { fs::x(); }\n", "fs", "use of undeclared crate or module `fs`", "E0433",
     1),
    ("a.rs", '#[cfg(feature = "x")]\nfn g() {}\nfn f() { g(); }\n', "g()", "cannot find function `g` in this scope",
     "E0425", 1),
    ("a.c", "int f(void) { return g(); }\nint g(void) { return 1; }\n", "g", "call to undeclared function 'g'", "", 0),
    ("a.c", "struct point { int x; };\npoint p;\n", "point", "unknown type name 'point'", "", 1),
    ("a.c", "#ifdef X\nint g;\n#endif\nint f(void) { return g; }\n", "g;", "use of undeclared identifier 'g'", "", 1),
    ("a.rb", "x = 1\ndef f\n  x\nend\n", "x", "undefined local variable or method 'x'", "", 1),
    ("a.php", "<?php\n$x = 1;\nfunction f() { return $x; }\n", "$x", "Undefined variable '$x'.", "P1008", 1),
    ("a.txt", "words\n", "words", "Undefined name `words`", "F821", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "about", "message", "code", "nth"), THERE)
async def test_a_finding_that_may_hold_is_not_refused(
    ruff: Ruff, project: Path, name: str, text: str, about: str, message: str, code: str, nth: int
) -> None:
    assert await FindingCase(project / name, text, about, message, code, nth).outdated(ruff) == ""


async def test_a_rule_that_is_ignored_for_a_file_may_come_from_another_tool(ruff: Ruff, project: Path) -> None:
    (project / "ruff.toml").write_text('[lint.per-file-ignores]\n"a.py" = ["F821"]\n')
    case = FindingCase(project / "a.py", "x = pi\n", "pi", '"pi" is not defined', "reportUndefinedVariable")
    assert await case.outdated(ruff) == ""


async def test_a_finding_behind_the_end_of_the_text_is_outdated(ruff: Ruff, project: Path) -> None:
    case = FindingCase(project / "a.py", "x = pi\n", "pi", "Undefined name `pi`", "F821")
    case.finding = Finding(400, 402, "Undefined name `pi`", "tool", "F821")
    assert await case.outdated(ruff) == "the text ends before line 2"


@pytest.mark.parametrize("broken", ["no-such-setting = 1\n", 'force-exclude = true\nexclude = ["a.py"]\n'])
async def test_if_ruff_cannot_run_a_finding_may_hold(project: Path, broken: str) -> None:
    (project / "ruff.toml").write_text(broken)
    case = FindingCase(project / "a.py", "pi = 3\nx = pi\n", "pi", "Undefined name `pi`", "F821", 1)
    assert await case.outdated(Ruff()) == ""


async def test_without_ruff_a_finding_may_hold(no_ruff: Ruff, project: Path) -> None:
    case = FindingCase(project / "a.py", "pi = 3\nx = pi\n", "pi", "Undefined name `pi`", "F821", 1)
    assert await case.outdated(no_ruff) == ""


UNUSED = "Local variable `total` is assigned to but never used"


async def test_a_binding_that_an_unknown_name_may_mean_is_not_removed(ruff: Ruff, project: Path) -> None:
    text = "def f(values):\n    total = sum(values)\n    return totl\n"
    case = FindingCase(project / "a.py", text, "total", UNUSED, "F841")
    assert await case.premature(ruff) == "`totl` on line 3 is not defined and may mean `total`; fix that first"
    case = FindingCase(project / "a.py", text.replace("totl", "width"), "total", UNUSED, "F841")
    assert await case.premature(ruff) == ""


async def test_only_a_removal_can_be_premature(ruff: Ruff, no_ruff: Ruff, project: Path) -> None:
    text = "def f(values):\n    total = sum(values)\n    return totl\n"
    assert await FindingCase(project / "a.py", text, "totl", "Undefined name `totl`", "F821").premature(ruff) == ""
    assert await FindingCase(project / "a.py", text, "total", UNUSED, "F841").premature(no_ruff) == ""
    assert (
        await FindingCase(project / "a.js", "let total = 1;\nf(totl);\n", "total", "'total' is unused").premature(ruff)
        == ""
    )

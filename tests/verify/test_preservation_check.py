"""An edit keeps the code that its finding is not about."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.preservation.preservation_check import PreservationCheck
from tests.verify.single_change import check_change, judge_repair

EXTENSIONS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "csharp": "cs",
    "php": "php",
    "ruby": "rb",
    "c": "c",
    "tsx": "tsx",
}


async def judge_edit(
    language: str, before: str, after: str, message: str, code: str = "", *, about: str = ""
) -> Outcome:
    """Return the outcome for a finding at the first place of `about` in the text before."""
    file = Path(f"/p/a.{EXTENSIONS[language]}")
    at = before.encode().find(about.encode()) if about else 0
    return await judge_repair(
        file, language, before, after, Finding(at, at + len(about.encode()), message, "tool", code)
    )


UNKNOWN = "Undefined name `valeus`"

LOST = [
    ("python", "total = sum(valeus)\n", "total = 0\n", "drops the call `sum()`"),
    ("python", "return_it = valeus[1]\n", "return_it = None\n", "drops"),
    ("python", "x = f(valeus, 3)\n", "x = f(values)\n", "`3`"),
    ("python", "x = valeus  # keep me\n", "x = values\n", "the comment `# keep me`"),
    ("python", "@cached\ndef f():\n    return valeus\n", "def f():\n    return values\n", "`cached`"),
    ("python", "def f():\n    raise valeus('a')\n", "def f():\n    return values('a')\n", "`raise`"),
    ("python", "async def f():\n    await valeus()\n", "async def f():\n    values()\n", "`await`"),
    ("python", "print(valeus)\n", "print(path)\n", "replaces `valeus` by `path`"),
    ("python", "x = valeus - 1\n", "x = values + 1\n", "`-`"),
    ("python", "x = f(a, valeus)\n", "x = f(values, a)\n", ""),
    ("python", "x = valeus\n", "import os\nx = valeus\n", "adds"),
    ("python", "x = valeus\n", "valeus = 0\nx = valeus\n", "adds"),
    ("python", "x = valeus\n", "# x = valeus\n", "drops"),
    ("javascript", "let t = sum(valeus) * 2;\n", "let t = 0;\n", "the call `sum()`"),
    ("typescript", "const t: number = sum(valeus);\n", "const t: number = 0;\n", "the call `sum()`"),
    ("go", "func f() int { return sum(valeus) }\n", "func f() int { return 0 }\n", "the call `sum()`"),
    ("rust", 'fn f() { println!("{}", valeus); }\n', "fn f() { let mut count = 0; }\n", "drops"),
    (
        "java",
        "class A { int f() { return sum(valeus); } }\n",
        "class A { int f() { return 0; } }\n",
        "the call `sum()`",
    ),
    ("csharp", "class A { int F() { return Sum(valeus); } }\n", "class A { int F() { return 0; } }\n", "drops"),
    ("php", "<?php $t = sum($valeus);\n", "<?php $t = 0;\n", "drops"),
    ("ruby", "t = sum(valeus)\n", "t = 0\n", "drops"),
    ("ruby", "f(@valeus)\n", "f(values)\n", "another thing"),
    ("ruby", "f(@valeus)\n", "f($values)\n", "another thing"),
    ("csharp", "class A { valeus x; }\n", "using System.Linq;\nclass A { valeus x; }\n", "adds"),
    ("go", "package m\n\nfunc f() {\n\tx = valeus\n}\n", "package m\n\nfunc f() {\n\tx := valeus\n}\n", "drops"),
]


@pytest.mark.parametrize(("language", "before", "after", "said"), LOST)
async def test_code_that_the_finding_is_not_about_must_stay(language: str, before: str, after: str, said: str) -> None:
    outcome = await judge_edit(language, before, after, UNKNOWN, about="valeus")
    assert outcome.status == "failed"
    assert said in outcome.findings[0].message


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("python", "total = sum(valeus)\n", "total = sum(values)\n"),
        (
            "python",
            "class A:\n    def f(self):\n        return valeus\n",
            "class A:\n    def f(self):\n        return self.valeus\n",
        ),
        ("python", "import os\n\nx = valeus.a\n", "import os\nimport valeus\n\nx = valeus.a\n"),
        ("python", "x = valeus()\n", "from lib import valeus\n\nx = valeus()\n"),
        ("javascript", "f(valeus);\n", "f(values);\n"),
        ("javascript", "f(valeus);\n", "import { valeus } from './a';\nf(valeus);\n"),
        ("typescript", "const a: valeus = 1;\n", "const a: Values = 1;\n"),
        (
            "go",
            'package m\n\nimport "os"\n\nvar x = valeus.A\n',
            'package m\n\nimport (\n\t"os"\n\t"a/valeus"\n)\n\nvar x = valeus.A\n',
        ),
        ("rust", "fn f() { valeus(); }\n", "use a::valeus;\nfn f() { valeus(); }\n"),
        ("java", "class A { int x = valeus; }\n", "class A { int x = values; }\n"),
        ("csharp", "class A { int x = valeus; }\n", "class A { int x = Values; }\n"),
        ("php", "<?php f($valeus);\n", "<?php f($values);\n"),
        ("ruby", "f(valeus)\n", "f(values)\n"),
        ("ruby", "f(valeus)\n", "require 'valeus'\nf(valeus)\n"),
        ("ruby", "f(valeus)\n", "f(@valeus)\n"),
        ("php", "<?php f(valeus);\n", "<?php f($valeus);\n"),
        (
            "go",
            "package m\n\nfunc f() int {\n\tvaleus = 1\n\treturn valeus\n}\n",
            "package m\n\nfunc f() int {\n\tvaleus := 1\n\treturn valeus\n}\n",
        ),
    ],
)
async def test_a_misspelt_name_is_respelt_reached_or_imported(language: str, before: str, after: str) -> None:
    outcome = await judge_edit(language, before, after, UNKNOWN, about="valeus")
    assert outcome == Outcome("kept", "passed", ms=outcome.ms), outcome.findings


@pytest.mark.parametrize(
    ("language", "name", "before", "after", "status"),
    [
        (
            "csharp",
            "List",
            "class A { List<int> x; }\n",
            "using System.Collections.Generic;\nclass A { List<int> x; }\n",
            "passed",
        ),
        ("csharp", "List", "class A { List<int> x; }\n", "using System.Linq;\nclass A { List<int> x; }\n", "failed"),
        (
            "c",
            "strlen",
            "int f(char *a) { return strlen(a); }\n",
            "#include <string.h>\nint f(char *a) { return strlen(a); }\n",
            "passed",
        ),
        (
            "c",
            "strlen",
            "int f(char *a) { return strlen(a); }\n",
            "#include <stdio.h>\nint f(char *a) { return strlen(a); }\n",
            "failed",
        ),
    ],
)
async def test_a_whole_module_is_imported_if_it_exports_the_name(
    language: str, name: str, before: str, after: str, status: str
) -> None:
    outcome = await judge_edit(language, before, after, f"The name '{name}' does not exist", about=name)
    assert outcome.status == status


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("javascript", "f(a, b;\n", "f(a, b);\n"),
        ("javascript", "retrun a;\n", "return a;\n"),
        ("typescript", 'const c = { a: "x",\n  b: 1\n  d: 2 };\n', 'const c = { a: "x",\n  b: 1,\n  d: 2 };\n'),
        ("tsx", "const a = <p>{b};\n", "const a = <p>{b}</p>;\n"),
        ("python", "if x:\n    y()\nelse if z:\n    y()\n", "if x:\n    y()\nelif z:\n    y()\n"),
        ("python", "if x\n    y()\n", "if x:\n    y()\n"),
        ("python", "x = 'a\n", "x = 'a'\n"),
        ("python", "if x = 1:\n    y()\n", "if x == 1:\n    y()\n"),
        ("ruby", "def f\n  1\n", "def f\n  1\nend\n"),
        ("ruby", "def f\n  1\nend\nend\n", "def f\n  1\nend\n"),
        ("python", "values = []\nx = lenvalues)\n", "values = []\nx = len(values)\n"),
        ("go", "x := r(regs19])\ny := regs\n", "x := r(regs[19])\ny := regs\n"),
        ("go", 'fmt.Println("n is", n\n', 'fmt.Println("n is", n)\n'),
        ("java", "int x = 1\n", "int x = 1;\n"),
    ],
)
async def test_a_repair_of_a_syntax_error_may_replace_one_sign(language: str, before: str, after: str) -> None:
    outcome = await judge_edit(language, before, after, "unexpected", "syntax")
    assert outcome.status == "passed", outcome.findings


@pytest.mark.parametrize(
    ("language", "before", "after", "said"),
    [
        ("ruby", "x = [1].inject(:sum))\n", "x = [1].i(nject(:sum))\n", "tears `inject` apart"),
        ("javascript", "return p.reduce(f, 0) * (1 + tax;\n", "let total = 0;\n", ""),
        ("go", 'fmt.Println("n is", n\n', "fmt.Println(n)\n", "drops"),
        ("typescript", "a = { b: 8080\n  retries: 3 };\n", "a = { b: 8080\n  retries: 2 };\n", "drops `3`"),
        ("python", "x = (1\n", "# x = (1\n", "adds `#`"),
        ("python", "x = a b\n", 'x = "a b"\n', "puts code into a string"),
        ("python", "x = a b\n", "x = a + b\n", "adds `+`"),
        ("python", "x = len(values\n", "x = lenvalues\n", "drops"),
        ("python", "def f(\n    return 1\n", "def f():\n    pass\n", "drops"),
    ],
)
async def test_a_syntax_error_costs_no_code(language: str, before: str, after: str, said: str) -> None:
    outcome = await judge_edit(language, before, after, "unexpected", "syntax")
    assert outcome.status == "failed"
    assert said in outcome.findings[0].message


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("import json\nimport os\nos.f()\n", "import os\nos.f()\n", None),
        ("from a import b, json\nb()\n", "from a import b\nb()\n", None),
        ("from a import b, json\n", "", "drops `b`"),
        ("def f():\n    json = g()\n", "def f():\n    g()\n", None),
        ("def f():\n    json = 1\n    return 2\n", "def f():\n    return 2\n", None),
        ("def f():\n    json = g()\n", "def f():\n    pass\n", "drops the call `g()`"),
        ("def f(json):\n    return 1\n", "def f(_json):\n    return 1\n", None),
        ("import json  # noqa: used by plugins\n", "", "the comment"),
        ("import json\n", "import yaml\n", "adds"),
    ],
)
async def test_only_the_unused_binding_may_be_removed(before: str, after: str, said: str | None) -> None:
    outcome = await judge_edit("python", before, after, "`json` is never used", about="json")
    assert outcome.status == ("passed" if said is None else "failed"), outcome.findings
    assert said is None or said in outcome.findings[0].message


async def test_a_rule_about_an_operator_keeps_the_operands() -> None:
    message = "Comparison to `None` should be `cond is None`"
    assert (
        await judge_edit("python", "x = f(a) == None\n", "x = f(a) is None\n", message, about="None")
    ).status == "passed"
    outcome = await judge_edit("python", "x = f(a) == None\n", "x = True\n", message, about="None")
    assert outcome.status == "failed"


async def test_a_rewrite_names_the_code_that_it_drops() -> None:
    document = Document.from_text("file:///p/a.py", "x = f(1)  # why\n", language="python")
    change = Change.from_documents(document, Document.from_text(document.uri, "x = 2\n"), Path("/p/a.py"))
    outcome = await check_change(PreservationCheck(), change)
    assert (outcome.status, outcome.reason) == (
        "skipped",
        "the new code drops the call `f()`, `1` and the comment `# why`",
    )
    kept = Change.from_documents(
        document, Document.from_text(document.uri, "y = 1\nx = f(1)  # why\n"), Path("/p/a.py")
    )
    assert (await check_change(PreservationCheck(), kept)).status == "passed"


async def test_without_a_grammar_the_check_is_skipped() -> None:
    document = Document.from_text("file:///p/a.xyz", "x")
    outcome = await check_change(
        PreservationCheck(), Change.from_documents(document, Document.from_text(document.uri, "y"), Path("/p/a.xyz"))
    )
    assert (outcome.status, outcome.reason) == ("skipped", "no grammar for .xyz")


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("x = add(None, schema)\n", ""),
        ("x = add(int(schema), None)\n", ""),
        ("x = schema.add(None)\n", "adds `.`"),
        ("import node\nx = add(schema, None)\n", "adds"),
        ("x = add(None)\n", "drops `schema`"),
    ],
)
async def test_arguments_change_places_or_are_wrapped(after: str, said: str) -> None:
    message = 'Argument of type "Schema" cannot be assigned to parameter "node" of type "Node"'
    outcome = await judge_edit("python", "x = add(schema, None)\n", after, message, about="schema")
    assert outcome.status == ("failed" if said else "passed"), outcome
    assert not said or said in outcome.findings[0].message

"""The lines about the packages that new code uses."""

from pathlib import Path

import pytest

from lsp_harness.context.lookup.package_documentation import MAX_LINE_CHARS, describe_package_uses
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.text.document import Document
from tests.knowledge.packages import REQUESTS, SITE, install, make_venv, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    install(make_venv(tmp_path), "requests", "2.32.3", REQUESTS)
    return tmp_path


def describe(root: Path, before: str, part: str, name: str = "a.py") -> list[str]:
    document = Document.from_text((root / name).as_uri(), f"{before}{part}\n")
    return describe_package_uses(InstalledPackages({}), root, root / name, [(document, part)])


GET = "requests 2.32.3 has: get(url, params=None, **kwargs)"
NO_FETCH = "requests 2.32.3 has no fetch; it has: patch(url, data=None, **kwargs)"


@pytest.mark.parametrize(
    ("before", "part", "expected"),
    [
        ("import requests\n", "requests.get(1)", [GET]),
        ("import requests as r\n", "x = r.get(r.get(1))", [GET]),
        ("from requests import get as fetch\n", "fetch(1)", [GET]),
        ("import requests\n", "requests.get(1)\nrequests.fetch(2)", [NO_FETCH, GET]),
        ("import requests.api\n", "requests.api.get", ["requests 2.32.3 has: api.get(url, params=None, **kwargs)"]),
        (
            "from requests.api import patch\n",
            "patch()",
            ["requests 2.32.3 has in requests.api: patch(url, data=None, **kwargs)"],
        ),
        (
            "from requests import ptch\nimport requests\n",
            "ptch(1)",
            ["requests 2.32.3 has no ptch; it has: patch(url, data=None, **kwargs)"],
        ),
        (
            "import requests\n",
            "s = requests.Session(1)\ns.gett(2)",
            [
                'requests 2.32.3 has no Session.gett; it has: Session.get(self, url, *, sep="#") -> "Response"',
                "requests 2.32.3 has: Session(adapter=None, *, retries: int = 3)",
            ],
        ),
        (
            "import requests\n",
            "with requests.Session() as s:\n    s.resolve()",
            [
                "requests 2.32.3 has: Session(adapter=None, *, retries: int = 3)",
                "requests 2.32.3 has: Session.resolve(self, a: int)",
            ],
        ),
        # what a function gives has no type that we know; the function is told of
        ("import requests\n", "requests.get.text", [GET]),
        ("import requests\n", "x = 'requests.get'", []),
        ("import requests\n", "other.requests.get", []),
        ("import requests\n", "requests", []),
        ("import flask\nfrom .requests import get\nfrom . import requests\n", "flask.run()\nget()\nrequests.get()", []),
        ("", "requests.get()", []),
    ],
)
def test_the_names_behind_an_import(root: Path, before: str, part: str, expected: list[str]):
    assert describe(root, before, part) == expected


def test_three_names_at_most_and_lines_that_are_not_long(root: Path):
    many = "".join(f"def f{n}({', '.join(f'argument_{m}' for m in range(40))}): ...\n" for n in range(5))
    install(root / SITE, "wide", "1", {"wide.py": many})
    lines = describe(root, "import wide\n", " + ".join(f"wide.f{n}()" for n in range(5)))
    assert [line[:12] for line in lines] == ["wide 1 has: " for _ in range(3)]
    assert [len(line) for line in lines] == [MAX_LINE_CHARS] * 3


def test_the_first_of_several_signatures_is_marked_as_the_first(root: Path):
    stub = "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\n"
    install(root / SITE, "Two-Ways", "1", {"ways.pyi": stub, "ways.py": "def f(a): ...\n"})
    assert describe(root, "import ways\n", "ways.f()") == [
        "Two-Ways 1 has in ways: f(a: int) -> int (the first of 2 signatures)"
    ]


@pytest.mark.parametrize(
    ("before", "part"),
    [
        ("import { pad } from 'pad';\n", "pad(1)"),
        ("import * as all from 'pad';\n", "all.pad(1)"),
        ("import all from 'pad';\n", "all.pad(1)"),
        ("const { pad: it } = require('pad');\n", "it(1)"),
        ("const all = require('pad');\n", "all.pad(1)"),
    ],
)
def test_javascript_and_typescript_imports_lead_to_documentation(root: Path, before: str, part: str):
    write(
        root,
        {
            "node_modules/pad/package.json": '{"version": "1.2.0"}',
            "node_modules/pad/index.d.ts": "export function pad(text: string): string;\n",
        },
    )
    for name in ("a.ts", "a.js"):
        assert describe(root, before, part, name) == ["pad 1.2.0 has: pad(text: string): string"]


def test_go_and_rust(root: Path):
    write(
        root,
        {
            "go.mod": "module me\nrequire x.org/go-pad/v2 v2.1.0\n",
            "vendor/x.org/go-pad/v2/p.go": "package pad\nfunc Pad(text string) string {}\n",
            "Cargo.lock": '[[package]]\nname = "pad"\nversion = "0.3.0"\n',
            ".cargo/registry/src/i/pad-0.3.0/src/lib.rs": "pub mod left;\n",
            ".cargo/registry/src/i/pad-0.3.0/src/left.rs": "pub fn pad(text: &str) -> String {}\n",
        },
    )
    for name, before, part, line in (
        (
            "a.go",
            'package a\n\nimport "x.org/go-pad/v2"\n\n',
            "var x = pad.Pad(1)",
            "x.org/go-pad/v2 v2.1.0 has: Pad(text string) string",
        ),
        ("a.rs", "use pad::left;\n", "fn f() { left::pad(1); }", "pad 0.3.0 has: left.pad(text: &str) -> String"),
        ("a.rs", "use pad::left::pad as p;\n", "fn f() { p(1); }", "pad 0.3.0 has: left.pad(text: &str) -> String"),
        ("a.rs", "", "fn f() { pad::left::pad(1); }", "pad 0.3.0 has: left.pad(text: &str) -> String"),
    ):
        document = Document.from_text((root / name).as_uri(), f"{before}{part}\n")
        assert describe_package_uses(InstalledPackages({"HOME": str(root)}), root, root / name, [(document, part)]) == [
            line
        ]


def test_a_text_in_a_language_that_is_not_known_has_no_packages(root: Path):
    assert describe(root, "import requests\n", "requests.get()", "a.unknown") == []

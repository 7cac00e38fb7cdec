"""The error cache: which fixes become templates, which code they fit, and when one is dropped."""

import json
import os
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from lsp_harness.coding.repair.learned_repairs import create_report
from lsp_harness.knowledge.learned.learned_fixes import MAX_AGE_DAYS, MAX_FIXES, LearnedFixes
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply
from lsp_harness.verify.finding import Finding

NONE = "Comparison to `None` should be `cond is None`"
BARE = "Do not use bare `except`"
CALLS = "This expression is not callable. Type 'Number' has no call signatures."


def parse_text(text: str, name: str = "a.py") -> SyntaxTree:
    parsed = parse(Document.from_text(f"file:///{name}", text, version=1))
    assert parsed
    return parsed


def make_finding(text: str, at: str, message: str) -> Finding:
    start = text.encode().index(at.encode())
    return Finding(start, start + len(at.encode()), message, "Tool", "C1")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LearnedFixes:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    return LearnedFixes(project)


def learn(cache: LearnedFixes, old: str, at: str, message: str, new: str, name: str = "a.py") -> bool:
    before = parse_text(old, name)
    return cache.learn(create_report(make_finding(old, at, message), before), before, parse_text(new, name))


def reuse_fix(cache: LearnedFixes, text: str, at: str, message: str, name: str = "b.py") -> str:
    """Return the text after the best fix of the cache, or an empty text without one."""
    parsed = parse_text(text, name)
    offers = cache.find(create_report(make_finding(text, at, message), parsed), parsed)
    return apply(parsed.data, offers[0][1]).decode() if offers else ""


CASES = {
    "python, a token": (
        ("def f(a):\n    return a == None\n", "None", NONE, "def f(a):\n    return a is None\n", "a.py"),
        ("class X:\n    def g(self, other):\n        if other == None:\n            pass\n", "None", NONE, "b.py"),
        "class X:\n    def g(self, other):\n        if other is None:\n            pass\n",
    ),
    "python, new lines with their indentation, CRLF": (
        (
            "def f(a=[]):\n    return a\n",
            "[]",
            "mutable default",
            "def f(a=None):\n    if a is None:\n        a = []\n    return a\n",
            "a.py",
        ),
        ("class X:\r\n    def g(self, bb=[]):\r\n        return bb\r\n", "[]", "mutable default", "b.py"),
        "class X:\n    def g(self, bb=None):\n        if bb is None:\n            bb = []\n        return bb\n".replace(
            "\n", "\r\n"
        ),
    ),
    "python, a syntax error": (
        ("def f(x):\n    print x\n", "print x", "Missing parentheses", "def f(x):\n    print(x)\n", "a.py"),
        ("def g(yy):\n    if yy:\n        print yy\n", "print yy", "Missing parentheses", "b.py"),
        "def g(yy):\n    if yy:\n        print(yy)\n",
    ),
    "typescript, a removal": (
        ("f(items.length() > 0);\n", "length", CALLS, "f(items.length > 0);\n", "a.ts"),
        ("const n = names.length() > 77;\n", "length", CALLS, "b.ts"),
        "const n = names.length > 77;\n",
    ),
    "go, new statements and a name that only the message quotes": (
        (
            "package a\n\nfunc f() error {\n\tv := g()\n\treturn v\n}\n",
            "g()",
            "assignment mismatch: 1 variable but g returns 2 values",
            "package a\n\nfunc f() error {\n\tv, err := g()\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn v\n}\n",
            "a.go",
        ),
        (
            "package b\n\nfunc ff() error {\n\tfor {\n\t\twx := hh()\n\t\treturn wx\n\t}\n}\n",
            "hh()",
            "assignment mismatch: 1 variable but hh returns 2 values",
            "b.go",
        ),
        """\
package b

func ff() error {
	for {
		wx, err := hh()
		if err != nil {
			return err
		}
		return wx
	}
}
""",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_fix_is_repeated_in_another_file_with_other_names(cache: LearnedFixes, case: str) -> None:
    learned, (text, at, message, name), expected = CASES[case]
    assert learn(cache, *learned)
    assert reuse_fix(LearnedFixes(cache.shared_file.parent.parent), text, at, message, name) == expected


@pytest.mark.parametrize(
    ("text", "at", "message", "name"),
    [
        ("x = y == 5\n", "5", NONE, "b.py"),  # another literal than that of the message
        ("x = y != None\n", "None", NONE, "b.py"),  # another operator
        ("x = y == None\n", "None", "Another message", "b.py"),
        ("const x = y == None\n", "None", NONE, "b.js"),  # another language
    ],
)
def test_other_code_and_other_errors_are_not_touched(
    cache: LearnedFixes, text: str, at: str, message: str, name: str
) -> None:
    assert learn(cache, *CASES["python, a token"][0])
    assert reuse_fix(cache, text, at, message, name) == ""


def test_a_fix_of_an_unknown_name_is_for_this_name_only(cache: LearnedFixes) -> None:
    message = "Undefined name `{}`"
    assert learn(cache, "x = np.array(1)\n", "np", message.format("np"), "import numpy as np\nx = np.array(1)\n")
    assert reuse_fix(cache, "y = np.zeros(1)\n", "np", message.format("np")) == "import numpy as np\ny = np.zeros(1)\n"
    assert reuse_fix(cache, "y = pd.zeros(1)\n", "pd", message.format("pd")) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("key = None == a\n", f"key = '{'sk-' + 'live1234567890abcdefghij' * 2}'\n"),  # a secret
        ("x = a == None\n", "x = (  # why\n    a is None)\n"),
        ("if a:\n    x = a == None\n", "if a:\n    x = a\nb = None\n"),  # moves code outwards
        ("x = a == None\n", "x = a is None" + " and a is None" * 40 + "\n"),  # too long
    ],
)
def test_a_fix_with_a_secret_or_comment_or_of_another_block_is_not_learned(
    cache: LearnedFixes, old: str, new: str
) -> None:
    assert not learn(cache, old, "None", NONE, new)
    assert not cache.file.exists()


def test_a_comment_beside_replaced_code_stays(cache: LearnedFixes) -> None:
    assert learn(
        cache, "try:\n    f()\nexcept:\n    pass\n", "except", BARE, "try:\n    f()\nexcept Exception:\n    pass\n"
    )
    text = "try:\n    f()\nexcept:  # for all\n    pass\n"
    assert reuse_fix(cache, text, "except", BARE) == text.replace("except:", "except Exception:")


def test_a_template_that_fails_twice_is_dropped_until_it_is_learned_again(cache: LearnedFixes) -> None:
    learned, (text, at, message, _), _ = CASES["python, a token"]
    assert learn(cache, *learned)
    [fix] = cache.usable()
    cache.record(fix.template.id, is_passed=False)
    assert reuse_fix(cache, text, at, message)
    cache.record(fix.template.id, is_passed=False)
    assert (cache.usable(), reuse_fix(cache, text, at, message)) == ([], "")
    assert learn(cache, *learned)
    assert reuse_fix(cache, text, at, message)


def test_a_template_with_more_successes_than_failures_stays(cache: LearnedFixes) -> None:
    assert learn(cache, *CASES["python, a token"][0])
    [fix] = cache.usable()
    for is_passed in (True, True, False, False):
        cache.record(fix.template.id, is_passed=is_passed)
    [fix] = cache.usable()
    assert (fix.tried, fix.passed, fix.failed) == (4, 2, 2)


def test_old_templates_and_those_beyond_the_limit_are_forgotten(cache: LearnedFixes) -> None:
    assert learn(cache, *CASES["python, a token"][0])
    [fix] = cache.usable()
    now = time()
    days = [0, MAX_AGE_DAYS - 1, MAX_AGE_DAYS + 1]
    lines = [
        replace(
            fix, template=replace(fix.template, signature=("tool", "C1", str(day))), last_used_s=now - day * 86_400
        ).to_json()
        for day in days
    ]
    cache.file.write_text("\n".join([*lines, "no json", '{"template":{"tokens":5}}', "[]"]))
    assert sorted(fix.template.signature[2] for fix in cache.usable()) == ["0", str(MAX_AGE_DAYS - 1)]
    many = [
        replace(fix, template=replace(fix.template, signature=("tool", "C1", f"m{number}")), last_used_s=now - number)
        for number in range(MAX_FIXES + 5)
    ]
    cache.file.write_text("\n".join(fix.to_json() for fix in many))
    cache.record(many[0].template.id, is_passed=True)
    assert len(cache.file.read_text().splitlines()) == MAX_FIXES


def test_the_file_of_the_project_is_shared_and_its_failures_are_recorded(
    cache: LearnedFixes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned, (text, at, message, _), expected = CASES["python, a token"]
    assert learn(cache, *learned)
    [fix] = cache.usable()
    cache.record(fix.template.id, is_passed=True)
    assert cache.share() == 1
    [line] = cache.shared_file.read_text().splitlines()
    assert json.loads(line)["error"] == ["tool", "C1", "Comparison to `_` should be `cond is _`"]
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home of a colleague"))
    colleague = LearnedFixes(cache.shared_file.parent.parent)
    assert reuse_fix(colleague, text, at, message) == expected
    for _ in range(2):
        colleague.record(fix.template.id, is_passed=False)
    assert reuse_fix(colleague, text, at, message) == ""
    assert colleague.clear() == 1
    assert reuse_fix(colleague, text, at, message) == expected
    assert len(cache.shared_file.read_text().splitlines()) == 1


def test_the_file_of_the_user_is_private_and_has_no_text_of_the_code(cache: LearnedFixes) -> None:
    assert learn(
        cache,
        "def open_vault(password):\n    return password == None\n",
        "None",
        NONE,
        "def open_vault(password):\n    return password is None\n",
    )
    assert os.stat(cache.file).st_mode & 0o077 == 0
    assert "password" not in cache.file.read_text()
    assert cache.clear() == 1
    assert not cache.file.exists()


def test_damaged_lines_and_forged_records_of_the_project_are_ignored(
    cache: LearnedFixes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned, (text, at, message, _), expected = CASES["python, a token"]
    assert learn(cache, *learned)
    [fix] = cache.usable()
    damaged = json.loads(fix.template.to_json()) | {"borders": []}
    forged = replace(fix, passed=1000, last_used_s=time() * 2).to_json()
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home of a colleague"))
    cache.shared_file.parent.mkdir()
    cache.shared_file.write_text(f"{json.dumps(damaged)}\n{forged}\n")
    colleague = LearnedFixes(cache.shared_file.parent.parent)
    assert [(found.passed, found.last_used_s, found.is_shared) for found in colleague.usable()] == [(0, 0.0, True)]
    assert reuse_fix(colleague, text, at, message) == expected

"""Rules: what they match, and that a rule that denies never permits more."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.permission.action import Action
from lsp_harness.permission.glob_patterns import matches, may_match
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.rules import Rule, parse_rule
from lsp_harness.syntax.shell.shell_words import UNKNOWN
from tests.permission.gates import (
    edit,
    make_bash_action,
    make_fetch_action,
    make_rules,
    policy,
    read,
    read_command_lines,
)

ROOT = Path("/work-of-a-test/project")
ORDER = {"deny": 0, "ask": 1, "allow": 2}


def explain_verdict(active: tuple[Rule, ...], action: Action, mode: str = "ask") -> str:
    found = Gate(policy(ROOT, mode, active)).explain(action)  # type: ignore[arg-type]
    return found.decision.verdict if found.decision else "ask"


@pytest.mark.parametrize(
    ("pattern", "text", "certain", "possible"),
    [
        ("*", "", True, True),
        ("a*", "abc", True, True),
        ("a?c", "abc", True, True),
        ("a?c", "ac", False, False),
        ("*b*", "abc", True, True),
        ("git push *", f"git {UNKNOWN}", False, True),
        ("git *", f"git {UNKNOWN}", True, True),
        ("rm *", f"git {UNKNOWN}", False, False),
        ("git ?ush", f"git {UNKNOWN}ush", False, True),
        ("a*b*c", f"a{UNKNOWN}c", False, True),
        ("abc", f"{UNKNOWN}", False, True),
        ("abc", f"x{UNKNOWN}", False, False),
        ("", UNKNOWN, False, True),
        ("a" * 30 + "*" + "b" * 30, "a" * 40, False, False),
    ],
)
def test_a_pattern_matches_the_expected_texts(pattern: str, text: str, certain: bool, possible: bool) -> None:
    assert (matches(pattern, text), may_match(pattern, text)) == (certain, possible)


def test_a_pattern_with_many_stars_is_quick() -> None:
    assert not matches("*a" * 200, "a" * 150 + "b" * 5000)
    assert not may_match("*a" * 200, "b" * 2000 + UNKNOWN + "b")


small = st.text(alphabet="ab*?", max_size=6)


@given(small, st.text(alphabet="ab" + UNKNOWN, max_size=6), st.text(alphabet="ab", max_size=3))
def test_the_possible_matches_contain_each_text_that_matches(pattern: str, text: str, value: str) -> None:
    if matches(pattern, text.replace(UNKNOWN, value)):
        assert may_match(pattern, text)
    if matches(pattern, text):
        assert matches(pattern, text.replace(UNKNOWN, value)) or "?" in pattern


@pytest.mark.parametrize(
    ("rule", "action", "expected"),
    [
        ("Bash", make_bash_action("make"), "allow"),
        ("bash", make_bash_action("make"), "allow"),
        ("BASH(make)", make_bash_action("make"), "allow"),
        ("Bash(make)", make_bash_action("make x"), "ask"),
        ("Bash(make *)", make_bash_action("make"), "allow"),
        ("Bash(make:*)", make_bash_action("make x"), "allow"),
        ("Bash(make*)", make_bash_action("makefoo"), "allow"),
        ("Bash(make *)", make_bash_action("makefoo"), "ask"),
        ("Bash(make *)", make_bash_action("/usr/bin/make x"), "allow"),
        ("Bash(make *)", make_bash_action("./make x"), "ask"),
        ("Bash(make *)", make_bash_action("/usr/bin/../../tmp/make x"), "ask"),
        ("Bash(./make *)", make_bash_action("./make x"), "allow"),
        ("Bash(make *)", make_bash_action("make x; touch y"), "ask"),
        ("Bash(make *)", make_bash_action("make x > out.txt"), "ask"),
        ("Bash(make *)", make_bash_action("make $X"), "ask"),
        ("Bash(pytest *)", make_bash_action("pytest $X"), "allow"),
        ("Bash(make x)", make_bash_action("make $X"), "ask"),
        ("Bash(*)", make_bash_action("eval make"), "ask"),
        ("Bash", make_bash_action("eval make"), "ask"),
        ("Bash(make *)", Action("bash", "execute", argv=("make", "x; touch y")), "allow"),
        ("Bash(make *)", Action("runner", "execute", argv=("make",)), "ask"),
        ("runner(make *)", Action("runner", "execute", argv=("make",)), "allow"),
        ("Edit", edit(ROOT / "a.py"), "allow"),
        ("Edit(*)", edit(ROOT / "a.py"), "allow"),
        ("Edit(a.py)", edit(ROOT / "src/a.py"), "allow"),
        ("Edit(src/*)", edit(ROOT / "src/x/a.py"), "allow"),
        ("Edit(src/**)", edit(ROOT / "src/x/a.py"), "allow"),
        ("Edit(**/a.py)", edit(ROOT / "a.py"), "allow"),
        ("Edit(./src/*)", edit(ROOT / "src/a.py"), "allow"),
        ("Edit(src/*)", edit(ROOT / "src/../b.py"), "ask"),
        ("Edit(src)", edit(ROOT / "src/a.py"), "ask"),
        (f"Edit({ROOT}/src/*)", edit(ROOT / "src/a.py"), "allow"),
        ("Write(a.py)", edit(ROOT / "a.py"), "ask"),
        ("webfetch(https://example.com/*)", make_fetch_action("https://example.com/a"), "allow"),
        ("webfetch(https://example.com/*)", make_fetch_action("https://evil.com/?https://example.com/"), "ask"),
        ("mcp__a__*", Action("mcp__a__b", "network"), "allow"),
        ("mcp__a__*", Action("mcp__ab__b", "network"), "ask"),
        ("*", Action("mcp__a__b", "network"), "allow"),
        ("Read(/etc/*)", read(Path("/etc/hosts")), "allow"),
    ],
)
def test_a_rule_that_allows_is_strict(rule: str, action: Action, expected: str) -> None:
    assert explain_verdict(make_rules([rule]), action) == expected


@pytest.mark.parametrize(
    ("rule", "action", "expected"),
    [
        ("Bash(make *)", make_bash_action("./MAKE x"), "deny"),
        ("Bash(make *)", make_bash_action("ls; make"), "deny"),
        ("Bash(make *)", Action("runner", "execute", argv=("make", "x")), "deny"),
        ("Bash(make *)", Action("runner", "execute", command="make"), "deny"),
        ("Bash(make *)", make_bash_action("eval make"), "deny"),
        ("Bash(make *)", make_bash_action("eval $x"), "ask"),
        ("Bash(git push *)", make_bash_action("git --no-pager -C x push"), "deny"),
        ("Bash(git push *)", make_bash_action("git log push"), "allow"),
        ("Bash(git push *)", make_bash_action("git stash push"), "allow"),
        ("Bash(git push *)", make_bash_action("git $x"), "ask"),
        ("Bash(git push *)", make_bash_action("git log $x"), "allow"),
        ("Edit(src/*)", edit(ROOT / "SRC/a.py"), "deny"),
        ("Edit(src)", edit(ROOT / "src/x/a.py"), "deny"),
        ("Edit(src/**)", edit(ROOT / "src"), "deny"),
        ("Edit(*.lock)", edit(ROOT / "x/y.lock"), "deny"),
        ("Edit(src/*)", edit(ROOT / "x/../src/a.py"), "deny"),
        ("Edit(src/*)", Action("rename_symbol", "edit", paths=(ROOT / "b.py", ROOT / "src/a.py")), "deny"),
        ("Write(src/*)", edit(ROOT / "src/a.py"), "deny"),
        ("Edit(src/*)", make_bash_action("echo x > src/a.py"), "deny"),
        ("Edit(src/*)", read(ROOT / "src/a.py"), "allow"),
        ("Read(src/*)", Action("grep", "read", paths=(ROOT / "src/a.py",)), "deny"),
        ("Read(src/*)", make_bash_action("wc < src/a.py"), "deny"),
        ("webfetch(*evil.com*)", make_fetch_action("https://evil.com/x"), "deny"),
        ("agent", Action("agent", "agent"), "deny"),
        ("task", Action("spawn", "agent"), "deny"),
    ],
)
def test_a_rule_that_denies_is_generous(rule: str, action: Action, expected: str) -> None:
    assert explain_verdict(make_rules((), (), [rule]), action, "trust") == expected


def test_the_most_restrictive_rule_of_all_parts_decides() -> None:
    active = make_rules(["Bash(*)"], ["Bash(make *)"], ["Bash(touch *)"])
    commands = ["flake8", "flake8 && make", "make && flake8", "make; touch x", "touch x; make", "flake8 | make"]
    assert [explain_verdict(active, make_bash_action(text)) for text in commands] == [
        "allow",
        "ask",
        "ask",
        "deny",
        "deny",
        "ask",
    ]


@pytest.mark.parametrize("text", ["", "  ", "Bash(", "Bash)", "(x)", "Bash()", "a b", "Bash(x) y"])
def test_a_text_that_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a rule|has an empty pattern"):
        parse_rule(text, "allow")


COMMANDS = [*read_command_lines("hostile_commands.txt"), *read_command_lines("harmless_commands.txt")]
actions = st.one_of(
    st.sampled_from(COMMANDS).map(make_bash_action),
    st.tuples(st.sampled_from(COMMANDS), st.sampled_from(COMMANDS)).map(lambda pair: make_bash_action("; ".join(pair))),
    st.sampled_from(["a.py", "src/a.py", ".env", "../x", ".git/x", "src/../a.py"]).map(lambda name: edit(ROOT / name)),
    st.sampled_from(["a.py", "src/a.py", ".env", "../x", ".git/x"]).map(lambda name: read(ROOT / name)),
    st.just(make_fetch_action("https://example.com")),
)
texts = st.sampled_from(
    [
        *("*", "Bash", "Bash(*)", "Bash(rm *)", "Bash(git *)", "Bash(git push *)", "Bash(pytest *)", "Edit"),
        *("Edit(src/*)", "Edit(*.py)", "Read", "Read(src/*)", "webfetch", "mcp__*", "Bash(ls *)", "Bash(* x)"),
        "Bash(?s)",
    ]
)
lists = st.lists(texts, max_size=3)
modes = st.sampled_from(["ask", "trust", "deny", "acceptEdits", "plan", "auto", "bypassPermissions"])


@settings(max_examples=300, deadline=None)
@given(lists, lists, lists, texts, modes, actions)
def test_an_additional_rule_that_denies_or_asks_never_permits_more(
    allow: list[str], ask: list[str], deny: list[str], more: str, mode: str, action: Action
) -> None:
    before = ORDER[explain_verdict(make_rules(allow, ask, deny), action, mode)]
    assert ORDER[explain_verdict(make_rules(allow, ask, [*deny, more]), action, mode)] <= before
    assert ORDER[explain_verdict(make_rules(allow, [*ask, more], deny), action, mode)] <= before
    assert ORDER[explain_verdict(make_rules([*allow, more], ask, deny), action, mode)] >= before

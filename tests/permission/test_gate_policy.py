"""The policy that is made from settings: examples of rules, rules that are not valid, hooks, and added rules."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.load import load
from lsp_harness.config.permission_schema import HookSetting, HookSettings, Permissions, RuleSetting
from lsp_harness.config.schema import Config
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import make_hooks, make_policy, parse_tools
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.settings_file import add_allow_rules
from tests.permission.gates import edit, make_bash_action


def policy_of(root: Path, **permissions: object):
    return make_policy(Config(permissions=Permissions(**permissions)), [root], "trust")  # type: ignore[arg-type]


async def read_verdict(root: Path, action: Action, **permissions: object) -> str:
    return (await Gate(policy_of(root, **permissions)[0]).check(action)).by


def test_the_mode_of_the_settings_wins_over_the_mode_of_the_surface(tmp_path: Path) -> None:
    assert policy_of(tmp_path)[0].mode == "trust"
    assert policy_of(tmp_path, mode="plan")[0].mode == "plan"
    assert policy_of(tmp_path, callback_timeout_s=5.0)[0].callback_timeout_s == 5.0


async def test_the_lists_become_rules(tmp_path: Path) -> None:
    lists = {"allow": ("Bash(make *)",), "deny": ("Bash(make x)",), "ask": ("Edit(a.py)",)}
    assert await read_verdict(tmp_path, make_bash_action("make y"), **lists) == "rule"
    assert await read_verdict(tmp_path, make_bash_action("make x"), **lists) == "rule"
    assert await read_verdict(tmp_path, edit(tmp_path / "a.py"), **lists) == "nobody"
    assert await read_verdict(tmp_path, edit(tmp_path / "b.py"), **lists) == "mode"


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        (RuleSetting("deny", "Bash", "git push *", ("git push", "sudo git push x"), ("git pull", "git log push")), ""),
        (RuleSetting("allow", "Bash", "pytest *", ("pytest -q",), ("pytest; rm x", "./pytest", "eval pytest")), ""),
        (RuleSetting("ask", "Bash", "make *", ("make x",), ("cmake x", "eval x")), ""),
        (RuleSetting("deny", "Edit", "src/*", ("src/a.py", "src/../src/b.py"), ("docs/a.md",)), ""),
        (RuleSetting("deny", "Read", "~/private/*", ("~/private/x",), ("~/public",)), ""),
        (RuleSetting("deny", "webfetch", "*evil*", ("https://evil.com",), ("https://good.com",)), ""),
        (
            RuleSetting("deny", "Bash", "git push --force *", ("git push origin",)),
            "the rule Bash(git push --force *): it must match 'git push origin' and does not",
        ),
        (
            RuleSetting("allow", "Bash", "git *", (), ("git push",)),
            "the rule Bash(git *): it must not match 'git push' and does",
        ),
        (RuleSetting("forbid", "Bash"), "the rule Bash: the decision must be allow, ask, deny, not 'forbid'"),
        (RuleSetting("deny"), "the rule without a tool: it names no tool"),
        (RuleSetting("deny", "Bash("), "the rule Bash(: 'Bash(' is not a rule"),
    ],
)
def test_examples_are_checked(tmp_path: Path, setting: RuleSetting, problem: str) -> None:
    _, problems = policy_of(tmp_path, rules=(setting,))
    assert [entry.message.startswith(problem) for entry in problems] == [True] * bool(problem), problems


async def test_a_rule_that_is_not_valid_never_permits_more(tmp_path: Path) -> None:
    wrong = ("no such command",)
    allow = (RuleSetting("allow", "Bash", "make *", wrong),)
    deny = (RuleSetting("deny", "Bash", "make *", wrong),)
    ask = (RuleSetting("ask", "Bash", "make *", wrong),)
    assert await read_verdict(tmp_path, make_bash_action("make x"), mode="ask", rules=allow) == "nobody"
    assert await read_verdict(tmp_path, make_bash_action("touch x"), rules=deny) == "rule"
    assert await read_verdict(tmp_path, make_bash_action("touch x"), rules=ask) == "nobody"
    assert await read_verdict(tmp_path, edit(tmp_path / "x"), rules=deny) == "mode"
    assert await read_verdict(tmp_path, edit(tmp_path / "x"), rules=(RuleSetting("forbid"),)) == "rule"
    assert await read_verdict(tmp_path, make_bash_action("touch x"), deny=("Bash(rm *",)) == "rule"
    assert await read_verdict(tmp_path, make_bash_action("touch x"), deny=("rm x",)) == "rule"
    assert await read_verdict(tmp_path, make_bash_action("touch x"), mode="ask", allow=("Bash(touch *",)) == "nobody"


async def test_the_justification_is_the_reason(tmp_path: Path) -> None:
    rule = RuleSetting("deny", "Bash", "git push *", justification="main is shared")
    decision = await Gate(policy_of(tmp_path, rules=(rule,))[0]).check(make_bash_action("git push"))
    assert (decision.reason, decision.rule) == ("main is shared", "Bash(git push *)")


async def test_settings_with_mistakes_are_not_complete(tmp_path: Path) -> None:
    config = Config(permissions=Permissions(allow=("Bash",)), missing_rules=("x is not valid TOML",))
    policy, _ = make_policy(config, [tmp_path], "trust")
    assert (await Gate(policy).check(make_bash_action("make"))).by == "nobody"


@pytest.mark.process
async def test_the_hooks_of_the_settings_are_read(tmp_path: Path) -> None:
    config = Config(
        hooks=HookSettings(
            preToolUse=(HookSetting("Bash", "exit 2", timeout_s=5.0), HookSetting("Edit", url="http://127.0.0.1:1/x")),
            turnStop=(HookSetting(command="true"),),
        )
    )
    hooks, problems = make_hooks(config)
    assert problems == []
    assert [(hook.event, hook.matcher, hook.command, hook.url, hook.timeout_s) for hook in hooks] == [
        ("preToolUse", "Bash", "exit 2", "", 5.0),
        ("preToolUse", "Edit", "", "http://127.0.0.1:1/x", 10.0),
        ("turnStop", "", "true", "", 10.0),
    ]
    assert (await Hooks(hooks).run("preToolUse", {"tool": "bash"})).is_denied


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        (HookSetting(), "hooks.preToolUse: a hook needs either a command or a url"),
        (HookSetting(command="x", url="http://x"), "hooks.preToolUse: a hook needs either a command or a url"),
        (HookSetting(url="ftp://x"), "hooks.preToolUse: the url must begin with http:// or https://, not 'ftp://x'"),
        (HookSetting(command="true", timeout_s=0.0), "hooks.preToolUse: timeout_s must be more than 0, not 0.0"),
    ],
)
async def test_a_hook_that_is_not_valid_denies(setting: HookSetting, problem: str) -> None:
    hooks, problems = make_hooks(Config(hooks=HookSettings(preToolUse=(setting,))))
    assert [entry.message for entry in problems] == [problem]
    outcome = await Hooks(hooks).run("preToolUse", {"tool": "bash"})
    assert (outcome.decision, outcome.reason) == ("deny", problem)


ADDED = '[[permissions.rules]]\ndecision = "allow"\ntool = "Bash"\npattern = "a \\"b\\" *"\n'


def test_the_lists_of_tools_are_checked() -> None:
    assert parse_tools(None) is None
    assert parse_tools([]) == ()
    assert parse_tools(["Bash(git *)"]) == ("Bash(git *)",)
    with pytest.raises(ValueError, match=r"'Bash\(' is not a rule"):
        parse_tools(["Bash("])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ADDED),
        (
            "# c\n[permissions]\nmode = 'ask'\n",
            "# c\n[permissions]\nmode = 'ask'\n\n" + ADDED,
        ),
    ],
)
def test_an_added_rule_keeps_the_file(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "new" / "config.toml"
    if before:
        file.parent.mkdir()
        file.write_text(before)
    assert add_allow_rules(file, ['Bash(a "b" *)']) == ""
    assert file.read_text() == after
    assert add_allow_rules(file, ['Bash(a "b" *)', "Edit"]) == ""
    rules = tomllib.loads(file.read_text())["permissions"]["rules"]
    assert [(rule["tool"], rule.get("pattern")) for rule in rules] == [("Bash", 'a "b" *'), ("Edit", None)]


def test_an_added_rule_is_used_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    file = tmp_path / "home" / "config.toml"
    assert add_allow_rules(file, ["Bash(make *)"]) == ""
    config, problems = load(None, {})
    policy, mistakes = make_policy(config, [tmp_path])
    assert (problems, mistakes) == ([], [])
    assert Gate(policy).explain(make_bash_action("make x")).decision is not None
    assert policy.settings_file == file


@pytest.mark.parametrize("text", ["[permissions]\nrules = []\n", "permissions = {mode = 'ask'}\n", "[permissions\n"])
def test_a_file_that_cannot_take_the_rule_is_not_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    assert add_allow_rules(file, ["Bash"]).startswith(f"{file} cannot take it (")
    assert file.read_text() == text


def test_a_rule_in_the_list_is_not_added_again(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[permissions]\nallow = ["Bash(make *)"]\n')
    assert add_allow_rules(file, ["Bash(make *)"]) == ""
    assert file.read_text() == '[permissions]\nallow = ["Bash(make *)"]\n'


@pytest.mark.parametrize(
    ("permissions", "lists", "expected"),
    [
        ({}, {}, False),
        ({"allow": ("read(src/**)",), "deny": ("bash",)}, {"allowed_tools": ("grep",)}, False),
        ({"deny": ("read(secret/**)",)}, {}, True),
        ({"ask": ("grep(secret/**)",)}, {}, True),
        ({}, {"disallowed_tools": ("Read(secret/**)",)}, True),
        ({}, {"allowed_tools": ("Read(src/**)",)}, True),
    ],
)
def test_a_policy_knows_whether_its_decision_depends_on_the_file(
    tmp_path: Path, permissions: dict[str, object], lists: dict[str, tuple[str, ...]], *, expected: bool
) -> None:
    policy = replace(policy_of(tmp_path, **permissions)[0], **lists)  # type: ignore[arg-type]
    assert policy.tells_files_apart == expected

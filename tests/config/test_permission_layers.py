"""Rules and hooks in layers of settings: all lists count, and a project that is not trusted can only forbid more."""

import json
from pathlib import Path

import pytest

from lsp_harness.config.load import Problem, apply_editor_settings, load
from lsp_harness.config.permission_layers import EDITOR_FORBIDDEN_PERMISSIONS
from lsp_harness.config.permission_schema import HookSetting, RuleSetting
from lsp_harness.config.schema import Config
from lsp_harness.wire.permission_mode import STRICTEST_FIRST

RULE = '[[permissions.rules]]\ndecision = "{0}"\ntool = "Bash"\npattern = "{0} *"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("LSP_HARNESS_HOME", str(folder))
    return folder


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_the_lists_of_all_layers_are_combined(home: Path, project: Path) -> None:
    (home / "config.toml").write_text('[permissions]\nallow = ["A"]\ndeny = ["D1"]\n')
    (project / "lsp-harness.toml").write_text('[permissions]\nallow = ["B"]\ndeny = ["D2"]\nask = ["Q"]\n')
    (project / "lsp-harness.local.toml").write_text('[permissions]\nallow = ["C"]\ndeny = ["D3"]\n')
    env = {"LSP_HARNESS_PERMISSIONS__DENY": '["D4"]', "LSP_HARNESS_PERMISSIONS__MODE": "plan"}
    config, problems = load(project, env, is_trusted=True)
    assert problems == []
    assert config.permissions.allow == ("A", "B", "C")
    assert config.permissions.deny == ("D1", "D2", "D3", "D4")
    assert (config.permissions.ask, config.permissions.mode) == (("Q",), "plan")
    editor, complaints = apply_editor_settings(config, {"permissions": {"deny": ["D5"], "ask": ["R"]}})
    assert (editor.permissions.deny[-1], editor.permissions.ask, complaints) == ("D5", ("Q", "R"), [])


def test_a_project_without_trust_can_only_forbid_more(home: Path, project: Path) -> None:
    file = project / "lsp-harness.toml"
    file.write_text(
        '[permissions]\nmode = "trust"\nallow = ["B"]\ndeny = ["D"]\nask = ["Q"]\ncallback_timeout_s = 900\n'
        + RULE.format("allow")
        + RULE.format("deny")
        + '[[hooks.preToolUse]]\ncommand = "true"\n'
    )
    config, problems = load(project, {})
    assert (config.permissions.allow, config.permissions.mode, config.hooks) == ((), "", Config().hooks)
    assert (config.permissions.deny, config.permissions.ask) == (("D",), ("Q",))
    assert [rule.decision for rule in config.permissions.rules] == ["deny"]
    assert config.permissions.callback_timeout_s == 30.0
    assert config.missing_rules == ()
    remedy = f"to trust this project, add its folder to permissions.trusted_folders in {home / 'config.toml'}"
    assert [(problem.message.partition(";")[0], problem.line) for problem in problems] == [
        ("this project is not trusted, so its permissions.mode 'trust' does not count", 1),
        ("this project is not trusted, so its permissions.allow does not count", 2),
        ("a project cannot set permissions.callback_timeout_s", 5),
        ("this project is not trusted, so its rules that allow do not count", 6),
        ("this project is not trusted, so its hooks.preToolUse does not count", 14),
    ]
    assert all(problem.message.endswith(remedy) for problem in problems)


@pytest.mark.parametrize("trusted", ["{project}", "{parent}", "{link}"])
def test_the_user_says_which_folders_are_trusted(home: Path, project: Path, trusted: str) -> None:
    (home / "link").symlink_to(project)
    folder = trusted.format(project=project, parent=project.parent, link=home / "link")
    (home / "config.toml").write_text(f"[permissions]\ntrusted_folders = [{json.dumps(folder)}]\n")
    (project / "lsp-harness.toml").write_text('[permissions]\nmode = "auto"\nallow = ["B"]\n' + RULE.format("allow"))
    config, problems = load(project, {})
    assert (problems, config.permissions.mode, config.permissions.allow) == ([], "auto", ("B",))
    assert [rule.decision for rule in config.permissions.rules] == ["allow"]


def test_a_project_cannot_trust_itself(home: Path, project: Path) -> None:
    text = f'[permissions]\ntrusted_folders = [{json.dumps(str(project))}]\nallow = ["B"]\n'
    (project / "lsp-harness.toml").write_text(text)
    (project / "lsp-harness.local.toml").write_text('[permissions]\nallow = ["C"]\n')
    config, problems = load(project, {})
    assert (config.permissions.allow, config.permissions.trusted_folders) == ((), ())
    assert len(problems) == 3
    (home / "config.toml").write_text('[permissions]\ntrusted_folders = ["/\\u0000", "/nowhere", "relative"]\n')
    assert load(project, {})[0].permissions.allow == ()


@pytest.mark.parametrize("mode", STRICTEST_FIRST)
@pytest.mark.parametrize("user", ["", "plan", "auto"])
def test_a_project_without_trust_can_only_choose_a_stricter_mode(
    home: Path, project: Path, user: str, mode: str
) -> None:
    (home / "config.toml").write_text(f'[permissions]\nmode = "{user}"\n')
    (project / "lsp-harness.toml").write_text(f'[permissions]\nmode = "{mode}"\n')
    config, problems = load(project, {})
    is_stricter = STRICTEST_FIRST.index(mode) <= STRICTEST_FIRST.index(user or "ask")
    assert config.permissions.mode == (mode if is_stricter else user)
    assert len(problems) == (0 if is_stricter else 1)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('[permissions]\ndeny = "x"\n', "permissions.deny must be a list of texts, not 'x'", 1),
        ('[permissions]\ndeny = ["x", 5]\n', "permissions.deny must be a list of texts, and 5 is none", 1),
        ("[permissions]\nrules = [5]\n", "permissions.rules must be a list of tables, and 5 is none", 1),
        (RULE.format("deny") + "glob = 1\n", "unknown key permissions.rules.glob; the keys are decision, tool, ", 0),
        ("\n" + RULE.format("deny") + "match = 1\n", "permissions.rules.match must be a list of texts, not 1", 1),
        (RULE.format("deny") + "[[permissions.rules]]\ntool = 5\n", "permissions.rules.tool must be a text, not 5", 4),
        ('[permissions]\nmode = "plam"\n', "permissions.mode must be one of deny, plan, ask, ", 1),
        ("[permissions]\ncallback_timeout_s = 0\n", "permissions.callback_timeout_s must be more than 0, not 0.0", 1),
        ("[permissions]\ncallback_timeout_s = nan\n", "permissions.callback_timeout_s must be more than 0, not nan", 1),
        ("[permissions]\ndenny = ['x']\n", "unknown key permissions.denny; the keys are mode, allow, ask, deny, ", 1),
        ("permissions = 5\n", "permissions must be a table, not 5", 0),
        ("[hooks]\npreToolUse = 5\n", "hooks.preToolUse must be a list of tables, not 5", 1),
        ("[[hooks.preToolUse]]\ntimeout_s = 'x'\n", "hooks.preToolUse.timeout_s must be a number, not 'x'", 0),
        ("[[hooks.before]]\ncommand = 'x'\n", "unknown key hooks.before; the keys are sessionStart, ", 0),
        ("[permissions\n", "config.toml is not valid TOML: ", 0),
    ],
)
def test_a_mistake_has_a_place_and_says_that_rules_may_be_missing(
    home: Path, text: str, message: str, line: int
) -> None:
    file = home / "config.toml"
    file.write_text(text)
    config, problems = load(None, {})
    assert problems[0].message.startswith(message)
    assert (problems[0].file, problems[0].line) == (file, line)
    assert config.missing_rules


def test_a_mistake_in_an_unrelated_table_loses_no_rule(home: Path) -> None:
    (home / "config.toml").write_text("[generation]\ncandidates = 'x'\n[model]\nfoo = 1\n")
    assert load(None, {})[0].missing_rules == ()


def test_a_list_in_the_environment_is_json(home: Path) -> None:
    config, problems = load(None, {"LSP_HARNESS_PERMISSIONS__DENY": "Bash"})
    assert problems == [Problem("permissions.deny must be a list of texts as JSON, not 'Bash'")]
    assert config.missing_rules


def test_tables_in_lists_are_read(home: Path) -> None:
    file = home / "config.toml"
    file.write_text(
        "[[hooks.preToolUse]]\nmatcher = 'Bash'\ncommand = 'x'\ntimeout_s = 5\n"
        "[[hooks.turnStop]]\nurl = 'http://x'\n[[hooks.preToolUse]]\ncommand = 'y'\n"
        "[[permissions.rules]]\ndecision = 'deny'\ntool = 'Bash'\nmatch = ['a']\nnot_match = ['b']\n"
    )
    config, problems = load(None, {})
    assert problems == []
    assert config.hooks.preToolUse == (
        HookSetting("Bash", "x", timeout_s=5.0, file=file, line=0),
        HookSetting(command="y", file=file, line=6),
    )
    assert config.hooks.turnStop == (HookSetting(url="http://x", file=file, line=4),)
    assert config.permissions.rules == (RuleSetting("deny", "Bash", "", ("a",), ("b",), file=file, line=8),)


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table, keys in EDITOR_FORBIDDEN_PERMISSIONS.items() for key in sorted(keys)]
)
def test_an_editor_with_workspace_settings_cannot_allow_actions(home: Path, table: str, key: str) -> None:
    config, [complaint] = apply_editor_settings(Config(), {table: {key: ["x"]}})
    assert config == Config()
    assert complaint.startswith(f"{table}.{key} cannot be set by an editor; set it in ")

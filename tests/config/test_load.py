"""Tests of the layers of settings, their order, and the messages about errors in them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lsp_harness.config.load import Problem, apply_editor_settings, find_user_config_file, load
from lsp_harness.config.schema import Config, find_item_type, tables

CHANGED: dict[str, Any] = {
    "model.path": "other",
    "model.context_length": 2048,
    "model.n_gpu_layers": 0,
    "generation.candidates": 2,
    "generation.max_retries": 1,
    "generation.temperature_classify": 0.2,
    "generation.temperature": 0.25,
    "context.system_budget": 11,
    "context.code_budget": 12,
    "context.task_budget": 13,
    "context.few_shot_examples": 3,
    "verification.parse_check": False,
    "verification.test": False,
    "verification.lint": False,
    "verification.type_check": "auto",
    "verification.diff_review": "veto",
    "index.embedding_model": "other",
    "index.update_on_save": False,
}
"""The eighteen keys of the first design, each with a value that is not its default."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the user; the folder of the project is `tmp_path`."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("LSP_HARNESS_HOME", str(folder))
    return folder


def setting_as_toml(key: str, value: Any) -> str:
    table, name = key.split(".")
    return f"[{table}]\n{name} = {json.dumps(value)}\n"


def read_setting(config: Config, key: str) -> Any:
    table, name = key.split(".")
    return getattr(getattr(config, table), name)


def setting_as_environment(key: str, value: Any) -> dict[str, str]:
    table, name = key.upper().split(".")
    return {f"LSP_HARNESS_{table}__{name}": str(value)}


def test_the_test_sets_all_eighteen_keys_to_values_that_are_no_defaults() -> None:
    assert len(CHANGED) == 18
    assert all(read_setting(Config(), key) != value for key, value in CHANGED.items())
    assert all(type(read_setting(Config(), key)) is type(value) for key, value in CHANGED.items())


@pytest.mark.parametrize("key", CHANGED)
@pytest.mark.parametrize("name", ["home/config.toml", "lsp-harness.toml", "localcode.toml", "lsp-harness.local.toml"])
def test_a_key_can_be_set_in_a_file(home: Path, tmp_path: Path, key: str, name: str) -> None:
    (tmp_path / name).write_text(setting_as_toml(key, CHANGED[key]))
    expected, _ = apply_editor_settings(Config(), {key.split(".")[0]: {key.split(".")[1]: CHANGED[key]}})
    assert load(tmp_path, {}) == (expected, [])
    assert read_setting(expected, key) == CHANGED[key]


@pytest.mark.parametrize("key", CHANGED)
def test_a_key_can_be_set_in_the_environment_and_by_the_editor(home: Path, tmp_path: Path, key: str) -> None:
    from_env, problems = load(tmp_path, setting_as_environment(key, CHANGED[key]))
    assert (read_setting(from_env, key), problems) == (CHANGED[key], [])
    table, name = key.split(".")
    from_editor, complaints = apply_editor_settings(Config(), {table: {name: CHANGED[key]}})
    assert (from_editor, complaints) == (from_env, [])


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("verification.type_check", True, "on"),
        ("verification.type_check", False, "off"),
        ("verification.diff_review", True, "report"),
        ("verification.diff_review", False, "off"),
    ],
)
def test_a_setting_with_words_may_be_true_or_false(
    home: Path, tmp_path: Path, key: str, value: bool, word: str
) -> None:
    table, name = key.split(".")
    base, _ = apply_editor_settings(Config(), {table: {name: CHANGED[key]}})
    (tmp_path / "localcode.toml").write_text(setting_as_toml(key, value))
    config, problems = load(tmp_path, {})
    assert (read_setting(config, key), problems) == (word, [])
    assert read_setting(load(tmp_path, setting_as_environment(key, value))[0], key) == word
    assert read_setting(apply_editor_settings(base, {table: {name: value}})[0], key) == word


def test_an_unknown_word_is_refused_with_the_list_of_known_words(home: Path, tmp_path: Path) -> None:
    (tmp_path / "lsp-harness.toml").write_text('[verification]\ntype_check = "maybe"\n')
    message = "verification.type_check must be one of off, on, auto, names, or true or false, not 'maybe'"
    assert load(tmp_path, {}) == (Config(), [Problem(message, tmp_path / "lsp-harness.toml", 1)])


def test_the_strongest_layer_with_a_key_wins(home: Path, tmp_path: Path) -> None:
    layers = ["home/config.toml", "localcode.toml", "lsp-harness.local.toml"]
    for strength, name in enumerate(layers, 1):
        (tmp_path / name).write_text(setting_as_toml("generation.candidates", strength))
        assert load(tmp_path, {})[0].generation.candidates == strength
    assert load(tmp_path, setting_as_environment("generation.candidates", 4))[0].generation.candidates == 4
    base, _ = load(tmp_path, setting_as_environment("generation.candidates", 4))
    assert apply_editor_settings(base, {"generation": {"candidates": 5}})[0].generation.candidates == 5
    assert load(None, {})[0].generation.candidates == 1


def test_the_newer_name_of_the_project_file_is_preferred(home: Path, tmp_path: Path) -> None:
    (tmp_path / "localcode.toml").write_text(
        setting_as_toml("generation.candidates", 2) + setting_as_toml("model.path", "older")
    )
    (tmp_path / "lsp-harness.toml").write_text(setting_as_toml("generation.candidates", 3))
    config, _ = load(tmp_path, {})
    assert (config.generation.candidates, config.model.path) == (3, Config().model.path)


def test_each_key_is_read_from_its_strongest_layer(home: Path, tmp_path: Path) -> None:
    (home / "config.toml").write_text("[generation]\ncandidates = 2\ntemperature = 1\n")
    (tmp_path / "lsp-harness.toml").write_text("[generation]\ncandidates = 3\n[verification]\nlint = false\n")
    config, problems = load(tmp_path, {"LSP_HARNESS_VERIFICATION__LINT": "yes"})
    assert problems == []
    assert (config.generation.candidates, config.generation.temperature, config.verification.lint) == (3, 1.0, True)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("[model]\npath = 'x'\n[modal]\n", "unknown table [modal]; the tables are model, engine, generation, ", 2),
        ("[models]\n\n[model]\npaths = 'x'\n", "unknown table [models]", 0),
        ("[model]\npath = 'x'\n\npaths = 'y'\n", "unknown key model.paths; the keys are path, context_length, ", 3),
        ("[model]\npath_ = 1\npath = 1\n", "model.path must be a text, not 1", 2),
        ("[generation]\ncandidates = 'five'\n", "generation.candidates must be a whole number, not 'five'", 1),
        ("[generation]\ncandidates = 5.0\n", "generation.candidates must be a whole number, not 5.0", 1),
        ("[generation]\ncandidates = true\n", "generation.candidates must be a whole number, not True", 1),
        ("[verification]\n\nlint = 1\n", "verification.lint must be true or false, not 1", 2),
        ("[context]\n[verification]\nlint = 'no'\n", "verification.lint must be true or false, not 'no'", 2),
        ("# c\nmodel.paths = 'x'\n", "unknown key model.paths", 1),
        ("# c\nmodel = 'x'\n", "model must be a table, not 'x'", 1),
        ("[model]\npath = \n", "lsp-harness.toml is not valid TOML: Invalid value (at line 2", 1),
        ("[model]\npath = 'x'\n\n[model\n", "lsp-harness.toml is not valid TOML: ", 3),
        ("[model]\npath = '''", "lsp-harness.toml is not valid TOML: ", 1),
        ("\n[engine]\nscript = 'x'\n", "[engine] may only be set in ", 1),
    ],
)
def test_an_invalid_setting_is_a_problem_with_its_line(
    home: Path, tmp_path: Path, text: str, message: str, line: int
) -> None:
    file = tmp_path / "lsp-harness.toml"
    file.write_text(text)
    config, problems = load(tmp_path, {})
    assert problems
    problem = next((p for p in problems if p.message.startswith(message)), problems[0])
    assert problem.message.startswith(message)
    assert (problem.file, problem.line) == (file, line)
    assert config.engine == Config().engine


def test_an_invalid_layer_does_not_hide_the_other_layers(home: Path, tmp_path: Path) -> None:
    (home / "config.toml").write_text("[generation]\ncandidates = 2\n")
    (tmp_path / "lsp-harness.toml").write_text("[generation]\nnonsense = 1\nmax_retries = 1\n")
    (tmp_path / "lsp-harness.local.toml").write_bytes(b"\xff")
    config, problems = load(tmp_path, {"LSP_HARNESS_CONTEXT__CODE_BUDGET": "7"})
    assert (config.generation.candidates, config.generation.max_retries, config.context.code_budget) == (2, 1, 7)
    assert [(p.file and p.file.name, p.line) for p in problems] == [
        ("lsp-harness.toml", 1),
        ("lsp-harness.local.toml", 0),
    ]


def test_a_project_cannot_choose_the_engine_process(home: Path, tmp_path: Path) -> None:
    for name in ("lsp-harness.toml", "localcode.toml", "lsp-harness.local.toml"):
        file = tmp_path / name
        file.write_text("[engine]\nurl = '/tmp/evil.sock'\nscript = 'evil.json'\n")
        assert load(tmp_path, {}) == (
            Config(),
            [Problem(f"[engine] may only be set in {home / 'config.toml'}", file, 0)],
        )
        file.unlink()
    (home / "config.toml").write_text("[engine]\nurl = '/run/mine.sock'\n")
    assert load(tmp_path, {})[0].engine.url == "/run/mine.sock"
    assert load(tmp_path, {"LSP_HARNESS_ENGINE__SCRIPT": "mine.json"})[0].engine.script == "mine.json"
    assert find_user_config_file() == home / "config.toml"


@pytest.mark.parametrize("key", ["url", "model", "api_key_env", "script"])
def test_an_editor_with_workspace_settings_cannot_name_servers_and_keys(home: Path, key: str) -> None:
    base, _ = load(None, {f"LSP_HARNESS_ENGINE__{key.upper()}": "mine"})
    config, problems = apply_editor_settings(base, {"engine": {key: "evil", "idle_seconds": 5.0}})
    assert config == replace(base, engine=replace(base.engine, idle_seconds=5.0))
    where = f"{home / 'config.toml'} or LSP_HARNESS_ENGINE__{key.upper()}"
    assert problems == [f"engine.{key} cannot be set by an editor; set it in {where}"]


@pytest.mark.parametrize("key", ["model.path", "index.embedding_model"])
def test_a_model_file_in_the_project_is_loaded_only_if_the_user_allows_it(home: Path, tmp_path: Path, key: str) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "models"
    for folder in (project, elsewhere):
        folder.mkdir()
        (folder / "a.gguf").touch()
    (project / "link").symlink_to(project)
    (elsewhere / "back").symlink_to(project)
    theirs = ["a.gguf", "./a", f"{project}/a.gguf", f"{elsewhere}/back/a.gguf", f"{elsewhere}/../project/a.gguf"]
    theirs += ["/\0/a", "~\0/a"]
    table, name = key.split(".")
    for path in [*theirs, f"{elsewhere}/a.gguf", "qwen2.5-coder-1.5b-instruct"]:
        brought = path in theirs
        refused = f"{key}: {path} is a file in the project, which is not trusted; set it in "
        (project / "lsp-harness.toml").write_text(setting_as_toml(key, path))
        config, problems = load(project, {})
        assert read_setting(config, key) == (read_setting(Config(), key) if brought else path)
        assert [p.message.startswith(refused) for p in problems] == [True] * brought
        assert apply_editor_settings(Config(), {table: {name: path}}, [elsewhere / "x", project])[0] == config
        (home / "config.toml").write_text(setting_as_toml(key, path))
        assert read_setting(load(tmp_path, {})[0], key) == path
        (home / "config.toml").unlink()
        assert read_setting(load(project, setting_as_environment(key, path))[0], key) == path
    assert apply_editor_settings(Config(), {table: {name: "/\ud800/a"}})[0] == Config()


def test_an_editor_must_give_the_absolute_path_of_a_model_file(home: Path, tmp_path: Path) -> None:
    # without a folder open it may still have been started in one
    assert apply_editor_settings(Config(), {"model": {"path": "a.gguf"}})[0] == Config()
    assert (
        apply_editor_settings(Config(), {"model": {"path": f"{tmp_path}/a.gguf"}})[0].model.path == f"{tmp_path}/a.gguf"
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("GENERATION__CANDIDATES", "many", "generation.candidates must be a whole number, not 'many'"),
        ("VERIFICATION__LINT", "maybe", "verification.lint must be true or false, not 'maybe'"),
        ("VERIFICATION__LINTS", "1", "unknown key verification.lints; the keys are parse_check, kept, lint, "),
        ("VERIFY__LINT", "1", "unknown table [verify]; the tables are model, "),
    ],
)
def test_the_environment_is_read_as_strictly(home: Path, name: str, value: str, message: str) -> None:
    config, [problem] = load(None, {f"LSP_HARNESS_{name}": value, "LSP_HARNESS_HOME": "x", "OTHER__KEY": "y"})
    assert config == Config()
    assert problem.message.startswith(message)
    assert (problem.file, problem.line) == (None, 0)


@pytest.mark.parametrize(("word", "value"), [("1", True), ("TRUE", True), ("yes", True), ("0", False), ("No", False)])
def test_yes_and_no_can_be_written_in_several_ways(home: Path, word: str, value: bool) -> None:
    assert load(None, {"LSP_HARNESS_VERIFICATION__LINT": word})[0].verification.lint is value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
keys = st.sampled_from([key for table in tables().values() for key in table]) | st.text(max_size=4)


@hypothesis_settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted(tables())) | st.text(max_size=4),
        st.dictionaries(keys, json_values, max_size=4) | json_values,
        max_size=4,
    )
)
def test_the_settings_keep_their_types_for_any_values_of_an_editor(given_settings: dict[str, Any]) -> None:
    config, _ = apply_editor_settings(Config(), given_settings)
    for table, known in tables().items():
        for key, (kind, _) in known.items():
            value = getattr(getattr(config, table), key)
            item = find_item_type(kind)
            assert type(value) is (tuple if item else kind)
            assert all(type(entry) is item for entry in value) if item else True

"""Tests that every setting changes the behaviour."""

import dataclasses
import itertools
from contextlib import closing
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.coding.turn_driver import TurnDriver, run_edit_task
from lsp_harness.completion.completer import Completer
from lsp_harness.config.schema import Config, tables
from lsp_harness.engine.main import parse_arguments
from lsp_harness.errors import ConfigError, ModelMissing, NoAnswer
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.request import ChatRequest, Infill
from lsp_harness.inference.scripted_engine import prompt_text
from lsp_harness.inference.supervisor import EngineAddress, EngineSupervisor, engine_identity
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.syntax.tree import parse
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff
from tests.config.test_load import CHANGED
from tests.harness.tools import Script, make_settings
from tests.support import markup
from tests.support.desk import Desk

FIX = """
    def area(r):
        width = r
        return 3 * widht ** 2
        #          ^^^^^ F821 what is this
    """
LONG = "def helper_%d(value):\n    return value + %d\n\n\n"


def change_setting(key: str, value: Any, **more: dict[str, Any]) -> Config:
    table, name = key.split(".")
    return make_settings(make_settings(**more), **{table: {name: value}})


async def observe_fix(config: Config, folder: Path) -> dict[str, Any]:
    """Run a fix in which no candidate is good. Return the requests and the checks under these settings."""
    src = markup.parse(FIX, folder / "a.py")
    engine, log = (
        Script(*[f"return 3 * widht{letter} ** 2" for letter in ascii_lowercase[:20]]),
        SessionLog(folder / "sessions"),
    )
    job = TurnContext(
        engine,
        config,
        CheckTools(Ruff()),
        log.turn(),
        src.document,
        folder / "a.py",
        folder,
        "a.py",
        lambda progress: None,
    )
    with pytest.raises(NoAnswer):
        await run_edit_task(Fix(job, src.finding))
    log.close()
    rewrites = [request for request in engine.foreground_requests if isinstance(request, ChatRequest)]
    verified = [event.data["outcomes"] for event in read_log(log.path) if event.type == "verify.completed"]
    return {
        "requests": sum(request.sampling.n for request in engine.foreground_requests),
        "rewrites": len(rewrites),
        "feedback": ["Earlier attempts failed" in prompt_text(request) for request in rewrites],
        "temperatures": sorted({request.sampling.temperature for request in engine.foreground_requests}),
        "checks": sorted({outcome["check"] for outcomes in verified for outcome in outcomes}),
    }


async def observe_completion(config: Config) -> dict[str, Any]:
    """Run a completion. Return what it requests and shows under these settings."""
    text = "import math\n\n\n" + "".join(LONG % (n, n) for n in range(60)) + "def area(r):\n    <|>\n\n\n" + LONG * 0
    text += "".join(f"late_{n} = helper_{n}({n})\n" for n in range(60))
    src = markup.parse(text)
    engine = Script("\n    ".join(f"step_{n} = {n}" for n in range(40)))
    found = await Desk(Completer(engine, config.completion)).complete(
        src.document, parse(src.document), src.cursor, "a.py", automatic=True
    )
    [request] = engine.foreground_requests
    assert isinstance(request, Infill)
    return {
        "prefix": len(request.context.prefix.split()),
        "suffix": len(request.context.suffix.split()),
        "outline": len(request.context.extra[0][1].split()) if request.context.extra else 0,
        "n_predict": request.sampling.n_predict,
        "budget": request.budget_ms,
        "lines": found.text.count("\n") + 1 if found else 0,
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    return tmp_path


ENGINE = {
    "model.context_length": ("n_ctx", 2048),
    "model.n_gpu_layers": ("n_gpu_layers", 0),
    "index.embedding_model": ("embedding_model", "other.gguf"),
}
ENGINE_ONLY = {
    "engine.library": ("library", "linux-x64"),
    "engine.threads": ("threads", 3),
    "engine.idle_seconds": ("idle", 7.0),
    "engine.port": ("tcp", 8765),
    "engine.kv_disk_mb": ("kv_disk", 9),
    "engine.cache_reuse": ("cache_reuse", 0),
    "model.fim_order": ("fim_order", "prefix-suffix-middle"),
    "index.embedding_pooling": ("embedding_pooling", "cls"),
}
ANOTHER = {*ENGINE, "index.embedding_pooling"}
"""Another context is another process."""


@pytest.mark.parametrize(("key", "argument", "value"), [(k, *v) for k, v in (ENGINE | ENGINE_ONLY).items()])
def test_model_and_engine_keys_are_arguments_of_the_engine_process(
    folder: Path, key: str, argument: str, value: Any
) -> None:
    model = folder / "m.gguf"
    model.touch()
    config = change_setting(key, value)
    where = EngineAddress(folder / "s", folder / "l")
    argv = EngineSupervisor(config)._argv(model, where)
    default = EngineSupervisor(Config())._argv(model, where)
    after = argv.index("lsp_harness.engine.main") + 1
    assert getattr(parse_arguments(list(argv[after:])), argument) == value
    assert getattr(parse_arguments(list(default[after:])), argument) != value
    if key in ANOTHER:
        assert engine_identity(model, config) != engine_identity(model, Config())


@pytest.mark.parametrize("wrong", ["Mean", "-x", ""])
def test_an_invalid_pooling_does_not_start_another_engine(folder: Path, wrong: str) -> None:
    model, where = folder / "m.gguf", EngineAddress(folder / "s", folder / "l")
    model.touch()
    config = change_setting("index.embedding_pooling", wrong)
    assert engine_identity(model, config) == engine_identity(model, Config())
    assert EngineSupervisor(config)._argv(model, where) == EngineSupervisor(Config())._argv(model, where)


def test_a_model_that_begins_with_a_dash_is_no_option(folder: Path) -> None:
    argv = EngineSupervisor(change_setting("index.embedding_model", "-x"))._argv(
        folder / "m", EngineAddress(folder / "s", folder / "l")
    )
    assert parse_arguments(list(argv[argv.index("lsp_harness.engine.main") + 1 :])).embedding_model == "-x"


def test_an_invalid_token_order_is_refused_and_a_valid_one_replaces_the_default(folder: Path) -> None:
    model, where = folder / card(Config().model.path).file, EngineAddress(folder / "s", folder / "l")
    for order, taken in (("auto", "suffix-first"), ("prefix-suffix-middle",) * 2):
        argv = EngineSupervisor(change_setting("model.fim_order", order))._argv(model, where)
        assert argv[argv.index("--fim-order") + 1] == taken
    with pytest.raises(ConfigError, match=r"model\.fim_order must be one of auto, suffix-first, .* not 'sideways'"):
        EngineSupervisor(change_setting("model.fim_order", "sideways"))._argv(model, where)


async def test_model_path_is_the_file_that_is_loaded(folder: Path) -> None:
    model = folder / "m.gguf"
    model.write_bytes(b"GGUF")
    assert resolve_model(change_setting("model.path", str(model)).model.path) == model
    with pytest.raises(ModelMissing, match=r"absent\.gguf"):
        await EngineSupervisor(change_setting("model.path", str(folder / "absent.gguf"))).ensure_running()


async def test_an_engine_at_another_address_is_used_without_starting_one(folder: Path) -> None:
    supervisor = EngineSupervisor(change_setting("engine.url", "/run/engine.sock"))
    assert await supervisor.ensure_running() == Path("/run/engine.sock")


FIX_KEYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "generation.candidates": (2, {"requests": 2}),
    "generation.max_retries": (1, {"rewrites": 1, "requests": 6}),
    "generation.temperature": (0.25, {"temperatures": [0.0, 0.25, 0.35]}),
    "context.system_budget": (3, {"rewrites": 0}),
    "context.code_budget": (3, {"rewrites": 0}),
    "context.task_budget": (8, {"feedback": [False, False, False]}),
    "verification.parse_check": (False, {"checks": ["kept", "lint"]}),
    "verification.lint": (False, {}),
}


@pytest.mark.process
@pytest.mark.parametrize("key", FIX_KEYS)
async def test_a_setting_changes_the_behaviour_of_a_fix(folder: Path, key: str) -> None:
    value, expected = FIX_KEYS[key]
    base = {"generation": {"candidates": 6}}
    if key == "verification.lint":
        # without a linter anything that parses passes
        with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
            await observe_fix(change_setting(key, value, **base), folder)
        return
    before, after = (
        await observe_fix(make_settings(**base), folder),
        await observe_fix(change_setting(key, value, **base), folder),
    )
    assert before["checks"] == ["kept", "lint", "syntax"]
    assert {name: after[name] for name in expected} == expected
    assert {name: before[name] for name in expected} != expected


COMPLETION_KEYS: dict[str, tuple[Any, str]] = {
    "completion.prefix_tokens": (40, "prefix"),
    "completion.suffix_tokens": (9, "suffix"),
    "completion.outline_tokens": (20, "outline"),
    "completion.max_tokens": (5, "n_predict"),
    "completion.latency_ms": (77, "budget"),
}


@pytest.mark.parametrize("key", COMPLETION_KEYS)
async def test_a_setting_changes_the_request_of_a_completion(key: str) -> None:
    value, name = COMPLETION_KEYS[key]
    before, after = await observe_completion(Config()), await observe_completion(change_setting(key, value))
    assert 0 < after[name] <= value < before[name]


async def test_few_lines_are_shown_when_few_are_allowed() -> None:
    before, after = (
        await observe_completion(Config()),
        await observe_completion(change_setting("completion.max_lines", 2)),
    )
    assert (before["lines"], after["lines"]) == (8, 2)


def test_every_setting_of_the_schema_has_a_test_of_its_effect() -> None:
    # the third: tests/harness/test_edit_verbs.py
    # tests/verify/test_suite_check.py, test_types_check.py and test_review_check.py
    in_verify = {"verification.test", "verification.type_check", "verification.diff_review"}
    # tests/sessions/test_code_turns.py
    in_turns = {"generation.temperature_classify"}
    tested = {
        *in_verify,
        *in_turns,
        "model.path",
        "index.update_on_save",
        "context.few_shot_examples",
        *ENGINE,
        *FIX_KEYS,
    }
    assert tested == set(CHANGED)
    elsewhere = {
        "engine.url",  # these and the next: tests/inference/test_providers.py, tests/inference/backends
        "engine.model",
        "engine.dialect",
        "engine.api_key_env",
        "engine.fim",
        "engine.retries",
        "engine.start_early",  # tests/harness/test_ahead.py
        "engine.first_token_seconds",
        "engine.next_token_seconds",
        "engine.silence_s",  # tests/inference/test_stuck_engine.py
        "engine.script",  # tests/cli
        "completion.enabled",  # tests/harness
        "completion.max_lines",
        "completion.repository_tokens",  # tests/context/test_repository_context.py
        "completion.alternatives",  # tests/completion/test_alternatives.py
        *(
            "context.related_budget",
            "context.few_shot_budget",
            "context.session_budget",
        ),  # tests/harness/test_edit_verbs.py
        *(
            "generation.repairs",
            "verification.kept",
        ),  # tests/coding/test_fix.py, tests/scenarios, tests/cli/test_commands.py
        "sessions.listen",  # tests/server/sessions
        "edits.confirm",  # tests/server/test_code_action.py
        # like index.update_on_save: tests/harness/test_folder_indexes.py, tests/index/test_index_process.py
        "index.enabled",
        # tests/inference/test_embedding_recipe.py, tests/harness/test_embedding_index.py
        *(f"index.embedding_{key}" for key in ("query_prefix", "document_prefix", "tokens")),
        "locate.ranking",  # tests/cli/test_locate_cli.py
        *("context.docs_budget", "knowledge.enabled", "knowledge.python"),  # tests/harness/test_documentation.py
        "knowledge.error_cache",  # tests/harness/test_error_cache.py
        *("completion.warm", "completion.speculate"),  # tests/completion/test_working_ahead.py
        *("completion.type_gate", "completion.type_gate_ms"),  # tests/verify/types/test_type_gate.py
        *("completion.patience_ms", "completion.min_short_probability"),  # tests/completion/test_patience.py
        "background.when",  # tests/harness/test_background.py
        *("background.remember_places", "background.hot_files"),  # tests/harness/test_visited_files.py
        *("background.prepare_fixes", "background.fix_tokens"),  # tests/harness/test_prepared_fixes.py
        "verification.debounce_ms",  # tests/harness
        "generation.budget_s",  # test_no_candidate_begins_after_the_budget
        "generation.test_repair_s",  # tests/coding/ladder/test_repair_tests.py
        "generation.plan",  # tests/sessions/test_code_turns.py
        "generation.format",  # tests/coding/test_finished_edits.py
        "verification.on_save",  # tests/harness/test_saved_edits.py
        "verification.on_open",  # tests/harness/test_outside_world.py
        # tests/harness/test_actions.py, tests/server/sessions/test_actions_of_projects.py
        *("actions.custom", "actions.comment_trigger"),
        # tests/config/test_permission_layers.py, tests/permission
        *(f"{table}.{key}" for table in ("permissions", "hooks") for key in tables()[table]),
        # tests/config/test_runtime_settings.py, tests/runtime, tests/agents
        *(f"runtime.{key}" for key in tables()["runtime"]),
        *(f"quiet.{key}" for key in tables()["quiet"]),  # tests/completion/test_trigger_policy.py, test_rhythm.py
    }
    known = {f"{table}.{key}" for table, keys in tables().items() for key in keys}
    assert known == tested | set(ENGINE_ONLY) | set(COMPLETION_KEYS) | elsewhere


def test_settings_are_values() -> None:
    for table in dataclasses.fields(Config):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(Config(), table.name, None)


@pytest.mark.parametrize(("budget_s", "rounds"), [(0, 3), (1000, 3), (60, 2), (20, 0)])
async def test_no_candidate_begins_after_the_budget(folder: Path, budget_s: int, rounds: int):
    config = make_settings(generation={"budget_s": budget_s, "candidates": 0, "max_retries": 3})
    src = markup.parse(FIX, folder / "a.py")
    engine = Script(*[f"return 3 * widht{letter} ** 2" for letter in ascii_lowercase[:20]])
    with closing(SessionLog(folder / "sessions")) as log:
        places = src.document, folder / "a.py", folder, "a.py"
        context = TurnContext(engine, config, CheckTools(Ruff()), log.turn(), *places, lambda progress: None)
        task = Fix(context, src.finding)
        # the clock is read when the candidates begin, and then once for each wave and each round
        seconds = itertools.count(0, 10)
        driver = TurnDriver(task, await task.create_checks(), now_s=lambda: float(next(seconds)))
        with pytest.raises(NoAnswer, match="No candidate passed the checks") as failed:
            await driver.run()
    rewrites = [request for request in engine.foreground_requests if isinstance(request, ChatRequest)]
    assert len(rewrites) == rounds
    assert (f"within {budget_s} s" in str(failed.value)) == (rounds < 3)

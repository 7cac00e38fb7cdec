"""The settings file of the first design, `localcode.toml`: it is read as it stands, and each of its 18 keys acts."""

import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.engine.main import parse_arguments
from lsp_harness.errors import ModelMissing
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.indexes.folder_indexes import FolderIndexes
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.supervisor import EngineAddress, EngineSupervisor
from lsp_harness.verify.check import CheckContext, CheckTools
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff
from tests.config.test_behaviour import observe_fix
from tests.harness.bench import Bench
from tests.harness.spoken import open_selection
from tests.harness.test_edit_verbs import LIKE, MANY
from tests.harness.tools import make_settings
from tests.index.place import IndexedFolder

SOURCE = """\
[model]
path = "qwen2.5-coder-0.5b-instruct"
context_length = 8192
n_gpu_layers = -1

[generation]
candidates = 5
max_retries = 3
temperature = 0.6
temperature_classify = 0.1

[context]
system_budget = 256
code_budget = 1536
task_budget = 512
few_shot_examples = 3

[verification]
parse_check = true
lint = true
type_check = false
test = true
diff_review = true

[index]
embedding_model = "nomic-embed-text"
update_on_save = true
"""

Observe = Callable[[Config, Path], Awaitable[Any]]


async def observe_fixing(config: Config, folder: Path) -> Any:
    """Return the requests, the checks and the end of a fix whose candidates all fail."""
    try:
        return await observe_fix(make_settings(config, generation={"repairs": False}), folder)
    except pytest.fail.Exception:
        # a candidate passed
        return "fixed"


async def observe_engine(config: Config, folder: Path) -> Any:
    """Return the arguments of the engine process that depend on settings."""
    argv = EngineSupervisor(config)._argv(folder / "m.gguf", EngineAddress(folder / "s", folder / "l"))
    arguments = parse_arguments(list(argv[argv.index("lsp_harness.engine.main") + 1 :]))
    return arguments.n_ctx, arguments.n_gpu_layers, arguments.embedding_model


async def observe_model(config: Config, folder: Path) -> Any:
    """Return the name of the model that is reported as missing."""
    with pytest.raises(ModelMissing) as error:
        resolve_model(config.model.path)
    return error.value.message


async def observe_examples(config: Config, folder: Path) -> Any:
    """Return the examples in the prompt of an edit."""
    config = make_settings(config, context={"related_budget": 0, "few_shot_budget": 900})
    with closing(IndexedFolder(folder / "indexed", MANY)) as indexed:
        bench = Bench(folder, Verifier(CheckTools(Ruff())), config, (), index=ReadyIndex(indexed.query))
        where = open_selection(bench, LIKE.format("from web import app\n\n", "<|>bill"))
        prompt = await (await bench.harness.preview()).edit(*where, "return a page")
        await bench.harness.aclose()
    return sum(f"def {name}(id: int):" in prompt.text for name in ("user", "order", "item"))


async def observe_index(config: Config, folder: Path) -> Any:
    """Return whether and how the index of a folder is kept."""
    kept: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FolderIndexes, "keep", lambda self, roots, *, follow: kept.append(follow))
        bench = Bench(folder, Verifier(CheckTools(Ruff())), config, (), works_ahead=True)
        bench.harness.keep_indexes()
        await bench.harness.aclose()
    return kept


async def observe_checks(config: Config, folder: Path) -> Any:
    """Return the checks of an edit in a project with tests."""
    tools = CheckTools(Ruff(), suites=cast("SuiteComparison", object()), reviewer=cast("Reviewer", object()))
    return [check.name for check in create_checks(config.verification, CheckContext(tools, task="square it"))]


ROWS: dict[str, tuple[Any, Observe | None]] = {
    "model.path": ("qwen2.5-coder-1.5b-instruct", observe_model),
    "model.context_length": (2048, observe_engine),
    "model.n_gpu_layers": (0, observe_engine),
    "generation.candidates": (7, observe_fixing),
    "generation.max_retries": (1, observe_fixing),
    "generation.temperature": (0.25, observe_fixing),
    "generation.temperature_classify": (0.5, None),
    "context.system_budget": (3, observe_fixing),
    "context.code_budget": (3, observe_fixing),
    "context.task_budget": (8, observe_fixing),
    "context.few_shot_examples": (0, observe_examples),
    "verification.parse_check": (False, observe_fixing),
    "verification.lint": (False, observe_fixing),
    "verification.type_check": (True, observe_checks),
    "verification.test": (False, observe_checks),
    "verification.diff_review": (False, observe_checks),
    "index.embedding_model": ("all-minilm-l6-v2", observe_engine),
    "index.update_on_save": (False, observe_index),
}
"""Key → another value, and what shows its effect. The keys without an observer are tested with their features."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path / "models"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    return project


def read(folder: Path, key: str = "", value: Any = None, name: str = "localcode.toml") -> Config:
    """Return the settings of a project with the file of the first design, with one changed key."""
    lines: list[str] = []
    table = ""
    for line in SOURCE.splitlines():
        table = line.strip("[]") if line.startswith("[") else table
        is_key = f"{table}.{line.partition(' ')[0]}" == key
        lines.append(f"{key.partition('.')[2]} = {json.dumps(value)}" if is_key else line)
    assert not key or lines != SOURCE.splitlines()
    (folder / name).write_text("\n".join(lines))
    config, problems = load(folder, {})
    assert problems == []
    return config


@pytest.mark.parametrize("name", ["localcode.toml", "lsp-harness.toml"])
def test_the_file_of_the_first_design_is_read(folder: Path, name: str) -> None:
    config = read(folder, name=name)
    assert (config.model.context_length, config.generation.candidates, config.context.few_shot_examples) == (8192, 5, 3)
    assert (config.verification.lint, config.index.embedding_model) == (True, "nomic-embed-text")
    assert len(ROWS) == 18


def test_the_embedding_model_of_the_file_is_found_in_the_catalogue() -> None:
    assert card("nomic-embed-text").name == "nomic-embed-text-v1.5"


@pytest.mark.process
@pytest.mark.parametrize("key", ROWS)
async def test_each_key_has_an_observable_effect(folder: Path, key: str) -> None:
    value, observe = ROWS[key]
    if observe is None:
        table, name = key.split(".")
        assert getattr(getattr(read(folder, key, value), table), name) == value
        return
    before = await observe(read(folder), folder)
    after = await observe(read(folder, key, value), folder)
    assert before != after


def test_the_environment_wins(folder: Path) -> None:
    read(folder)
    assert load(folder, {"LSP_HARNESS_GENERATION__CANDIDATES": "9"})[0].generation.candidates == 9

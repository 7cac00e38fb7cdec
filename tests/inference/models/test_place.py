"""Tests of the model file that a setting names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.config.schema import ModelSettings
from lsp_harness.errors import ModelError, ModelMissing, UnknownModel
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import card, cards

SMALL = "qwen2.5-coder-0.5b-instruct"


def lay(folder: Path, name: str = SMALL, *, size: int | None = None, magic: bytes = b"GGUF") -> Path:
    """Write a sparse file at the place of a model."""
    model = card(name)
    folder.mkdir(exist_ok=True)
    path = folder / model.file
    path.write_bytes(magic)
    os.truncate(path, model.bytes if size is None else size)
    return path


def test_every_card_can_be_pulled_by_the_rules():
    for model in cards():
        assert model.sources
        assert model.license
        assert (len(model.sha256), model.bytes > 0) in {(64, True), (0, False)}
        # what fills holes says how an answer ends
        assert bool(model.fim.stops) == ("fim" in model.abilities)
        assert bool(model.abilities) == (model.kind == "completion")
        assert model.expected_bytes
        assert 0 < model.active <= model.parameters or model.kind == "embedding"
        assert card(model.name) is model
    assert len({model.file for model in cards()}) == len(cards())
    assert ModelSettings().path in {model.name for model in cards()}


def test_a_model_of_the_other_kind_is_refused_by_name(models: Path):
    lay(models)
    lay(models, "all-minilm-l6-v2")
    with pytest.raises(
        ModelError, match=f"{SMALL} is a model for completion, not for embedding; choose one of all-minilm-l6-v2"
    ):
        model_files.resolve_model(SMALL, "embedding")
    with pytest.raises(ModelError, match=f"choose one of {SMALL}, "):
        model_files.resolve_model("all-minilm-l6-v2", "completion")
    assert model_files.resolve_model(SMALL, "completion") == model_files.resolve_model(SMALL)


def test_a_name_means_the_file_in_the_folder(models: Path):
    path = lay(models)
    assert model_files.resolve_model(SMALL) == path
    assert model_files.model_state(card(SMALL)) == "present"


def test_a_path_means_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own.gguf").write_bytes(b"GGUF and more")
    monkeypatch.chdir(tmp_path)
    assert model_files.resolve_model("own.gguf") == tmp_path / "own.gguf"


def test_a_model_that_was_never_pulled_names_the_command(models: Path):
    with pytest.raises(ModelMissing, match=f"run: lsp-harness model pull {SMALL}") as error:
        model_files.resolve_model(SMALL)
    assert error.value.exit_code == 3


@pytest.mark.parametrize("spec", ["nothing.gguf", "./nothing", "/nothing/here", "~nobody-here/a.gguf"])
def test_a_path_without_a_file_is_missing(models: Path, spec: str):
    with pytest.raises(ModelMissing, match="there is no model file /"):
        model_files.resolve_model(spec)


def test_an_unknown_name_of_a_model_lists_the_known_ones(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # a file of that name in the folder the engine was started in is not meant
    (tmp_path / "gpt-17").write_bytes(b"GGUF and more")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownModel) as error:
        model_files.resolve_model("gpt-17")
    assert all(model.name in error.value.message for model in cards())
    with pytest.raises(UnknownModel, match=SMALL):
        card("gpt-17")


def test_a_file_of_the_wrong_kind_or_size_is_refused(models: Path, tmp_path: Path):
    text = tmp_path / "own.gguf"
    text.write_bytes(b"text")
    with pytest.raises(ModelError, match=r"own\.gguf is not a GGUF file"):
        model_files.resolve_model(str(text))
    lay(models, magic=b"NOPE")
    with pytest.raises(ModelError, match="is not a GGUF file"):
        model_files.resolve_model(SMALL)
    lay(models, size=1000)
    assert model_files.model_state(card(SMALL)) == "damaged"
    with pytest.raises(ModelError, match=f"has the wrong size; run: lsp-harness model pull {SMALL}"):
        model_files.resolve_model(SMALL)


def test_a_found_place_is_forgotten_when_the_file_changes(tmp_path: Path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    model_files.record_sha256(path, "ab" * 32)
    assert model_files.recorded_sha256(path) == "ab" * 32
    os.utime(path, ns=(0, 0))
    assert model_files.recorded_sha256(path) == ""
    model_files.record_sha256(path, "ab" * 32)
    (tmp_path / "m.gguf.json").write_text("{")
    assert model_files.recorded_sha256(path) == ""


@pytest.mark.process
def test_the_server_does_not_import_modules_for_downloads():
    code = "import sys, lsp_harness.inference.models.model_files as p; p.cards(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "lsp_harness.inference.models.model_sources" in loaded
    assert not {"httpx2", "rich", "zipfile", "subprocess", "lsp_harness.inference.models.pull"} & set(loaded)

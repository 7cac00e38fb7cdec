"""`lsp-harness --version`: the version alone on the first line, then the library and the model in words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.cli import version_report
from lsp_harness.config.schema import ModelSettings
from lsp_harness.wire.version import VERSION
from tests.cli.conftest import Shell

DEFAULT_MODEL = ModelSettings().path


@pytest.fixture
def bare_shell(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell on a machine without a library and without models."""
    monkeypatch.setattr("lsp_harness.inference.libraries.library_choice.find_compiled", lambda reason: None)
    shell.set("LSP_HARNESS_LIBRARIES", str(tmp_path / "libraries"))
    return shell


def read_parts(shell: Shell) -> tuple[str, str]:
    """Return the lines about the library and the model. The first line must be the version."""
    result = shell.run("--version")
    version, library, model = result.out.splitlines()
    assert (result.code, result.err, version) == (0, "", VERSION)
    return library, model


def test_a_missing_library_and_model_are_said_in_words(bare_shell: Shell):
    library, model = read_parts(bare_shell)
    assert library.startswith("library: missing (")
    assert model == f"model: {DEFAULT_MODEL} (missing; run: lsp-harness setup)"


@pytest.mark.parametrize(
    ("settings", "library", "model"),
    [
        ({"ENGINE__URL": "http://name:secret@host:1"}, "not needed", "the one that it serves (of a remote server)"),
        ({"ENGINE__MODEL": "ollama/tiny"}, "not needed", "ollama/tiny (of a remote server)"),
        ({"ENGINE__SCRIPT": "replies.json"}, "not needed", "scripted replies"),
        ({"MODEL__PATH": "tiny.gguf", "ENGINE__LIBRARY": "./"}, "{folder}", "tiny.gguf"),
        (
            {"MODEL__PATH": "unknown", "ENGINE__LIBRARY": "unknown"},
            "missing (there is no prebuilt library “unknown”; see lsp-harness doctor)",
            (
                "unknown (missing: “unknown” is neither a GGUF file nor a model of the catalogue; "
                "see lsp-harness model list)"
            ),
        ),
    ],
)
def test_the_settings_decide_which_library_and_model_are_shown(
    bare_shell: Shell, settings: dict[str, str], library: str, model: str
):
    bare_shell.file("tiny.gguf", b"GGUF" + bytes(64))
    for name, value in settings.items():
        bare_shell.set(f"LSP_HARNESS_{name}", value)
    expected = library.format(folder=bare_shell.folder)
    assert read_parts(bare_shell) == (f"library: {expected}", f"model: {model}")


def test_settings_that_cannot_be_read_leave_the_version(bare_shell: Shell, monkeypatch: pytest.MonkeyPatch):
    def fail(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(version_report, "load", fail)
    assert read_parts(bare_shell) == ("library: unknown (Permission denied)", "model: unknown (Permission denied)")


def test_programs_get_the_same_as_json(bare_shell: Shell):
    answer = json.loads(bare_shell.run("--json", "--version").out)
    assert answer.keys() == {"version", "wire", "library", "model"}
    assert answer["model"] == f"{DEFAULT_MODEL} (missing; run: lsp-harness setup)"


def test_the_version_of_a_command_is_the_version_alone(bare_shell: Shell):
    assert bare_shell.run("search", "--version").out == f"{VERSION}\n"


def test_the_version_loads_no_engine_and_no_arrays(home: Path):
    code = (
        "import sys\nfrom lsp_harness.cli.usage_errors import run_command\nrun_command(['--version'])\n"
        "print([name for name in sys.modules if name.startswith(('numpy', 'httpx2', 'lsp_harness.engine', 'llama'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"

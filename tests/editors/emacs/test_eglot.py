"""Emacs with eglot and the real server, configured as docs/editors.md says. The engine is a script."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import find_program_problem

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs/editors.md"
TEXT = "def mean(values):\n    total = sum(values)\n    return \n"


def need(program: str) -> str:
    """Return the path of a program. Without it, skip the test, but fail in CI."""
    if problem := find_program_problem(program):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(problem)
    return program


def read_snippet() -> str:
    """Return the code for the init.el of users: the only block with eglot on the page."""
    (block,) = [text for text in re.findall(r"```elisp\n(.*?)```", PAGE.read_text(), re.DOTALL) if "eglot" in text]
    return block


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run smoke.el and return the output of Emacs."""
    folder = tmp_path_factory.mktemp("emacs")
    (folder / "project/.git").mkdir(parents=True)
    (folder / "project/demo.py").write_text(TEXT)
    (folder / "project/ruff.toml").write_text('[lint]\nselect = ["F"]\n')
    settings = "[generation]\ncandidates = 1\n[completion]\nspeculate = false\n"
    (folder / "project/lsp-harness.toml").write_text(settings)
    replies = [{"text": "total / len(valeus)", "expect": "def mean"}, {"text": "y"}]
    (folder / "script.json").write_text(json.dumps(replies))
    (folder / "init.el").write_text(read_snippet())
    environment = {
        **os.environ,
        "HOME": str(folder),
        # the folder of `lsp-harness`
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SNIPPET": str(folder / "init.el"),
        "LSP_HARNESS_HOME": str(folder / "home"),
        "LSP_HARNESS_ENGINE__SCRIPT": str(folder / "script.json"),
    }
    # not -Q, which would hide the packages of a distribution, such as eglot
    command = [need("emacs"), "-q", "--batch", "-l", str(HERE / "smoke.el")]
    ran = subprocess.run(
        command, cwd=folder / "project", env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert (folder / "project/demo.py").read_text() == TEXT, "nothing is saved"
    return ran.stderr


def test_eglot_connects_with_the_settings_of_the_page(run: str):
    assert "ok connected" in run


def test_a_completion_is_offered_and_accepted(run: str):
    assert 'ok item ("total / len(valeus)")' in run
    assert "ok completed" in run


def test_a_command_of_the_server_is_run(run: str):
    assert "ok command" in run


def test_a_finding_of_a_completion_is_shown_by_flymake(run: str):
    assert re.search(r"ok about .*Undefined name `valeus'?", run)


def test_the_repair_without_a_model_is_named_in_the_code_actions_and_applied_by_the_server(run: str):
    (offered,) = re.findall(r"ok actions (.*)", run)
    assert "Fix with lsp-harness: `valeus` → `values`" in offered
    assert "ok fixed" in run
    assert "ok clean" in run


def test_an_outdated_finding_changes_no_text_and_is_explained(run: str):
    assert "Fix with lsp-harness: Undefined name" in re.findall(r"ok reported values (.*)", run)[0]
    assert re.search(r"ok refused .*no longer there: ruff does not report F821 there", run)
    assert "ok unchanged" in run


def test_the_model_chooses_one_of_two_likely_repairs(run: str):
    assert "ok chosen" in run


def test_the_server_of_eglot_ends_in_order(run: str):
    assert run.rstrip().splitlines()[-1].startswith("ok shutdown")

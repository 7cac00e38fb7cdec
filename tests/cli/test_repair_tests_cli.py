"""`lsp-harness fix --tests` with real tests in the sandbox and a scripted model."""

import json

import pytest

from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from tests.cli.conftest import Shell

BROKEN = "def double(n):\n    return 7 * n\n"
"""No other operator and no neighbour of a number makes it right, so the model is asked."""
TESTS = "from area import double\n\n\ndef test_double():\n    assert double(4) == 8\n"

pytestmark = pytest.mark.skipif(not machine_sandbox().is_confined, reason="no sandbox works here")


@pytest.fixture(autouse=True)
def _trust(shell: Shell) -> None:
    shell.set("LSP_HARNESS_PERMISSIONS__TRUSTED_FOLDERS", json.dumps([str(shell.folder)]))


def test_the_code_that_makes_tests_fail_is_repaired(shell: Shell) -> None:
    file = shell.file("area.py", BROKEN)
    shell.file("test_area.py", TESTS)
    shell.replies("return 2 * n", "return 2 * n")
    result = shell.run("fix", "area.py", "--tests", "--apply")
    assert (result.code, file.read_text()) == (0, "def double(n):\n    return 2 * n\n"), result.err
    assert "-    return 7 * n\n+    return 2 * n\n" in result.out
    assert "tests ✓" in result.out


def test_without_failing_tests_the_model_is_not_asked(shell: Shell) -> None:
    shell.file("area.py", BROKEN.replace("7", "2"))
    shell.file("test_area.py", TESTS)
    shell.replies()
    result = shell.run("fix", "area.py", "--tests")
    assert result.code == 5
    assert "no test that depends on area.py fails" in result.err


@pytest.mark.parametrize("mode", ["", "trust", "auto", "acceptEdits", "bypassPermissions"])
def test_without_trust_and_without_a_person_no_test_is_started(mode: str, shell: Shell) -> None:
    shell.set("LSP_HARNESS_PERMISSIONS__TRUSTED_FOLDERS", json.dumps([]))
    shell.set("LSP_HARNESS_PERMISSIONS__MODE", mode)
    shell.file("area.py", BROKEN)
    shell.file("test_area.py", TESTS)
    shell.replies()
    result = shell.run("fix", "area.py", "--tests")
    assert result.code == 5
    assert f"you have not said that you trust {shell.folder}" in result.err
    assert "add its folder to permissions.trusted_folders" in result.err


def test_the_options_tests_and_failing_exclude_each_other(shell: Shell) -> None:
    shell.file("area.py", BROKEN)
    result = shell.run("fix", "area.py", "--tests", "--failing", "output.txt")
    assert result.code == 2
    assert "use --tests to run the tests" in result.err

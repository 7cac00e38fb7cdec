"""The packages of lsp-harness: the extras that pyproject.toml declares, and what a command says without them."""

import re
import sys
from collections.abc import Iterator
from importlib import metadata

import pytest

from lsp_harness import extras
from lsp_harness.cli.doctor.doctor_installation import EXTRA_USES, check_packages
from lsp_harness.cli.main import main
from lsp_harness.errors import ExtraMissing
from tests.test_tidy import PROJECT

DECLARED = PROJECT["project"]["optional-dependencies"]
REQUIREMENTS = [
    "pygls>=2.1",
    'made-up>=1; extra == "engine"',
    'agent-client-protocol<2,>=1; extra == "acp"',
    f'json; (sys_platform == "{sys.platform}") and extra == "api"',
    "made-for-elsewhere; sys_platform == 'amiga' and extra == 'api'",
    'lsp-harness[engine]; extra == "all"',
]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An lsp-harness with the requirements above."""
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIREMENTS)
    extras.read_extras.cache_clear()
    extras.list_missing_packages.cache_clear()
    yield
    extras.read_extras.cache_clear()
    extras.list_missing_packages.cache_clear()


def test_the_extras_are_those_that_a_user_is_told_about():
    assert set(DECLARED) == {*EXTRA_USES, extras.ALL}
    assert set(extras.read_extras()) == set(EXTRA_USES), "run `make setup` after a change of the extras"
    [everything] = DECLARED[extras.ALL]
    names = re.fullmatch(r"lsp-harness\[(.*)\]", everything)
    assert names
    assert set(names[1].split(",")) == set(EXTRA_USES)


@pytest.mark.usefixtures("installed")
def test_the_packages_of_an_extra_are_read_from_the_metadata():
    assert extras.read_extras() == {
        "engine": (extras.RequiredPackage("made_up", "made-up>=1"),),
        "acp": (extras.RequiredPackage("acp", "agent-client-protocol<2,>=1"),),
        "api": (extras.RequiredPackage("json", "json"),),
    }
    assert [package.module for package in extras.list_missing_packages("engine")] == ["made_up"]
    assert extras.list_missing_packages("api") == extras.list_missing_packages("unknown") == ()


@pytest.mark.usefixtures("installed")
def test_a_missing_package_is_one_sentence_with_its_command():
    with pytest.raises(ExtraMissing) as raised, extras.need_extra("engine"):
        import made_up  # pyright: ignore[reportMissingImports]  # noqa: F401
    sentence = "this needs the package made_up; run: pip install 'lsp-harness[engine]'"
    assert raised.value.message == extras.describe_missing_extra("engine") == sentence
    assert extras.describe_missing_extra("api") == ""


@pytest.mark.usefixtures("installed")
def test_a_missing_module_of_this_package_is_no_missing_extra():
    with pytest.raises(ModuleNotFoundError), extras.need_extra("engine"):
        import lsp_harness.made_up  # pyright: ignore[reportMissingImports]  # noqa: F401


@pytest.mark.usefixtures("installed")
def test_a_command_reports_the_missing_package_behind_other_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def fail(arguments: list[str]) -> int:
        try:
            raise ModuleNotFoundError("No module named 'made_up.part'", name="made_up.part")
        except ModuleNotFoundError as error:
            raise ImportError("Cannot import the command") from error

    monkeypatch.setattr("lsp_harness.cli.usage_errors.run_command", fail)
    with pytest.raises(SystemExit) as ended:
        main(["x"])
    assert ended.value.code == ExtraMissing.exit_code
    assert capsys.readouterr().err == (
        "lsp-harness: this needs the package made_up; run: pip install 'lsp-harness[engine]'\n"
    )


@pytest.mark.usefixtures("installed")
def test_doctor_lists_the_extras_and_what_the_missing_ones_are_for():
    rows = {row.what: row for row in check_packages()}
    assert rows["extras"].says == "installed: acp, api"
    assert rows["extra engine"].state == "note"
    assert rows["extra engine"].says == "a model needs 1 package more; run: pip install 'lsp-harness[engine]'"

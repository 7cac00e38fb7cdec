"""Tests of ruff as a linter: the reason is given if its settings exclude every finding."""

from pathlib import Path

import pytest

from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.checks import LintCheck, ResolvedCheck
from lsp_harness.verify.current_findings import examine_text
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import CANARY_TTL_S, Ruff, RuffFailed
from tests.verify.single_change import check_change

pytestmark = pytest.mark.process

EXCLUDED = 'force-exclude = true\nexclude = ["a.py", "old"]\n'
UNKNOWN = "x = pi\n"
BAD = [
    (EXCLUDED, "ruff's settings exclude this file"),
    ('required-version = ">=99"\n', "Required version `>=99` does not match the running version"),
    ("select = \n", "TOML parse error at line 1, column 10"),
    ("no-such-setting = 1\n", "unknown field `no-such-setting`"),
    ('extend = "gone.toml"\n', "gone.toml"),
]


def make_document(project: Path, text: str, name: str = "a.py") -> Document:
    return Document.from_text((project / name).as_uri(), text)


@pytest.mark.parametrize(("settings", "reason"), BAD)
async def test_settings_that_exclude_all_files_or_rules_are_reported(project: Path, settings: str, reason: str) -> None:
    (project / "ruff.toml").write_text(settings)
    for text in (UNKNOWN, "x = 1\n"):
        with pytest.raises(RuffFailed) as raised:
            await Ruff().check(make_document(project, text), project / "a.py", project)
        assert reason in raised.value.message
        assert "\n" not in raised.value.message


@pytest.mark.parametrize(("settings", "reason"), BAD)
async def test_settings_that_exclude_everything_skip_the_checks(project: Path, settings: str, reason: str) -> None:
    (project / "ruff.toml").write_text(settings)
    document = make_document(project, UNKNOWN)
    change = Change.from_documents(document, make_document(project, "x = tau\n"), project / "a.py", project)
    ruff = Ruff()
    for check in (LintCheck(ruff), ResolvedCheck(ruff, Finding(4, 6, "Undefined name `pi`", "ruff", "F821"))):
        outcome = await check_change(check, change)
        assert (outcome.status, outcome.findings) == ("skipped", ())
        assert reason in outcome.reason


@pytest.mark.parametrize(("settings", "reason"), BAD)
async def test_a_syntax_error_is_found_although_the_settings_exclude_everything(
    project: Path, settings: str, reason: str
) -> None:
    (project / "ruff.toml").write_text(settings)
    document = make_document(project, "x = (1\n")
    examined = await examine_text(document, parse(document), Ruff(), project / "a.py", project)
    assert [finding.code for finding in examined.findings] == ["syntax"]
    assert examined.checks == ("syntax",)

    document = make_document(project, UNKNOWN)
    examined = await examine_text(document, parse(document), Ruff(), project / "a.py", project)
    assert (examined.findings, examined.checks) == ((), ("syntax",))
    assert reason in examined.skip_reasons[0]


async def test_rules_are_named_and_errors_of_the_program_come_first(project: Path, ruff: Ruff) -> None:
    document = make_document(project, "import os\nx = pi\n")
    examined = await examine_text(document, parse(document), ruff, project / "a.py", project)
    assert [finding.code for finding in examined.findings] == ["F821", "F401"]
    assert (examined.checks, examined.skip_reasons) == (("syntax", "ruff"), ())


async def test_a_file_beside_an_excluded_one_is_checked(project: Path) -> None:
    (project / "ruff.toml").write_text(EXCLUDED)
    ruff = Ruff()
    [report] = await ruff.check(make_document(project, UNKNOWN, "b.py"), project / "b.py", project)
    assert report.finding.code == "F821"
    assert await ruff.check(make_document(project, "x = 1\n", "b.py"), project / "b.py", project) == ()
    with pytest.raises(RuffFailed, match="exclude this file"):
        await ruff.check(make_document(project, "x = 1\n", "old/b.py"), project / "old" / "b.py", project)


async def test_settings_that_begin_to_exclude_a_file_are_noticed_after_a_while(project: Path) -> None:
    now = 100.0
    ruff = Ruff(lambda: now)
    assert await ruff.check(make_document(project, "x = 1\n"), project / "a.py", project) == ()
    (project / "ruff.toml").write_text(EXCLUDED)
    assert await ruff.check(make_document(project, "x = 2\n"), project / "a.py", project) == ()
    now += CANARY_TTL_S
    with pytest.raises(RuffFailed, match="exclude this file"):
        await ruff.check(make_document(project, "x = 3\n"), project / "a.py", project)


async def test_an_isolated_run_ignores_comments_and_settings(project: Path, ruff: Ruff) -> None:
    document = make_document(project, "x = pi  # noqa\n")
    assert await ruff.check(document, project / "a.py", project) == ()
    [report] = await ruff.check(document, project / "a.py", project, select="F821", isolated=True)
    assert report.finding.code == "F821"
    assert await ruff.check(document, project / "a.py", project, select="F821") == ()

"""Verdicts about texts: short, about exactly these bytes, and without running code that nobody trusts."""

import hashlib
import json
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.errors import UsageError
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.mcp.served_project import ServedProject
from lsp_harness.mcp.text_verification import Replacement, TextVerifier
from tests.mcp.conftest import GEO, LATEST, Connect, ServedFolder, connect_forked, read_result_text
from tests.support.project_suites import require_sandbox

FORKED = pytest.mark.parametrize("connect", [f"stdio {LATEST}"], indirect=True)
"""A verdict is the same over each transport and in each version, which other tests show."""

MAX_TOKENS = 200
BYTES_PER_TOKEN = 3
"""Bytes of a token in the worst case of such lines."""


@pytest.fixture
async def verifier(served: ServedFolder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(served.home))
    project = ServedProject(served.root, Config(), make_engine)
    yield TextVerifier(project)
    await project.aclose()


async def test_a_verdict_is_about_exactly_these_bytes(verifier: TextVerifier):
    text = GEO.replace("3 *", "4 *")
    verdict = await verifier.verify_change("geo.py", text)
    # no code of a folder runs that is not trusted, so nobody knows what the text does
    assert (verdict.word, verdict.heading) == ("form", "form ✓, behaviour not checked")
    assert verdict.verdict.hash == hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    same = await verifier.verify_change("geo.py", None, [Replacement("3 *", "4 *")])
    assert same.verdict.hash == verdict.verdict.hash


async def test_earlier_findings_are_not_blamed_on_a_change(verifier: TextVerifier, served: ServedFolder):
    (served.root / "geo.py").write_text("import os\n" + GEO)
    assert (await verifier.verify_change("geo.py", None, [Replacement("3 *", "4 *")])).word == "form"
    present = await verifier.verify_file("geo.py")
    assert present.word == "failed"
    assert "line 1: LINT: F401 `os` imported but unused" in present.findings


async def test_a_new_error_fails_and_is_named(verifier: TextVerifier):
    unknown = await verifier.verify_change("geo.py", None, [Replacement("3 *", "tau *")])
    assert unknown.word == "failed"
    assert unknown.findings == ("line 5: LINT: F821 Undefined name `tau`",)
    broken = await verifier.verify_change("geo.py", "def area(:\n")
    statuses = {outcome.check: outcome.status for outcome in broken.verdict.outcomes}
    assert statuses == {"syntax": "failed", "lint": "skipped", "types": "skipped", "tests": "skipped"}


async def test_a_new_file_is_checked(verifier: TextVerifier, served: ServedFolder):
    assert (await verifier.verify_change("new.py", "x = 1\n")).word == "form"
    assert (await verifier.verify_change("new.py", "x = y\n")).word == "failed"
    assert not (served.root / "new.py").exists()


@FORKED
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("area.ts", "export const area = (radius: number) => radiis.pth();\n"),
        ("area.rs", "fn area(path: &std::path::Path) -> bool {\n    path.is_dri()\n}\n"),
    ],
)
async def test_a_verdict_by_the_syntax_alone_is_incomplete(
    connect: Connect, served: ServedFolder, path: str, text: str
):
    async with connect(served) as client:
        verdict = await client.call_tool("verify_change", {"path": path, "text": text})
    lines = read_result_text(verdict).splitlines()
    assert lines[0].startswith(f"incomplete: {path} ")
    assert lines[1] == "passed: syntax"
    assert all(f"{check} (" in lines[2] for check in ("lint", "types", "tests"))
    assert (verdict.structured_content or {})["verdict"] == "incomplete"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("../x.py", "outside of the workspace"),
        ("/etc/passwd", "outside of the workspace"),
        (".git/config", "a file of the version control"),
        (".env", "must not be read or changed"),
        ("a\0b", "NUL character"),
    ],
)
async def test_files_that_no_agent_may_see_are_refused(verifier: TextVerifier, path: str, problem: str):
    with pytest.raises(UsageError, match=problem):
        await verifier.verify_change(path, "x = 1\n")


async def test_a_call_needs_a_text_or_edits(verifier: TextVerifier):
    for text, edits in ((None, []), ("x = 1\n", [Replacement("3", "4")])):
        with pytest.raises(UsageError, match="either the whole new text or edits"):
            await verifier.verify_change("geo.py", text, edits)
    with pytest.raises(UsageError, match="old does not occur"):
        await verifier.verify_change("geo.py", None, [Replacement("volume", "4")])


def write_tests(root: Path, *, has_mark: bool = True) -> Path:
    """Write tests, which may leave a mark when they run, and return the place of the mark."""
    mark = root.parent / "ran"
    leaves_mark = f"Path({str(mark)!r}).touch()\n" if has_mark else ""
    (root / "test_geo.py").write_text(
        f"from pathlib import Path\n\nfrom geo import edge\n\n{leaves_mark}\n\n"
        "def test_edge():\n    assert edge(0) > 6\n"
    )
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return mark


@pytest.mark.parametrize("connect", [f"stdio {LATEST}", f"http {LATEST}"], indirect=True)
async def test_no_test_of_an_untrusted_folder_is_run(connect: Connect, served: ServedFolder):
    mark = write_tests(served.root)
    async with connect(served) as client:
        verdict = await client.call_tool("verify_change", {"path": "geo.py", "edits": [{"old": "3 *", "new": "0 *"}]})
        await client.call_tool("verify_file", {"path": "geo.py"})
    assert (verdict.structured_content or {})["checks"]["tests"] == "skipped"
    assert "tests (no code of this folder runs" in read_result_text(verdict)
    assert not mark.exists()


async def test_the_tests_of_a_trusted_folder_run_in_a_sandbox(served: ServedFolder):
    require_sandbox()
    write_tests(served.root, has_mark=False)
    served.home.mkdir()
    (served.home / "config.toml").write_text(f"[permissions]\ntrusted_folders = [{json.dumps(str(served.root))}]\n")
    async with connect_forked(served, LATEST) as client:
        verdict = await client.call_tool("verify_change", {"path": "geo.py", "edits": [{"old": "2 *", "new": "0 *"}]})
        good = await client.call_tool("verify_change", {"path": "geo.py", "edits": [{"old": "2 *", "new": "3 *"}]})
        present = await client.call_tool("verify_file", {"path": "geo.py"})
        (served.root / "geo.py").write_text("import no_such_module\n")
        unread = await client.call_tool("verify_file", {"path": "geo.py"})
    assert (verdict.structured_content or {})["checks"]["tests"] == "failed"
    assert "TEST FAIL: test_edge" in read_result_text(verdict)
    assert (good.structured_content or {})["checks"]["tests"] == "passed"
    assert (present.structured_content or {})["checks"]["tests"] == "passed"
    # tests that cannot be imported do not pass
    assert (unread.structured_content or {})["checks"]["tests"] == "failed"
    assert "TEST FAIL: test_geo.py — ModuleNotFoundError" in read_result_text(unread)


@FORKED
async def test_a_verdict_is_shorter_than_200_tokens(connect: Connect, served: ServedFolder):
    (served.root / ("a" * 100)).mkdir()
    path = f"{'a' * 100}/{'b' * 100}.py"
    text = "".join(f"x{number} = an_unknown_name_that_is_rather_long_{number} + another_one\n" for number in range(60))
    async with connect(served) as client:
        result = await client.call_tool("verify_change", {"path": path, "text": text})
        shown = read_result_text(result)
        assert shown.startswith("failed: …")
        assert len(shown.encode()) <= MAX_TOKENS * BYTES_PER_TOKEN
        uri = shown.split()[-1]
        details = (await client.read_resource(uri)).contents[0]
    assert details.text.count("an_unknown_name_that_is_rather_long_") == 60  # pyright: ignore[reportAttributeAccessIssue]

"""The tools that a project configures, as `doctor` lists them."""

from pathlib import Path

import pytest

from lsp_harness.cli.doctor.doctor_installation import check_project_tools
from lsp_harness.verify.project_tools import tools


def test_doctor_lists_the_configured_tools_and_those_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "find_tool", lambda name: None if name == "mypy" else f"/bin/{name}")
    assert list(check_project_tools(tmp_path)) == []
    (tmp_path / "mypy.ini").touch()
    (tmp_path / "Cargo.toml").write_text("[lints.clippy]\nall = 'warn'\n")
    rows = {row.what: row for row in check_project_tools(tmp_path)}
    assert [*rows] == ["mypy", "cargo check", "cargo clippy"]
    assert rows["mypy"].state == "note"
    assert rows["mypy"].says == (
        "mypy.ini configures it, but it is not found, so edits do not go through it; run: pip install mypy"
    )
    assert rows["cargo check"][::2] == ("ok", "Cargo.toml configures it: /bin/cargo")
    assert rows["cargo clippy"].says == "[lints.clippy] in Cargo.toml configures it: /bin/cargo"

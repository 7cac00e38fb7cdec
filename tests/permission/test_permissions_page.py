"""The tables in docs/permissions.md are generated, and no other text of the page changes."""

from pathlib import Path

from lsp_harness.config.schema import tables
from lsp_harness.permission.hooks import HOOK_EVENTS
from lsp_harness.permission.mode_table import MODE_TABLE
from lsp_harness.wire.permission_mode import PERMISSION_MODES, STRICTEST_FIRST
from tools.permissions_page import render, render_hooks, render_modes

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"


def test_the_page_is_generated() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert render(page) == page, "run `make docs`"
    assert all(f"`{name}`" in page for name in (*PERMISSION_MODES, *HOOK_EVENTS))


def test_only_the_tables_change() -> None:
    page = "a\n<!-- modes -->\n<!-- end -->\nb\n<!-- hooks -->\nold\n<!-- end -->\nc\n"
    modes, hooks = render_modes(), render_hooks()
    expected = f"a\n<!-- modes -->\n{modes}\n<!-- end -->\nb\n<!-- hooks -->\n{hooks}\n<!-- end -->\nc\n"
    assert render(page) == expected == render(expected)


def test_the_settings_have_the_same_modes_and_events() -> None:
    assert set(STRICTEST_FIRST) == set(PERMISSION_MODES) == set(MODE_TABLE)
    assert list(HOOK_EVENTS) == list(tables()["hooks"])

"""The page about sessions, whose tables are made from the protocol."""

from pathlib import Path

from lsp_harness.sessions.session_commands import COMMANDS
from tools import sessions_page


def test_the_committed_page_is_current_and_complete():
    page = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")
    assert page == sessions_page.render(page), "run `make docs`"
    assert all(f"| `{name}` |" in page for name in COMMANDS)

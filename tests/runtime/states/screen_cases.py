"""A table of screens of agents, and what a reader must find on each."""

from collections.abc import Callable
from dataclasses import dataclass

from lsp_harness.runtime.agent_state import AgentStatus, BlockKind
from tests.support.agent_screens import (
    Drawing,
    add_claude_composer,
    add_claude_dialog,
    add_codex_composer,
    add_codex_dialog,
    add_gemini_composer,
    add_gemini_dialog,
    add_opencode_composer,
    add_opencode_dialog,
    draw_box,
    draw_claude_talk,
    draw_codex_talk,
    draw_gemini_talk,
    draw_opencode_talk,
)

VERSIONS = {"claude": "2.1.332", "codex": "0.171.0", "gemini": "0.61.0", "opencode": "1.18.33"}
WIDTHS = (80, 120)
CLAUDE_IDLE = "⏸ manual mode on · ? for shortcuts"
CLAUDE_BUSY = "⏸ manual mode on · esc to interrupt"
CLAUDE_HINT = "Esc to cancel · Tab to amend"
CLAUDE_OPTIONS = (
    "1. Yes",
    "2. Yes, and always allow access to /a/rather/long/path/of/a/project/that/is/wrapped from this project",
    "3. Yes, and switch to auto mode",
    "4. No",
)
CODEX_OPTIONS = ("Yes, proceed (y)", "Yes, and do not ask again for this command (p)", "No, and say why (esc)")
CONFIRM = "Enter to confirm · Esc to cancel"
QUOTED = (
    "It prints: Do you want to proceed?",
    "❯ 1. Yes",
    "  2. No",
    "",
    "Esc to cancel · Tab to amend",
    "Would you like to run the following command? › 1. Yes, proceed (y) Enter to confirm · Esc to cancel",
)
"""A dialog that is quoted in an answer, row by row as an agent prints it."""
LOG = "npm notice press enter to continue or esc to cancel: 12 packages are looking for funding, run `npm fund`"


@dataclass(frozen=True)
class ScreenCase:
    """A screen and what a reader must find on it."""

    name: str
    agent: str
    draw: Callable[[int], Drawing]
    status: AgentStatus
    kind: BlockKind = ""
    question: str = ""
    selected: int = -2

    def __str__(self) -> str:
        return self.name


def draw_claude_permission(columns: int, question: str = "Do you want to proceed?", selected: int = 0) -> Drawing:
    body = ("Bash command", "", "touch made.txt", "╌" * (columns - 2), "", question)
    return add_claude_dialog(draw_claude_talk(columns), body, CLAUDE_OPTIONS, CLAUDE_HINT, selected)


def draw_claude_trust(columns: int, options: tuple[str, ...], selected: int) -> Drawing:
    body = ("Accessing workspace:", "", "/srv/w", "", "Is this a project you created or one you trust?", "")
    return add_claude_dialog(Drawing(columns), body, options, CONFIRM, selected)


def draw_codex_permission(columns: int, selected: int = 0) -> Drawing:
    drawing = draw_codex_talk(columns, title="[ ! ] Action Required | w").add("• Running touch made.txt", "", "")
    body = ("Would you like to run the following command?", "Reason: shall the file be made?", "$ touch made.txt")
    return add_codex_dialog(drawing, body, CODEX_OPTIONS, "Press enter to confirm or esc to cancel", selected)


def add_quote(drawing: Drawing) -> Drawing:
    return drawing.add(*(f"  {row}" for row in QUOTED), "")


def add_log(drawing: Drawing) -> Drawing:
    for _ in range(8):
        drawing.text(LOG, indent="     ", first="  ⎿  ")
    return drawing


CASES = [
    # claude
    ScreenCase("claude starts", "claude", lambda w: Drawing(w, [""]), "starting"),
    ScreenCase(
        "claude asks for trust, no first",
        "claude",
        lambda w: draw_claude_trust(w, ("No, exit", "Yes, I trust this folder"), 0),
        "blocked",
        "trust",
        "Is this a project you created or one you trust?",
        0,
    ),
    ScreenCase(
        "claude asks for trust, yes first",
        "claude",
        lambda w: draw_claude_trust(w, ("1. Yes, I trust this folder", "2. No, exit"), 0),
        "blocked",
        "trust",
        "Is this a project you created or one you trust?",
        0,
    ),
    ScreenCase(
        "claude asks for trust, second selected",
        "claude",
        lambda w: draw_claude_trust(w, ("No, exit", "Yes, I trust this folder"), 1),
        "blocked",
        "trust",
        selected=1,
    ),
    ScreenCase(
        "claude asks for a theme",
        "claude",
        lambda w: add_claude_dialog(
            Drawing(w), ("Choose the text style that looks best", ""), ("1. Auto", "2. Dark", "3. Light"), "", 1
        ),
        "blocked",
        "dialog",
        "Choose the text style that looks best",
        1,
    ),
    ScreenCase(
        "claude asks for a login method",
        "claude",
        lambda w: add_claude_dialog(
            draw_claude_talk(w),
            ("Login", "", "Select login method:", ""),
            ("1. An account", "2. Console"),
            "Esc to cancel",
        ),
        "authenticating",
        "auth",
        "Select login method:",
        0,
    ),
    ScreenCase(
        "claude shows the address of a login",
        "claude",
        lambda w: (
            draw_claude_talk(w)
            .add("▔" * w, "  Login", "")
            .text("Browser didn't open? Use the URL below to sign in (c to copy)")
            .add("", "https://example.org/oauth/authorize?client_id=1", "", "  Paste code here if prompted")
            .add(*draw_box(w, [""]), "", "  Esc to cancel")
        ),
        "authenticating",
        "auth",
    ),
    ScreenCase(
        "claude found a key",
        "claude",
        lambda w: add_claude_dialog(
            Drawing(w),
            ("Detected a custom API key in your environment", "", "Do you want to use this API key?", ""),
            ("1. Yes", "2. No (recommended)"),
            CONFIRM,
            1,
        ),
        "authenticating",
        "auth",
        "Do you want to use this API key?",
        1,
    ),
    ScreenCase("claude is ready", "claude", lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE), "ready"),
    ScreenCase(
        "claude is ready and suggests a message",
        "claude",
        lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE, hint="Try to refactor the loader"),
        "ready",
    ),
    ScreenCase(
        "claude has an unsent text",
        "claude",
        lambda w: add_claude_composer(draw_claude_talk(w), "⏸ manual mode on", typed="delete it"),
        "starting",
    ),
    ScreenCase(
        "claude is not logged in",
        "claude",
        lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE, above="Not logged in · run /login".rjust(w)),
        "authenticating",
        "auth",
    ),
    ScreenCase(
        "claude works",
        "claude",
        lambda w: add_claude_composer(
            draw_claude_talk(w, title="◐ Claude Code"), CLAUDE_BUSY, above="✽ Pondering… (2s · ↓ 8 tokens)"
        ),
        "busy",
    ),
    ScreenCase(
        "claude works without a title",
        "claude",
        lambda w: add_claude_composer(draw_claude_talk(w, title="Claude Code"), CLAUDE_BUSY),
        "busy",
    ),
    ScreenCase(
        "claude asks for a command",
        "claude",
        draw_claude_permission,
        "blocked",
        "permission",
        "Do you want to proceed?",
        0,
    ),
    ScreenCase(
        "claude asks for a new file",
        "claude",
        lambda w: draw_claude_permission(w, "Do you want to create made.txt?", 2),
        "blocked",
        "permission",
        "Do you want to create made.txt?",
        2,
    ),
    ScreenCase(
        "claude shows a dialog that no rule knows",
        "claude",
        lambda w: add_claude_dialog(
            draw_claude_talk(w), ("Resume a session", ""), ("yesterday", "last week"), "Enter to select · Esc to cancel"
        ),
        "blocked",
        "dialog",
        "Resume a session",
        0,
    ),
    ScreenCase(
        "claude shows a form that no rule knows",
        "claude",
        lambda w: draw_claude_talk(w).add("─" * w, " Name of the profile", "", f" {CONFIRM}"),
        "blocked",
        "dialog",
    ),
    ScreenCase(
        "claude quoted a dialog",
        "claude",
        lambda w: add_claude_composer(add_quote(draw_claude_talk(w)), CLAUDE_IDLE),
        "ready",
    ),
    ScreenCase(
        "claude quotes a dialog and works",
        "claude",
        lambda w: add_claude_composer(add_quote(draw_claude_talk(w, title="◑ Claude Code")), CLAUDE_BUSY),
        "busy",
    ),
    ScreenCase(
        "claude quoted its own footers and asks",
        "claude",
        lambda w: add_claude_dialog(
            add_quote(draw_claude_talk(w, "The footer says ? for shortcuts when it is idle.")),
            ("Bash command", "", "ls", "", "Do you want to proceed?"),
            CLAUDE_OPTIONS,
            CLAUDE_HINT,
        ),
        "blocked",
        "permission",
        "Do you want to proceed?",
        0,
    ),
    ScreenCase(
        "claude streams a log",
        "claude",
        lambda w: add_claude_composer(add_log(draw_claude_talk(w, title="◐ Claude Code")), CLAUDE_BUSY),
        "busy",
    ),
    # codex
    ScreenCase(
        "codex asks for a login method",
        "codex",
        lambda w: add_codex_dialog(
            Drawing(w), ("Choose how you want to use Codex.",), ("Sign in", "A code"), "Press enter to continue", 0, ">"
        ),
        "authenticating",
        "auth",
        "Choose how you want to use Codex.",
        0,
    ),
    ScreenCase(
        "codex shows the address of a login",
        "codex",
        lambda w: Drawing(w, ["  Finish signing in via your browser", ""]).add(
            "  https://example.org/oauth/authorize?client_id=1", "", "  Press esc to cancel"
        ),
        "authenticating",
        "auth",
    ),
    ScreenCase(
        "codex asks for trust",
        "codex",
        lambda w: add_codex_dialog(
            Drawing(w),
            ("Trust this folder? Codex can read, edit, and run files here",),
            ("Trust and continue", "Back"),
            "enter continue · esc back",
        ),
        "blocked",
        "trust",
        "Trust this folder? Codex can read, edit, and run files here",
        0,
    ),
    ScreenCase("codex shows only a composer", "codex", lambda w: add_codex_composer(draw_codex_talk(w)), "starting"),
    ScreenCase(
        "codex works",
        "codex",
        lambda w: add_codex_composer(draw_codex_talk(w, title="⠋ w"), status="• Working (1s • esc to interrupt)"),
        "busy",
    ),
    ScreenCase("codex streams", "codex", lambda w: add_codex_composer(draw_codex_talk(w, title="⠹ w")), "busy"),
    ScreenCase(
        "codex asks for a command",
        "codex",
        draw_codex_permission,
        "blocked",
        "permission",
        "Would you like to run the following command?",
        0,
    ),
    ScreenCase(
        "codex asks, third selected",
        "codex",
        lambda w: draw_codex_permission(w, 2),
        "blocked",
        "permission",
        selected=2,
    ),
    ScreenCase(
        "codex quoted a dialog", "codex", lambda w: add_codex_composer(add_quote(draw_codex_talk(w))), "starting"
    ),
    ScreenCase(
        "codex quotes a dialog and works",
        "codex",
        lambda w: add_codex_composer(add_quote(draw_codex_talk(w, title="⠹ w"))),
        "busy",
    ),
    # gemini
    ScreenCase(
        "gemini asks for trust under a title that says ready",
        "gemini",
        lambda w: add_gemini_dialog(
            Drawing(w, title="◇  Ready (w)"),
            ("Do you trust the files in this folder?", "", "It can load its settings."),
            ("Trust folder (w)", "Trust parent folder (me)", "Don't trust"),
        ),
        "blocked",
        "trust",
        "Do you trust the files in this folder?",
        0,
    ),
    ScreenCase(
        "gemini asks for a login",
        "gemini",
        lambda w: add_gemini_dialog(
            Drawing(w, title="◇  Ready (w)"),
            ("How would you like to authenticate for this project?",),
            ("Sign in", "Use a key", "Vertex AI"),
            1,
        ),
        "authenticating",
        "auth",
        "How would you like to authenticate for this project?",
        1,
    ),
    ScreenCase(
        "gemini shows the address of a login",
        "gemini",
        lambda w: (
            Drawing(w)
            .text("Please visit the following URL to authorize the application:", indent="")
            .add("", "https://example.org/o/oauth2/auth?client_id=1", "", "Enter the authorization code:")
        ),
        "authenticating",
        "auth",
    ),
    ScreenCase("gemini is ready", "gemini", lambda w: add_gemini_composer(draw_gemini_talk(w)), "ready"),
    ScreenCase(
        "gemini has an unsent text",
        "gemini",
        lambda w: add_gemini_composer(draw_gemini_talk(w), typed="rm"),
        "starting",
    ),
    ScreenCase(
        "gemini works",
        "gemini",
        lambda w: add_gemini_composer(
            draw_gemini_talk(w, title="✦  Working… (w)"), status="⠏ Thinking... (esc to cancel, 2s)"
        ),
        "busy",
    ),
    ScreenCase(
        "gemini works without a title",
        "gemini",
        lambda w: add_gemini_composer(draw_gemini_talk(w, title=""), status="⠏ Thinking... (esc to cancel, 2s)"),
        "busy",
    ),
    ScreenCase(
        "gemini asks for a command",
        "gemini",
        lambda w: add_gemini_dialog(
            draw_gemini_talk(w, title="✋  Action Required (w)"),
            ("? Shell touch made.txt", "", "touch made.txt", "", "Allow execution of [Shell]?"),
            ("Allow once", "Allow for this session", "No, suggest changes (esc)"),
        ),
        "blocked",
        "permission",
        "Allow execution of [Shell]?",
        0,
    ),
    ScreenCase(
        "gemini quoted a dialog", "gemini", lambda w: add_gemini_composer(add_quote(draw_gemini_talk(w))), "ready"
    ),
    # opencode
    ScreenCase("opencode is blank", "opencode", lambda w: Drawing(w), "starting"),
    ScreenCase("opencode is ready", "opencode", lambda w: add_opencode_composer(draw_opencode_talk(w)), "ready"),
    ScreenCase(
        "opencode has an unsent text",
        "opencode",
        lambda w: add_opencode_composer(draw_opencode_talk(w), typed="rm"),
        "starting",
    ),
    ScreenCase(
        "opencode works",
        "opencode",
        lambda w: add_opencode_composer(draw_opencode_talk(w), footer="■■⬝⬝  esc interrupt"),
        "busy",
    ),
    ScreenCase(
        "opencode asks for a command",
        "opencode",
        lambda w: add_opencode_dialog(draw_opencode_talk(w), ("  # Shell command", "", "$ touch made.txt")),
        "blocked",
        "permission",
        selected=-1,
    ),
    ScreenCase(
        "opencode quoted a dialog",
        "opencode",
        lambda w: add_opencode_composer(add_quote(draw_opencode_talk(w))),
        "ready",
    ),
]

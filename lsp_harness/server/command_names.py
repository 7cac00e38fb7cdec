"""The names of the commands a client may execute. They are part of the protocol: editors' own code calls them.

What each does is a file in `execute`.
"""

ACCEPTED = "lspHarness.accepted"
"""[uri, suggestionId]: the user took a suggestion."""
DISMISSED = "lspHarness.dismissed"
"""[uri, suggestionId]: the user took a suggestion off the screen."""
APPLIED = "lspHarness.applied"
"""[uri, proposalId]: the edit of a resolved code action is in the document."""
FIX = "lspHarness.fix"
"""[data of a code action, or {uri, range, failing}]: compute the fix and apply it, for clients that cannot resolve an action's edit."""
STATUS = "lspHarness.status"
"""[]: what this server is and is doing."""
PAUSE = "lspHarness.pause"
"""[scope, on]: nothing comes by itself, `here` (this server) or `everywhere` (all of this user's)."""
STATISTICS = "lspHarness.statistics"
"""[]: what became of suggestions, over all runs; kept on this machine only."""
MODELS = "lspHarness.models"
"""[]: the models known by name, and which of them are here."""
PULL_MODEL = "lspHarness.pullModel"
"""[name]: fetch a model, with progress."""
RESTART_ENGINE = "lspHarness.restartEngine"
"""[]: end the engine of the settings and start it again."""
WHY = "lspHarness.why"
"""[uri of a verdict]: the document that tells what was tried and checked."""

INSTRUCT = "lspHarness.instruct"
"""[{uri, range, instruction, failing?}]: edit these lines as the words say, and apply it; without a range the lines that they are about."""
DOCSTRING = "lspHarness.docstring"
"""[{uri, range}]: describe the function there."""
TESTS = "lspHarness.tests"
"""[{uri, range}]: write tests of the function there into the module's test file."""
EXPLAIN = "lspHarness.explain"
"""[{uri, range}]: what these lines do, in words."""
CONTEXT = "lspHarness.context"
"""[{uri, range, task?}]: what the model would see there, for a completion or an edit by these words."""
LOCATE = "lspHarness.locate"
"""[{task, uri?}]: the code that a task is about, in the folder that the URI is in."""
ASK_INSTRUCTION = "lspHarness.askInstruction"
"""[{uri, range}]: a command of the client's own, which asks the user for words and then executes INSTRUCT."""

ALL = (
    ACCEPTED,
    DISMISSED,
    APPLIED,
    FIX,
    STATUS,
    PAUSE,
    STATISTICS,
    MODELS,
    PULL_MODEL,
    RESTART_ENGINE,
    WHY,
    INSTRUCT,
    DOCSTRING,
    TESTS,
    EXPLAIN,
    CONTEXT,
    LOCATE,
)

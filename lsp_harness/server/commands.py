"""The names of the commands a client may execute. They are part of the protocol: editors' own code calls them."""

ACCEPTED = "lspHarness.accepted"
"""[uri, suggestionId]: the user took a suggestion."""
APPLIED = "lspHarness.applied"
"""[uri, proposalId]: the edit of a resolved code action is in the document."""
FIX = "lspHarness.fix"
"""[data of a code action]: compute the fix and apply it, for clients that cannot resolve an action's edit."""
STATUS = "lspHarness.status"
"""[]: what this server is and is doing."""

ALL = (ACCEPTED, APPLIED, FIX, STATUS)

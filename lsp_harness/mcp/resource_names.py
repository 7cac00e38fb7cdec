"""The URIs of the resources."""

SCHEME = "lsp-harness"
SESSIONS = f"{SCHEME}://sessions"
SESSION = f"{SCHEME}://sessions/{{session}}"
ARTIFACTS = f"{SCHEME}://sessions/{{session}}/artifacts"
ARTIFACT = f"{SCHEME}://sessions/{{session}}/artifacts/{{artifact}}"
VERDICT = f"{SCHEME}://verdicts/{{session}}/{{turn}}"


def session_uri(session_id: str) -> str:
    """Return the URI of the transcript of a session."""
    return SESSION.format(session=session_id)


def verdict_uri(document: str) -> str:
    """Return the URI of the details of a verdict, by the name of its document."""
    return f"{SCHEME}://verdicts/{document}"

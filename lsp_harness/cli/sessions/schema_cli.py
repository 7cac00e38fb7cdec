"""`lsp-harness schema`: the JSON schema of the events of sessions."""

import sys

from lsp_harness.events.event_schema import render


def schema() -> int:
    """Print the JSON schema of the events in the logs of sessions."""
    sys.stdout.write(render())
    return 0

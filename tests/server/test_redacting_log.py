"""The log of the server holds no secret, whatever a message or a traceback quotes."""

import logging
import sys

from lsp_harness.server.server_log import RedactingFormatter

TOKEN = "ghp_" + "a1B2" * 9


def test_a_secret_is_in_no_line_and_no_traceback() -> None:
    try:
        raise ValueError(f"cannot read {TOKEN!r}")
    except ValueError:
        record = logging.LogRecord("a", logging.ERROR, "", 0, "failed on %s", (f"x = {TOKEN}",), sys.exc_info())
    text = RedactingFormatter("%(levelname)s %(name)s: %(message)s").format(record)
    assert text.startswith("ERROR a: failed on x = …\nTraceback")
    assert "ValueError: cannot read '…'" in text
    assert TOKEN not in text

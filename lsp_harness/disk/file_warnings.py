"""Warnings about files and folders. A process logs each sentence once.

The command line prints this log on standard error. The server also sends it to the editor.
"""

import logging

LOGGER_NAME = "lsp_harness.disk"
MAX_REMEMBERED = 1000
"""Maximum number of sentences that are remembered. A process may run for weeks, so the number must be limited."""

_logged: dict[str, None] = {}


def warn_once(sentence: str) -> None:
    """Log a warning, unless this process has logged the same one before."""
    if sentence in _logged:
        return
    while len(_logged) >= MAX_REMEMBERED:
        _logged.pop(next(iter(_logged)), None)
    _logged[sentence] = None
    logging.getLogger(LOGGER_NAME).warning("%s", sentence)


def forget_warnings() -> None:
    """Forget all logged sentences, so that each can be logged again."""
    _logged.clear()

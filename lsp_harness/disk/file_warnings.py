"""Warnings about files and folders: each sentence is said once in a process, through the log named below.

The command line prints this log on standard error; the server also sends it to the editor.
"""

import logging

LOGGER_NAME = "lsp_harness.disk"
MAX_REMEMBERED = 1000
"""Sentences that are remembered as said; a process that runs for weeks must not collect them for ever."""

_said: dict[str, None] = {}


def warn_once(sentence: str) -> None:
    """Log a warning, unless this process has logged the same one before."""
    if sentence in _said:
        return
    while len(_said) >= MAX_REMEMBERED:
        _said.pop(next(iter(_said)), None)
    _said[sentence] = None
    logging.getLogger(LOGGER_NAME).warning("%s", sentence)


def forget_warnings() -> None:
    """Let every sentence be said again."""
    _said.clear()

"""`lsp-harness`: the commands, and what becomes of their errors."""

import errno
import logging
import os
import signal
import sys
from contextlib import suppress

from lsp_harness.disk.file_warnings import LOGGER_NAME
from lsp_harness.errors import FileError, HarnessError, UsageError

BUG, NO_ROOM, INTERRUPTED = 70, 74, 128 + signal.SIGINT
"""Exit statuses: a fault of ours, output or memory that cannot be had, Ctrl-C. The first two are those of sysexits.h."""
CLOSED = 128 + signal.SIGPIPE
"""Whoever read our output has gone, as `head` does."""


def main(argv: list[str] | None = None) -> None:
    """Entry point. Errors are one sentence on stderr and a non-zero code, never a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    _open_streams()
    try:
        code = _run(arguments)
        # what cannot be written any more must be known here, and not when the interpreter has ended
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - whatever it is, a user must not be shown a traceback
        code = _told(error)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments in (["serve"], ["serve", "--stdio"]):
        # what editors run: a fifth of a second of argument parsing would be seen at every start
        from lsp_harness.cli.commands.serve_cli import serve

        return serve()
    from lsp_harness.cli.console import can_show_anything
    from lsp_harness.cli.usage_errors import run

    can_show_anything()
    _show_warnings()
    return run(arguments)


def _open_streams() -> None:
    """Where a standard stream is closed (`>&-`), the next file that is opened would take its place: it leads nowhere instead."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != descriptor:
                    os.dup2(opened, descriptor)
                    os.close(opened)
                setattr(sys, name, open(descriptor, "r" if descriptor == 0 else "w", closefd=False))  # noqa: SIM115


def _show_warnings() -> None:
    """Print what the log of files and folders says, for commands; a server has a log of its own."""
    from lsp_harness.cli.console import warn

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    log = logging.getLogger(LOGGER_NAME)
    log.handlers[:] = [Shown()]
    log.propagate = False


def _told(error: BaseException) -> int:
    """Say in a sentence what went wrong; the exit status. Raises nothing, whatever the state of this process."""
    try:
        code, sentence = _verdict(error)
    except Exception as other:  # noqa: BLE001 - to say why the first could not be said helps nobody
        code, sentence = BUG, f"a bug: {type(error).__name__}, and then {type(other).__name__}"
    if sentence:
        with suppress(Exception):
            from lsp_harness.cli.console import warn

            warn(sentence)
    if code in (CLOSED, NO_ROOM):
        _drop_output()
    return code


def _verdict(error: BaseException) -> tuple[int, str]:
    """The exit status and the sentence for an error."""
    match error:
        case HarnessError():
            return error.exit_code, error.message
        case SystemExit():
            return _status(error), error.code if isinstance(error.code, str) else ""
        case KeyboardInterrupt():
            return INTERRUPTED, ""
        case BrokenPipeError():
            return CLOSED, ""
        case MemoryError():
            return NO_ROOM, "there is not enough memory for this"
        case OSError():
            return _of_system(error)
        case _:
            return BUG, f"a bug: {type(error).__name__}: {error}; {_kept()}"


def _status(error: SystemExit) -> int:
    return error.code if isinstance(error.code, int) else 0 if error.code is None else 1


def _of_system(error: OSError) -> tuple[int, str]:
    """The exit status and the sentence for what the system refuses: where, why, and what to do about it."""
    if _folder_gone():
        return (
            UsageError.exit_code,
            "the current folder was removed or renamed; change to a folder that exists and run this again",
        )
    said = error.strerror or str(error)
    if not error.filename:
        return NO_ROOM, f"standard output cannot be written: {said}; free some room there, or send it elsewhere"
    where = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "change who may use it (chmod, chown), or name another"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some room there, and run this again"
    elif error.errno == errno.EISDIR:
        remedy = "it is a folder, where a file must be; remove it, or name another"
    else:
        remedy = "see what it is with: ls -l"
    return FileError.exit_code, f"{where} cannot be used: {said}; {remedy}"


def _folder_gone() -> bool:
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _kept() -> str:
    """Keep the traceback of the exception at hand; where it is, or why it is nowhere."""
    import traceback

    from lsp_harness.config import paths
    from lsp_harness.disk.file_writing import write_own_file
    from lsp_harness.files.secrets import redact

    try:
        file = paths.state_folder() / "crash.log"
        # an exception may quote the text it was about
        write_own_file(file, redact(traceback.format_exc()).encode("utf-8", "replace"))
    except Exception as error:  # noqa: BLE001 - that the details are lost must not hide what happened
        return f"the details could not be kept ({type(error).__name__}: {error})"
    return f"the details are in {file}"


def _drop_output() -> None:
    """What is left in the buffer cannot be written: without this the interpreter would try once more, and complain."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

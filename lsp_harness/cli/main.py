"""`lsp-harness`: the entry point, which runs a command and reports its error in one sentence."""

import atexit
import errno
import gc
import logging
import os
import signal
import sys
from contextlib import suppress

from lsp_harness.disk.file_warnings import LOGGER_NAME
from lsp_harness.errors import ExtraMissing, FileError, HarnessError, UsageError
from lsp_harness.extras import describe_missing_module
from lsp_harness.files.secret_values import hide_variables
from lsp_harness.process.own_job import end_children_with_this_process
from lsp_harness.process.signals import EXIT_CLOSED
from lsp_harness.process.standard_streams import use_utf_8

EXIT_BUG, EXIT_NO_ROOM, EXIT_INTERRUPTED = 70, 74, 128 + signal.SIGINT
"""Exit statuses for a bug, for missing memory or disk space, and for Ctrl-C. The first two are those of sysexits.h."""


def main(argv: list[str] | None = None) -> None:
    """Run the program. An error is one sentence on standard error and a non-zero exit status, and never a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    _open_streams()
    end_children_with_this_process()
    with hide_variables(os.environ):
        try:
            code = _run(arguments)
            # an error of the output must be known here, because after the end of the interpreter nobody can report it
            if not sys.stdout.closed:
                # a server may have closed it, because its client is gone
                sys.stdout.flush()
        except BaseException as error:  # noqa: BLE001 - users get no traceback of any error
            code = _report_error(error)
    # the interpreter looks for unused objects at its end, which takes 0.2 s with the modules of a server; a process
    # that only calls this function goes on, and needs that search
    atexit.register(gc.freeze)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments in (["serve"], ["serve", "--stdio"]):
        # editors run this command, and parsing its arguments would delay every start by a fifth of a second
        from lsp_harness.cli.commands.serve_cli import serve

        return serve()
    from lsp_harness.cli.console import replace_unencodable
    from lsp_harness.cli.usage_errors import run_command

    replace_unencodable()
    _show_warnings()
    return run_command(arguments)


def _open_streams() -> None:
    """Open /dev/null for each closed standard stream (`>&-`). Otherwise, the next opened file would take its place.

    Then set the encoding of all streams.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                opened = os.open(os.devnull, os.O_RDWR)
                if opened != descriptor:
                    os.dup2(opened, descriptor)
                    os.close(opened)
                setattr(sys, name, open(descriptor, "r" if descriptor == 0 else "w", closefd=False))  # noqa: SIM115
    use_utf_8()


def _show_warnings() -> None:
    """Print the warnings about files and folders on standard error. A server writes them to its own log."""
    from lsp_harness.cli.console import warn

    class WarningPrinter(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warn(record.getMessage())

    log = logging.getLogger(LOGGER_NAME)
    log.handlers[:] = [WarningPrinter()]
    log.propagate = False


def _report_error(error: BaseException) -> int:
    """Report an error in one sentence and return the exit status. This function raises nothing."""
    try:
        code, sentence = _describe_error(error)
    except Exception as other:  # noqa: BLE001 - the first error matters more
        code, sentence = EXIT_BUG, f"a bug: {type(error).__name__}, and then {type(other).__name__}"
    if sentence:
        with suppress(Exception):
            from lsp_harness.cli.console import warn

            warn(sentence)
    if code in (EXIT_CLOSED, EXIT_NO_ROOM):
        _drop_output()
    return code


def _describe_error(error: BaseException) -> tuple[int, str]:
    """Return the exit status and the sentence for an error."""
    match error:
        case HarnessError():
            return error.exit_code, error.message
        case ImportError() if sentence := describe_missing_module(error):
            return ExtraMissing.exit_code, sentence
        case SystemExit():
            return _exit_status(error), error.code if isinstance(error.code, str) else ""
        case KeyboardInterrupt():
            return EXIT_INTERRUPTED, ""
        case BrokenPipeError():
            return EXIT_CLOSED, ""
        case MemoryError():
            return EXIT_NO_ROOM, "there is not enough memory for this"
        case OSError():
            return _describe_system_error(error)
        case _:
            return EXIT_BUG, f"a bug: {type(error).__name__}: {error}; {_save_traceback()}"


def _exit_status(error: SystemExit) -> int:
    return error.code if isinstance(error.code, int) else 0 if error.code is None else 1


def _describe_system_error(error: OSError) -> tuple[int, str]:
    """Return the exit status and the sentence for an error of the system: the file, the reason and the repair."""
    if _is_folder_removed():
        return (
            UsageError.exit_code,
            "the current folder was removed or renamed; change to a folder that exists and run this again",
        )
    reason = error.strerror or str(error)
    if not error.filename:
        return EXIT_NO_ROOM, f"standard output cannot be written: {reason}; free some room there, or send it elsewhere"
    file = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "change who may use it (chmod, chown), or name another"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free some room there, and run this again"
    elif error.errno == errno.EISDIR:
        remedy = "it is a folder, where a file must be; remove it, or name another"
    else:
        remedy = "see what it is with: ls -l"
    return FileError.exit_code, f"{file} cannot be used: {reason}; {remedy}"


def _is_folder_removed() -> bool:
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _save_traceback() -> str:
    """Save the traceback of the current exception. Return the place of the file, or why there is none."""
    import traceback

    from lsp_harness.config import paths
    from lsp_harness.disk.file_writing import write_own_file
    from lsp_harness.files.secrets import redact

    try:
        file = paths.state_folder() / "crash.log"
        # an exception may quote a text with secrets
        write_own_file(file, redact(traceback.format_exc()).encode("utf-8", "replace"))
    except Exception as error:  # noqa: BLE001 - a second error must not hide the first
        return f"the details could not be saved ({type(error).__name__}: {error})"
    return f"the details are in {file}"


def _drop_output() -> None:
    """Redirect standard output to /dev/null.

    Otherwise, the interpreter would write its buffer again and report an error.
    """
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

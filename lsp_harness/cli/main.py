"""`lsp-harness`: the commands, and what becomes of their errors."""

import sys

from lsp_harness.errors import HarnessError


def main(argv: list[str] | None = None) -> None:
    """Entry point. Errors are one sentence on stderr and a non-zero code, never a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments in (["serve"], ["serve", "--stdio"]):
            # what editors run: a fifth of a second of argument parsing would be seen at every start
            from lsp_harness.cli.serve import serve

            sys.exit(serve())
        from lsp_harness.cli.usage import run

        sys.exit(run(arguments))
    except HarnessError as error:
        from lsp_harness.cli.say import warn

        warn(error.message)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - whatever it is, a user must not be shown a traceback
        sys.stderr.write(f"lsp-harness: a bug: {type(error).__name__}: {error}; the details are in {_kept()}\n")
        sys.exit(70)


def _kept() -> str:
    """Keep the traceback of the exception at hand; where it is."""
    import traceback

    from lsp_harness.config import paths
    from lsp_harness.files.secrets import redacted

    file = paths.state() / "crash.log"
    # an exception may quote the text it was about
    file.write_text(redacted(traceback.format_exc()), encoding="utf-8", errors="replace")
    return str(file)

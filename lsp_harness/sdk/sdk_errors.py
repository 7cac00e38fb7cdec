"""The errors of the SDK.

They derive from `lsp_harness.errors.HarnessError`, so that one `except` also catches the errors of a session in this
process. The attributes differ in one point: `exit_code` is the exit status of the session's process, not that of a
command.
"""

from lsp_harness import errors


class HarnessError(errors.HarnessError):
    """An error of a session or of the connection to it.

    Attributes:
        code: A word for programs, such as "exited", "closed", "usage", "wire_version", or the code that the session
            sent.
        stderr: The end of what the process of the session wrote to standard error.
        exit_code: The exit status of that process. It is None if the process has not ended, or if there is none. It is
            negative if a signal ended the process.
    """

    exit_code: int | None  # pyright: ignore[reportIncompatibleVariableOverride] - see the docstring of the module

    def __init__(self, message: str, *, code: str = "error", stderr: str = "", exit_code: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.stderr = stderr
        self.exit_code = exit_code


class HarnessBinaryNotFoundError(HarnessError):
    """The error that the program `lsp-harness` was not found. `tried` has one line for each place."""

    def __init__(self, message: str, tried: tuple[str, ...]) -> None:
        super().__init__(message, code="binary_not_found")
        self.tried = tried

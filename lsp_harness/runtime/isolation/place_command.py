"""Short commands of the programs with which runners start agents, such as `podman image inspect`."""

import subprocess
from dataclasses import dataclass

from lsp_harness.runtime.isolation.runner import CHECK_LIMIT_S


@dataclass(frozen=True, slots=True)
class PlaceResult:
    """The result of a command.

    Attributes:
        exit_code: Its exit status.
        output: Its standard output.
        problem: The last line of its errors if it failed, else an empty text.
    """

    exit_code: int
    output: str
    problem: str


def run_place_command(argv: tuple[str, ...]) -> PlaceResult:
    """Run a command and wait for it. Whatever goes wrong is in the result."""
    try:
        result = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return PlaceResult(-1, "", f"no answer within {CHECK_LIMIT_S:g} seconds")
    except OSError as error:
        return PlaceResult(-1, "", error.strerror or str(error))
    if result.returncode == 0:
        return PlaceResult(0, result.stdout, "")
    lines = [line.strip() for line in result.stderr.splitlines() if line.strip()]
    return PlaceResult(
        result.returncode, result.stdout, lines[-1] if lines else f"its exit status is {result.returncode}"
    )

"""The lookup of the program `lsp-harness`.

A variable that names a wrong program is an error. If the lookup went on to the PATH, a typing error would silently
start another version.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from lsp_harness.sdk.sdk_errors import HarnessBinaryNotFoundError

BINARY_VARIABLE = "LSP_HARNESS_BINARY"
PROGRAM = "lsp-harness"


def find_binary(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the first arguments of the command line that starts `lsp-harness`. Raise HarnessBinaryNotFoundError."""
    search_path = environment.get("PATH", os.defpath)
    if named := environment.get(BINARY_VARIABLE):
        if problem := _program_problem(Path(named)):
            tried = (f"{BINARY_VARIABLE}={named}: {problem}", f"PATH={search_path}: not tried, the variable is set")
            raise HarnessBinaryNotFoundError(
                f"no program was found: {'; '.join(tried)}; correct {BINARY_VARIABLE} or unset it", tried
            )
        return (str(Path(named).absolute()),)
    if found := shutil.which(PROGRAM, path=search_path):
        return (str(Path(found).absolute()),)
    if sys.executable:
        # -P, because a folder `lsp_harness` in the working folder must not be run
        return (sys.executable, "-P", "-m", "lsp_harness")
    tried = (
        f"{BINARY_VARIABLE}: not set",
        f"PATH={search_path}: has no {PROGRAM}",
        "python -m lsp_harness: this interpreter has no path",
    )
    raise HarnessBinaryNotFoundError(
        f"no program was found: {'; '.join(tried)}; set {BINARY_VARIABLE} to the path of {PROGRAM}", tried
    )


def _program_problem(path: Path) -> str:
    """Return why a path cannot be run; empty if it can."""
    if not path.exists():
        return "there is no such file"
    if not path.is_file():
        return "it is not a file"
    return "" if os.access(path, os.X_OK) else "it is not executable"

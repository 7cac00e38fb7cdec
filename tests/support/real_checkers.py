"""The type checkers of this machine, for the only tests that run them.

`tests/conftest.py` hides them from all other tests, also in the workers of xdist.
"""

import os
from pathlib import Path

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types import gopls_checker, rust_analyzer_checker, ty_checker, typescript_checker
from tests.support.programs import find_program_problem


def _find_working(name: str) -> str:
    program = find_tool(name) or ""
    return "" if not program or find_program_problem(program) else program


CHECKERS = (gopls_checker, rust_analyzer_checker, ty_checker, typescript_checker)
PROGRAM_VARIABLES = [checker.PROGRAM_VARIABLE for checker in CHECKERS]
REAL_TY = os.environ.setdefault(
    "LSP_HARNESS_REAL_TY", os.environ.get(ty_checker.PROGRAM_VARIABLE) or _find_working("ty")
)
"""The program, or an empty text."""
REAL_TYPESCRIPTS = [
    Path(path)
    for path in os.environ.setdefault(
        "LSP_HARNESS_REAL_TYPESCRIPT", os.environ.get(typescript_checker.PROGRAM_VARIABLE, "")
    ).split(os.pathsep)
    if Path(path, "package.json").is_file()
]
"""The packages `typescript` in the variable, which may name several, separated by `:`."""

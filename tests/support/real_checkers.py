"""The type checkers of this machine, for the only tests that run them.

`tests/conftest.py` hides them from all other tests, also in the workers of xdist.
"""

import os
from pathlib import Path

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.checkers import GOPLS_VARIABLE, RUST_ANALYZER_VARIABLE, TY_VARIABLE, TYPESCRIPT_VARIABLE
from tests.support.programs import find_program_problem


def _find_working(name: str) -> str:
    program = find_tool(name) or ""
    return "" if not program or find_program_problem(program) else program


PROGRAM_VARIABLES = [GOPLS_VARIABLE, RUST_ANALYZER_VARIABLE, TY_VARIABLE, TYPESCRIPT_VARIABLE]
REAL_TY = os.environ.setdefault("LSP_HARNESS_REAL_TY", os.environ.get(TY_VARIABLE) or _find_working("ty"))
"""The program, or an empty text."""
REAL_TYPESCRIPTS = [
    Path(path)
    for path in os.environ.setdefault("LSP_HARNESS_REAL_TYPESCRIPT", os.environ.get(TYPESCRIPT_VARIABLE, "")).split(
        os.pathsep
    )
    if Path(path, "package.json").is_file()
]
"""The packages `typescript` in the variable, which may name several, separated by `:`."""

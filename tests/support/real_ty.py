"""The `ty` of this machine, for the only test that runs it."""

import os

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.types.ty_checker import PROGRAM_VARIABLE

REAL_TY = os.environ.setdefault("LSP_HARNESS_REAL_TY", os.environ.get(PROGRAM_VARIABLE) or find_tool("ty") or "")
"""The program, or an empty text. `tests/conftest.py` hides it from all other tests, also in the workers of xdist."""

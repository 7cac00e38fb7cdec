"""The list of all type checkers of the type gate."""

from lsp_harness.verify.types.ty_checker import TyChecker
from lsp_harness.verify.types.type_checker import TypeChecker

TYPE_CHECKERS: tuple[TypeChecker, ...] = (TyChecker(),)
"""A language names its type checker in its file (`lsp_harness/languages`)."""

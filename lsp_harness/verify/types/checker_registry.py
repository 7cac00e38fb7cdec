"""The list of all type checkers of the type gate."""

from lsp_harness.verify.types.gopls_checker import GoplsChecker
from lsp_harness.verify.types.rust_analyzer_checker import RustAnalyzerChecker
from lsp_harness.verify.types.ty_checker import TyChecker
from lsp_harness.verify.types.type_checker import TypeChecker
from lsp_harness.verify.types.typescript_checker import TypeScriptChecker

TYPE_CHECKERS: tuple[TypeChecker, ...] = (TyChecker(), TypeScriptChecker(), GoplsChecker(), RustAnalyzerChecker())
"""A language names its type checker in its file (`lsp_harness/languages`)."""

"""The list of all checkers that run all the time."""

from lsp_harness.verify.types.gopls_checker import GoplsChecker
from lsp_harness.verify.types.pyright_checker import BasedPyrightChecker, PyrightChecker
from lsp_harness.verify.types.ruff_server import RuffServer
from lsp_harness.verify.types.rust_analyzer_checker import RustAnalyzerChecker
from lsp_harness.verify.types.ty_checker import TyChecker
from lsp_harness.verify.types.type_checker import TypeChecker
from lsp_harness.verify.types.typescript_checker import TypeScriptChecker

TYPE_CHECKERS: tuple[TypeChecker, ...] = (
    TyChecker(),
    PyrightChecker(),
    BasedPyrightChecker(),
    TypeScriptChecker(),
    GoplsChecker(),
    RustAnalyzerChecker(),
    RuffServer(),
)
"""A language names its type checker in its file (`lsp_harness/languages`)."""

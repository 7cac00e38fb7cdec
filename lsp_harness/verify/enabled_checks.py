"""The checks that any edit must pass, as the settings have it."""

from lsp_harness.config.schema import Verification
from lsp_harness.verify.check_runner import Check
from lsp_harness.verify.lint_check import LintCheck
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.syntax_check import SyntaxCheck


def create_checks(settings: Verification, ruff: Ruff) -> list[Check]:
    """Cheap before dear."""
    checks: list[Check] = []
    if settings.parse_check:
        checks.append(SyntaxCheck())
    if settings.lint:
        checks.append(LintCheck(ruff))
    return checks

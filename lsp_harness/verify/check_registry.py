"""The list of all checks, from cheap to expensive. Whatever shows or names checks reads this list."""

from dataclasses import replace

from lsp_harness.config.schema import Verification
from lsp_harness.verify.check import Check, CheckContext
from lsp_harness.verify.checks.review_check import ReviewCheck
from lsp_harness.verify.checks.types_check import TypesCheck
from lsp_harness.verify.lint_check import LintCheck
from lsp_harness.verify.preservation.preservation_check import PreservationCheck
from lsp_harness.verify.resolved_check import ResolvedCheck
from lsp_harness.verify.suite_check import SuiteCheck
from lsp_harness.verify.syntax_check import SyntaxCheck

# an edit that throws the code away is not worth asking a linter about, so PreservationCheck runs before LintCheck
CHECKS: tuple[type[Check], ...] = (
    SyntaxCheck,
    PreservationCheck,
    LintCheck,
    ResolvedCheck,
    TypesCheck,
    SuiteCheck,
    ReviewCheck,
)


def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
    """Return the checks that the settings enable for an edit of this purpose, from cheap to expensive."""
    enabled = (check for check in CHECKS if not check.setting or getattr(settings, check.setting) not in (False, "off"))
    context = replace(context, settings=settings)
    return [check for check_class in enabled if (check := check_class.create(context))]


def check_titles() -> dict[str, str]:
    """Return the name of each check → its title, in the order of the checks."""
    return {check.name: check.title for check in CHECKS}

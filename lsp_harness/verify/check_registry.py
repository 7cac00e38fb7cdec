"""The list of all checks, from cheap to expensive. Whatever shows or names checks reads this list."""

from dataclasses import replace

from lsp_harness.config.schema import Verification
from lsp_harness.verify.absent_check import AbsentCheck
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
    return [check for check in list_checks(settings, context) if not isinstance(check, AbsentCheck)]


def list_checks(settings: Verification, context: CheckContext) -> list[Check]:
    """Return the checks of an edit of this purpose, from cheap to expensive, also those that do not run.

    One that the settings switch off, or that cannot run in this workspace, is an `AbsentCheck`, so that every verdict
    names it.
    """
    context = replace(context, settings=settings)
    checks: list[Check] = []
    for check_class in CHECKS:
        is_on = not check_class.setting or getattr(settings, check_class.setting) not in (False, "off")
        check = check_class.create(context) if is_on else None
        if check is None and (reason := check_class.explain_absence(context)):
            check = AbsentCheck(check_class, reason)
        checks += [check] if check else []
    return checks


def check_titles() -> dict[str, str]:
    """Return the name of each check → its title, in the order of the checks."""
    return {check.name: check.title for check in CHECKS}

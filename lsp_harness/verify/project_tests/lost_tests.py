"""Tests that do not fail after a proposal, but do not pass either: they are skipped, or do not run any more."""

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem


def find_lost_tests(before: Digest, after: Digest, must_pass: frozenset[str]) -> list[Problem]:
    """Return a problem for each test that had to pass and neither passes nor fails.

    These tests have to pass: those that a proposal has to repair, and those that passed before and are now skipped, or
    that lie in a file that can no longer be imported. Other tests may get other names, or be removed by the proposal.
    A file that could not be imported passes if one of its tests does.

    Args:
        before: The result of the tests before the proposal.
        after: The result after it.
        must_pass: The ids of the tests that the proposal has to repair, and the paths of files that it has to make
            importable.
    """
    if after.passed_tests is None:
        # the runner only counts
        is_lost = bool(must_pass) and after.passed < before.passed + len(must_pass)
        return [Problem("it does not pass", test=test) for test in sorted(must_pass)] if is_lost else []
    passed_before = before.passed_tests or frozenset[str]()
    broken = {p.path: p for p in after.problems if not p.test and p.path and p not in before.problems}
    unread = {test: broken[path] for test in passed_before | must_pass if (path := test.partition("::")[0]) in broken}
    passed = after.passed_tests | {test.partition("::")[0] for test in after.passed_tests}
    lost = (must_pass | (passed_before & after.skipped_tests) | unread.keys()) - passed
    return [_describe(test, unread.get(test), is_skipped=test in after.skipped_tests) for test in sorted(lost)]


def _describe(test: str, unread: Problem | None, *, is_skipped: bool) -> Problem:
    path = test.partition("::")[0]
    if unread:
        return Problem(f"its file cannot be imported: {unread.message}", unread.path, unread.line, test=test)
    return Problem(
        "it is skipped" if is_skipped else "it does not run any more", path if "/" in path else "", test=test
    )

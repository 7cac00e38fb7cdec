"""Collects the tests that an output names, and makes the digest of a runner from them and from its last lines."""

from dataclasses import dataclass, field

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import COLLECTION_CODE, ToolProblem

SEPARATOR = " > "
"""The text between the names of groups of tests in an id."""


def join_names(*names: str) -> str:
    """Return the name of a test with the names of the groups around it."""
    return SEPARATOR.join(name.strip() for name in names if name.strip())


def join_id(file: str, *names: str) -> str:
    """Return the id of a test: `file::group > name`, or `group > name` if the file is unknown."""
    return f"{file}::{join_names(*names)}" if file else join_names(*names)


@dataclass(slots=True)
class TestTally:
    """The tests that an output of a runner names.

    Attributes:
        passed: The ids of the tests that passed.
        skipped: The ids of those that were skipped or are still to be written.
        failures: The problems of the tests that failed, and of files that cannot be loaded, by id or path.
        others: Problems of the run itself, such as a wrong option or a limit that is not reached.
    """

    __test__ = False

    passed: dict[str, None] = field(default_factory=dict[str, None])
    skipped: dict[str, None] = field(default_factory=dict[str, None])
    failures: dict[str, ToolProblem] = field(default_factory=dict[str, ToolProblem])
    others: list[ToolProblem] = field(default_factory=list[ToolProblem])

    def add_failure(self, problem: ToolProblem) -> None:
        """Add a failed test or file. What the runner prints a second time is ignored, unless only that has a place."""
        known = self.failures.get(problem.failed_id)
        if not known or (not known.path and problem.path):
            self.failures[problem.failed_id] = problem

    @property
    def files_in_error(self) -> int:
        """The number of files that cannot be loaded."""
        return sum(problem.code == COLLECTION_CODE for problem in self.failures.values())

    def digest(
        self, tool: str, counts: tuple[int, int, int] | None = None, *, is_truncated: bool = False, note: str = ""
    ) -> Digest:
        """Return the digest of the output from the counted tests.

        Args:
            tool: The name of the tool.
            counts: The numbers of passed, failed and skipped tests in the last lines of the output. The failed ones are
                without files that cannot be loaded. By default, the listed tests are counted.
            is_truncated: Whether the end of the output is missing.
            note: Why no test ran, if none did.
        """
        errors = self.files_in_error
        listed = len(self.passed), len(self.failures) - errors, len(self.skipped)
        passed, failed, skipped = counts or listed
        return Digest(
            tool,
            (*self.failures.values(), *self.others),
            passed,
            failed + errors,
            skipped,
            is_truncated=is_truncated,
            note="" if passed or failed or errors or skipped or is_truncated else note or "no test ran",
            passed_tests=frozenset(self.passed) if len(self.passed) == passed else None,
            skipped_tests=frozenset(self.skipped),
            errors=errors,
        )

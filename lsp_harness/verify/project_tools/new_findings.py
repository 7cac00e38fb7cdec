"""The findings that a proposal adds, or the reason why no tool can say anything about it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding


class NothingComparedError(Exception):
    """A tool cannot say anything about a proposal. The message says why.

    Args:
        reason: The reason.
        is_temporary: Whether it passes by itself, as with a program that is being started.

    Attributes:
        is_temporary: See the argument.
    """

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        super().__init__(reason)
        self.is_temporary = is_temporary


class FileLeftOutError(NothingComparedError):
    """The settings of a project keep a tool from a file. Another tool of the project may look at it."""


@dataclass(frozen=True, slots=True)
class NewFinding:
    """A finding that a proposal adds.

    Attributes:
        change: The change whose text it is in.
        finding: The finding.
        is_elsewhere: Whether it is in a text that does not change. It is then shown where the proposal begins, and its
            message names the place.
    """

    change: Change
    finding: Finding
    is_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The findings that a proposal adds.

    Attributes:
        new: The new findings.
        refusals: Why some of its documents were not compared.
    """

    new: tuple[NewFinding, ...] = ()
    refusals: tuple[str, ...] = ()


async def join_comparisons(parts: Sequence[Callable[[], Awaitable[Sequence[NewFinding]]]]) -> Comparison:
    """Return the comparison of all documents of a proposal.

    Args:
        parts: Begin the comparisons of some of them. They run one after the other, and none is begun after a failure.

    Raises:
        NothingComparedError: None of them says anything.
    """
    found: list[NewFinding] = []
    refusals: list[str] = []
    is_temporary = False
    for part in parts:
        try:
            found += await part()
        except NothingComparedError as error:
            refusals.append(str(error))
            is_temporary |= error.is_temporary
    if len(refusals) == len(parts):
        raise NothingComparedError("; ".join(dict.fromkeys(refusals)), is_temporary=is_temporary)
    return Comparison(tuple(found), tuple(dict.fromkeys(refusals)))

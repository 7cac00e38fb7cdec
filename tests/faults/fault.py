"""A fault of the surroundings, and the way a command ends under it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.faults import surroundings as s


@dataclass(frozen=True)
class End:
    """The end of a command under a fault: its exit status, and the sentence on standard error or in its answer."""

    code: int
    says: str = ""
    answers: str = ""


@dataclass(frozen=True)
class Fault:
    """A fault of the surroundings of a command, and how each command ends under it.

    `damage` is done in the process of the command. `encoding` is that of its output, `stdout` its target. `says` are
    sentences, each with the commands that say it; `ends` are the commands that end in another way. `may_say` are
    sentences that depend on which of two processes is faster.
    """

    name: str
    what: str
    damage: s.Break = s.change_nothing
    says: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    may_say: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    ends: Mapping[str, End] = field(default_factory=dict[str, End])
    encoding: str = "utf-8"
    stdout: str = ""
    needs_mount: bool = False

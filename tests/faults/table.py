"""The table: faults of the surroundings, and what each command does under each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults import surroundings as s
from tests.faults.world import World


@dataclass(frozen=True)
class Fault:
    """`damage` is done in the process of the command. `encoding` is that of its output, `stdout` where it goes."""

    name: str
    what: str
    damage: s.Break = s.nothing
    encoding: str = "utf-8"
    stdout: str = ""


def _full(folder: Callable[[World], Path]) -> s.Break:
    return s.full(folder) if s.may_mount() else s.no_file_grows


FAULTS = (
    Fault("none", "nothing is wrong"),
    *(
        Fault(f"{maker}-{group}", f"a {maker} under every name in {group}", s.special(paths, make))
        for group, paths in s.GROUPS.items()
        for maker, make in s.MAKERS.items()
    ),
    Fault("full-home", "the disk of the home folder is full", _full(lambda w: w.home)),
    Fault("full-project", "the disk of the project is full", _full(lambda w: w.project)),
    Fault("full-files", "no file can grow", s.no_file_grows),
    Fault("full-output", "the output goes to a full disk", stdout="/dev/full"),
    Fault("read-only-home", "", s.unwritable(lambda w: w.home)),
    Fault("read-only-runtime", "", s.unwritable(lambda w: w.runtime)),
    Fault("read-only-project", "", s.unwritable(lambda w: w.project)),
    Fault("read-only-file", "", s.read_only_file),
    Fault("read-only-folder", "", s.read_only_folder),
    Fault("no-home", "", s.environment(HOME=None)),
    Fault("home-is-root", "", s.stranger(HOME="/")),
    Fault("no-home-no-name", "", s.stranger(HOME=None)),
    Fault("foreign-runtime", "", s.foreign_runtime),
    Fault("long-runtime", "", s.long_runtime),
    Fault("torn-log", "", s.torn_log),
    Fault("latin-1", "", encoding="iso-8859-1"),
    Fault("euc-jp", "", encoding="euc-jp"),
    Fault("ascii", "", encoding="ascii"),
)

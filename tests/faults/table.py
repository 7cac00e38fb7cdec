"""The table: faults of the surroundings, and what each command does under each of them.

A command that is not named ends as it does where nothing is wrong, with its answer. Sentences are what must be said on standard
error; `…` stands for anything. Nothing else may be said there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import surroundings as s
from tests.faults.commands import COMMANDS

ALL = tuple(command.name for command in COMMANDS)
FILE = ("complete a.py:2:12", "fix unused.py", "fix unused.py --apply", "context a.py:2:12")
FIX = ("fix unused.py", "fix unused.py --apply")
APPLY = "fix unused.py --apply"
FIND = ("search ring", "locate area_of_a_ring", "index context ring", "index graph ring", "index patterns")
ENGINE = ("engine status", "engine token", "engine stop")
MODEL = ("model path ../models/tiny.gguf", "model info ../models/tiny.gguf")
REBUILD, STATUS, TOKEN, SESSION, LOGS, DOCS = (
    *("index rebuild", "index status", "engine token", "session", "engine logs", "docs tiny.area"),
)


@dataclass(frozen=True)
class End:
    """How a command ends under a fault: its exit status and the sentence on standard error, or in its answer where it says so."""

    code: int
    says: str = ""
    answers: str = ""


@dataclass(frozen=True)
class Fault:
    """`damage` is done in the process of the command. `encoding` is that of its output, `stdout` where it goes. `says` are
    sentences, each with the commands that say it and go on; `may_say` are sentences that any command may say; `ends` are the
    commands that end in another way."""

    name: str
    what: str
    damage: s.Break = s.nothing
    says: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    may_say: tuple[str, ...] = ()
    ends: Mapping[str, End] = field(default_factory=dict[str, End])
    encoding: str = "utf-8"
    stdout: str = ""
    needs_mount: bool = False


def _special(kind: str, it_is: str, make: Callable[[Path], object]) -> tuple[Fault, ...]:
    no_model = End(3, "… model file …")
    return (
        Fault(
            f"{kind}-project",
            f"{it_is}, under every name that is read in a project (settings, ignore files, manifests, ruff's settings)",
            s.special(s.GROUPS["project"], make),
            says={
                "….toml: …, not a regular file; it is not read": (*FILE, *FIND, REBUILD, "engine start"),
                "….gitignore …, not a regular file; it is not read, and what it would ignore is not ignored": (
                    *("serve", *FILE, *FIND, REBUILD),
                ),
                "…pyproject.toml is no regular file, and ruff would wait for it; it is asked without settings": FIX,
            },
            may_say=("…, not a regular file; it is not read…",),
            ends={DOCS: End(2, "… no installed package with tiny.area; …")},
        ),
        Fault(
            f"{kind}-user",
            f"{it_is}, under every name of the user's own settings, state, runtime folder and models",
            s.special(s.GROUPS["user"], make),
            says={
                "config.toml: …, not a regular file; it is not read": (*FILE, *FIND, REBUILD, DOCS, "engine start"),
                "…statistics.json …, not a regular file; it is not read": ("complete a.py:2:12",),
                "…statistics.json was no regular file; it was removed, and a new one is made": ("complete a.py:2:12",),
            },
            may_say=(
                "… was no regular file; it was removed, and a new one is made",
                "config.toml: …",
                "…statistics.json …",
            ),
            ends={
                SESSION: End(8, "…events.jsonl …, not a regular file; it is not read"),
                LOGS: End(
                    0, "…engine-000000000000.log …, not a regular file; it is not read", "engine-000000000000.log"
                ),
                TOKEN: End(8, "…token …, not a regular file; it is not read"),
                **dict.fromkeys(MODEL, no_model),
                "model rm qwen2.5-coder-0.5b-instruct": End(0, answers="qwen2.5-coder-0.5b-instruct"),
            },
        ),
        Fault(
            f"{kind}-cache",
            f"{it_is}, under every name in the cache (index, vectors, what is known of the machine, saved sequences)",
            s.special(s.GROUPS["cache"], make),
            says={"…index.db was no regular file; it was removed, and a new one is made": (*FILE, *FIND)},
            may_say=(
                "… was no regular file; it was removed, and a new one is made",
                "…index.db… is no regular file; remove it",
                "… vectors.db… is no regular file; remove it",
                "…vectors.db is no regular file; remove it",
            ),
            ends={STATUS: End(7, "…index.db is no regular file; remove it")},
        ),
    )


NOT_KEPT = "set XDG_STATE_HOME to a folder of yours that can be written"
NO_INDEX = "set XDG_CACHE_HOME to a folder of yours that can be written"
ROOM = "free some room there, or "


def _unwritten(index: str, file: str, first: str) -> dict[str, tuple[str, ...]]:
    """What is said where nothing in the home can be written: why, for the index and for a file, and what is advised first."""
    return {
        f"what changed since the index was made is not kept: … cannot be written ({index}); {first}{NO_INDEX}": (
            *(*FILE, *FIND),
        ),
        f"what happens in this session is not kept: … cannot be written ({file}); {first}{NOT_KEPT}": FIX,
        f"what became of suggestions is not kept: … cannot be written ({file}); {first}{NOT_KEPT}": (
            *("serve", "complete a.py:2:12"),
        ),
    }


def _instead(*folders: str) -> tuple[str, ...]:
    return tuple(
        f"…{folder}…; … is used instead: set XDG_… to a folder of yours that can be written" for folder in folders
    )


def _homeless(name: str, what: str, damage: s.Break) -> Fault:
    return Fault(
        name,
        what,
        damage,
        says=dict.fromkeys(_instead("cache"), ("serve", *FILE, *FIND, REBUILD, STATUS, "doctor"))
        | dict.fromkeys(_instead("state"), ("serve", "complete a.py:2:12", "doctor")),
        may_say=(*_instead("run"), *_instead("home"), "ruff is not installed…", "… by ruff …"),
        ends={
            **dict.fromkeys(FIX, End(0, answers="ruff is not installed")),
            SESSION: End(2, "there is no session yet…"),
            LOGS: End(4, "no engine has written a log yet…"),
            TOKEN: End(4, "there is no token yet; …"),
        },
    )


OUTPUT = "standard output cannot be written: No space left on device; free some room there, or send it elsewhere"
SILENT = (*("serve", "index patterns", "models", "engine start", "model rm qwen2.5-coder-0.5b-instruct"),)
FAULTS = (
    Fault("none", "nothing is wrong"),
    *_special("pipe", "a named pipe", s.MAKERS["pipe"]),
    *_special("device", "a link to `/dev/zero`", s.MAKERS["device"]),
    Fault(
        "full-home",
        "the disk of the home folder is full",
        s.full(lambda w: w.home),
        says=_unwritten("No space left on device", "No space left on device", ROOM),
        may_say=("…index.db: …; free some room there, …",),
        ends={REBUILD: End(7, f"…index.db: …; {ROOM}{NO_INDEX}"), "doctor": End(1, answers=ROOM)},
        needs_mount=True,
    ),
    Fault(
        "full-project",
        "the disk of the project is full",
        s.full(lambda w: w.project),
        ends={
            APPLY: End(
                8,
                "unused.py was not changed: no space left on device; free some room on the disk of … and run it again",
            )
        },
        needs_mount=True,
    ),
    Fault(
        "no-file-grows",
        "no file can grow (a limit of the system, or a quota)",
        s.no_file_grows,
        says=_unwritten("File too large", "File too large", ROOM),
        may_say=("…index.db: …; free some room there, …",),
        ends={
            APPLY: End(8, "unused.py was not changed: file too large; free some room …"),
            REBUILD: End(7, f"…index.db: …; {ROOM}{NO_INDEX}"),
            "doctor": End(1, answers=ROOM),
        },
    ),
    Fault(
        "full-output",
        "the output goes to a full disk",
        stdout="/dev/full",
        ends={name: End(74, OUTPUT) for name in ALL if name not in SILENT},
    ),
    Fault(
        "read-only-home",
        "nothing in the home folder can be written",
        s.unwritable(lambda w: w.home),
        says=_unwritten("Permission denied", "Permission denied", ""),
        may_say=("…index.db: …", "… is not indexed: …"),
        ends={
            REBUILD: End(7, "…index.db: …; set XDG_CACHE_HOME to a folder …"),
            "doctor": End(1, answers="XDG_STATE_HOME"),
        },
    ),
    Fault(
        "read-only-runtime",
        "the runtime folder cannot be written",
        s.unwritable(lambda w: w.runtime),
        says=dict.fromkeys(_instead("run"), (*ENGINE, "doctor")),
        may_say=_instead("run"),
        ends={TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "read-only-folder",
        "no file can be made in the folder of the project",
        s.read_only_folder,
        ends={APPLY: End(8, "unused.py was not changed: permission denied in the folder …; make the folder writable")},
    ),
    Fault(
        "read-only-file",
        "the file cannot be written",
        s.read_only_file,
        ends={APPLY: End(8, "unused.py was not changed: permission denied; make the file writable (chmod u+w)")},
    ),
    Fault("no-home", "HOME is not set, and the system knows the user's", s.no_home),
    _homeless("home-is-root", "HOME is `/`, as in a container, and the user has no name", s.stranger(HOME="/")),
    _homeless("no-home-no-name", "HOME is not set, and the user has no name", s.stranger(HOME=None)),
    Fault(
        "foreign-runtime",
        "the runtime folder is another user's, as after `sudo -E`",
        s.foreign_runtime,
        says=dict.fromkeys(_instead("run"), (*ENGINE, "doctor")),
        may_say=_instead("run"),
        ends={TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "long-runtime",
        "the path of the runtime folder is too long for a socket",
        s.long_runtime,
        ends={"doctor": End(1, answers="is too long for a socket"), TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "torn-log",
        "a line in the middle of the session's log was cut off",
        s.torn_log,
        says={"1 line was left out of …events.jsonl: cut off by a full disk or a crash": (SESSION,)},
    ),
    Fault("latin-1", "the output is ISO-8859-1", encoding="iso-8859-1"),
    Fault("euc-jp", "the output is EUC-JP", encoding="euc-jp"),
    Fault("ascii", "the output is ASCII", encoding="ascii"),
)

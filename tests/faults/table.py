"""The table: faults of the surroundings, and what each command does under each of them.

A command that is not named ends as it does where nothing is wrong, with its answer: that is tried for one in `ROTATION`
of them, others under each fault, so that each of these commands is tried under many faults. Sentences are what must be
said on standard error; `…` stands for anything. Nothing else may be said there, and a sentence is said by the commands
that are named with it alone.
"""

from tests.faults import surroundings as s
from tests.faults.commands import COMMANDS, Command
from tests.faults.fault import End, Fault
from tests.faults.files import FILE_FAULTS
from tests.faults.groups import ALL, APPLY, DOCS, ENGINE, FILE, FIND, FIX, LOGS, MODEL, REBUILD, SESSION, STATUS, TOKEN

NOT_KEPT = "set XDG_STATE_HOME to a folder of yours that can be written"
NO_INDEX = "set XDG_CACHE_HOME to a folder of yours that can be written"
ROOM = "free some room there, or "


def _list_home_write_errors(index: str, file: str, first: str) -> dict[str, tuple[str, ...]]:
    """Return the messages when nothing in the home can be written, each with the commands that print it.

    Args:
        index: The reason for the index.
        file: The reason for a file.
        first: The first piece of advice.
    """
    return {
        f"what changed since the index was made is not kept: … cannot be written ({index}); {first}{NO_INDEX}": (
            *(*FILE, *FIND),
        ),
        f"the last cursor of files is not kept: … cannot be written ({file}); {first}{NO_INDEX}": ("serve",),
        f"what happens in this session is not kept: … cannot be written ({file}); {first}{NOT_KEPT}": FIX,
        f"what became of suggestions is not kept: … cannot be written ({file}); {first}{NOT_KEPT}": (
            *("serve", "complete a.py:2:12"),
        ),
    }


def _messages_about_replacement(*folders: str) -> tuple[str, ...]:
    return tuple(
        f"…{folder}…; … is used instead: set XDG_… to a folder of yours that can be written" for folder in folders
    )


def _make_homeless_fault(name: str, what: str, damage: s.Break) -> Fault:
    return Fault(
        name,
        what,
        damage,
        says=dict.fromkeys(_messages_about_replacement("cache"), ("serve", *FILE, *FIND, REBUILD, STATUS, "doctor"))
        | dict.fromkeys(_messages_about_replacement("state"), ("serve", "complete a.py:2:12", "doctor", SESSION, LOGS))
        | dict.fromkeys(_messages_about_replacement("run"), (*ENGINE, "doctor")),
        ends={
            **dict.fromkeys(FIX, End(0, answers="ruff is not installed")),
            SESSION: End(2, "there is no session yet…"),
            LOGS: End(4, "no engine has written a log yet…"),
            TOKEN: End(4, "there is no token yet; …"),
        },
    )


FOLDER_REMOVED = "the current folder was removed or renamed; change to a folder that exists and run this again"
OUTPUT = "standard output cannot be written: No space left on device; free some room there, or send it elsewhere"
SILENT = (*("serve", "index patterns", "models", "engine start", "model rm qwen2.5-coder-0.5b-instruct"),)
FAULTS = (
    Fault("none", "nothing is wrong"),
    *FILE_FAULTS,
    Fault(
        "no-current-folder",
        "the current folder was removed",
        s.remove_current_folder,
        ends={
            **dict.fromkeys(
                (*FILE, *FIND, REBUILD, STATUS, SESSION, DOCS, *MODEL, "engine start", "doctor"), End(2, FOLDER_REMOVED)
            ),
            "digest out.txt": End(2, FOLDER_REMOVED),
        },
    ),
    Fault(
        "no-temporary",
        "there is no runtime folder, and the one for temporary files is missing",
        s.change_environment(XDG_RUNTIME_DIR=None, TMPDIR="{base}/nowhere/x"),
        ends={TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "full-home",
        "the disk of the home folder is full",
        s.fill_disk(lambda w: w.home),
        says=_list_home_write_errors("disk I/O error", "No space left on device", ROOM),
        ends={REBUILD: End(7, f"…index.db: …; {ROOM}{NO_INDEX}"), "doctor": End(1, answers=ROOM)},
        needs_mount=True,
    ),
    Fault(
        "full-project",
        "the disk of the project is full",
        s.fill_disk(lambda w: w.project),
        ends={
            APPLY: End(
                8,
                "unused.py was not changed: no space left on device; free some space on the disk of … and try again",
            )
        },
        needs_mount=True,
    ),
    Fault(
        "no-file-grows",
        "no file can grow (a limit of the system, or a quota)",
        s.forbid_file_growth,
        says=_list_home_write_errors("disk I/O error", "File too large", ROOM),
        ends={
            APPLY: End(8, "unused.py was not changed: file too large; free some space …"),
            REBUILD: End(7, f"…index.db: …; {ROOM}{NO_INDEX}"),
            "doctor": End(1, answers=ROOM),
        },
        # the sandbox with namespaces needs a file, and as root the next one has a warning
        may_say={"programs of a project run as root, and only landlock confines them …": ALL},
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
        s.make_unwritable(lambda w: w.home),
        says=_list_home_write_errors("Permission denied", "Permission denied", ""),
        ends={
            REBUILD: End(7, f"…index.db cannot be written (Permission denied); {NO_INDEX}"),
            "doctor": End(1, answers="XDG_STATE_HOME"),
        },
    ),
    Fault(
        "read-only-runtime",
        "the runtime folder cannot be written",
        s.make_unwritable(lambda w: w.runtime),
        says=dict.fromkeys(_messages_about_replacement("run"), (*ENGINE, "doctor")),
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
    Fault("no-home", "HOME is not set, and the system knows the user's", s.remove_home),
    _make_homeless_fault(
        "home-is-root", "HOME is `/`, as in a container, and the user has no name", s.become_stranger(HOME="/")
    ),
    _make_homeless_fault("no-home-no-name", "HOME is not set, and the user has no name", s.become_stranger(HOME=None)),
    Fault(
        "foreign-runtime",
        "the runtime folder is another user's, as after `sudo -E`",
        s.give_runtime_away,
        says=dict.fromkeys(_messages_about_replacement("run"), (*ENGINE, "doctor")),
        ends={TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "long-runtime",
        "the path of the runtime folder is too long for a socket",
        s.lengthen_runtime_path,
        ends={"doctor": End(1, answers="is too long for a socket"), TOKEN: End(4, "there is no token yet; …")},
    ),
    Fault(
        "torn-log",
        "a line in the middle of the session's log was cut off",
        s.cut_log_line,
        says={"1 line was left out of …events.jsonl: cut off by a full disk or a crash": (SESSION,)},
    ),
    Fault("latin-1", "the output is ISO-8859-1", encoding="iso-8859-1"),
    Fault("euc-jp", "the output is EUC-JP", encoding="euc-jp"),
    Fault("ascii", "the output is ASCII", encoding="ascii"),
)
ROTATION = 3


def choose_commands(fault: Fault) -> list[Command]:
    """Return the commands that are tried under a fault: all that it names, and some of the others."""
    named = {*fault.ends, *(name for names in (*fault.says.values(), *fault.may_say.values()) for name in names)}
    first = FAULTS.index(fault)
    return [
        command
        for number, command in enumerate(COMMANDS, first)
        if command.name in named or number % ROTATION == 0 or fault is FAULTS[0]
    ]

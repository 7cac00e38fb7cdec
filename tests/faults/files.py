"""Faults of files whose names are fixed: something else lies there, or what is in them cannot be read."""

from collections.abc import Callable
from pathlib import Path

from tests.faults import surroundings as s
from tests.faults.fault import End, Fault
from tests.faults.groups import (
    AGAIN,
    DOCS,
    FILE,
    FIND,
    FIX,
    IGNORES,
    IN_THE_WAY,
    LOGS,
    MODEL,
    NEW,
    NO_FILE,
    NO_TOKEN,
    NOT_IGNORED,
    REBUILD,
    REMOVE,
    RUFF,
    SESSION,
    SETTINGS,
    STATISTICS,
    STATUS,
    TOKEN,
)


def _make_project_messages(why: str) -> dict[str, tuple[str, ...]]:
    """Return the messages about project files that cannot be read, each with the commands that print it."""
    return {
        **{f"{name}: …{name} {why}": SETTINGS for name in ("lsp-harness.toml", "lsp-harness.local.toml")},
        **{
            f"…{name} {why}; {NOT_IGNORED}": IGNORES
            for name in (".gitignore", ".git/info/exclude", ".lspharnessignore")
        },
    }


def _make_special_faults(kind: str, it_is: str, make: Callable[[Path], object], why: str) -> tuple[Fault, ...]:
    return (
        Fault(
            f"{kind}-project",
            f"{it_is}, under every name that is read in a project (settings, ignore files, manifests, ruff's settings)",
            s.replace_by_special_files(s.GROUPS["project"], make),
            says={**_make_project_messages(f"{why}, {NO_FILE}"), RUFF: FIX},
            may_say={RUFF: ("serve",)},
            ends={DOCS: End(2, "… no installed package with tiny.area; …")},
        ),
        Fault(
            f"{kind}-user",
            f"{it_is}, under every name of the user's own settings, state, runtime folder and models",
            s.replace_by_special_files(s.GROUPS["user"], make),
            says={
                f"config.toml: …config.toml {why}, {NO_FILE}": (*SETTINGS, "models"),
                f"…statistics.lock {NEW}": STATISTICS,
                f"…statistics.json {why}, {NO_FILE}; the statistics begin again": STATISTICS,
                f"…statistics.json {NEW}": STATISTICS,
                f"….gguf.lock {NEW}": (REMOVE,),
            },
            ends={
                SESSION: End(8, f"…events.jsonl {why}, {NO_FILE}"),
                LOGS: End(0, f"…engine-000000000000.log {why}, {NO_FILE}", "engine-000000000000.log"),
                TOKEN: End(4, NO_TOKEN),
                **dict.fromkeys(MODEL, End(3, f"…tiny.gguf {why}, {NO_FILE}")),
                REMOVE: End(0, answers="qwen2.5-coder-0.5b-instruct"),
            },
        ),
        Fault(
            f"{kind}-cache",
            f"{it_is}, under every name in the cache (index, vectors, what is known of the machine, saved sequences)",
            s.replace_by_special_files(s.GROUPS["cache"], make),
            says={
                f"…/root {NEW}": (*IGNORES, STATUS, "doctor"),
                f"…/lock {NEW}": IGNORES,
                f"…/index.log {NEW}": ("serve",),
                **{f"…/index.db{part} {NEW}": (*FILE, *FIND) for part in ("", "-wal", "-shm")},
                f"searched by names and words only: …vectors.db is not a regular file; {AGAIN}": (
                    *("search ring", "locate area_of_a_ring"),
                ),
            },
            may_say={f"…index.db is not a regular file; {AGAIN}": ("serve",)},
            ends={STATUS: End(7, f"…index.db is not a regular file; {AGAIN}")},
        ),
    )


FILE_FAULTS = (
    *_make_special_faults("pipe", "a named pipe", s.MAKERS["pipe"], "is a named pipe"),
    *_make_special_faults("device", "a link to `/dev/zero`", s.MAKERS["device"], "is a link to a device"),
    Fault(
        "loop-project",
        "a link that leads to itself, under every name that is read in a project",
        s.replace_by_special_files(s.GROUPS["project"], s.MAKERS["loop"]),
        says=_make_project_messages("cannot be read: Too many levels of symbolic links; remove the link"),
        ends={DOCS: End(2, "… no installed package with tiny.area; …")},
    ),
    Fault(
        "utf-16-project",
        "UTF-16 in every file that is read in a project",
        s.replace_by_special_files(s.GROUPS["project"], s.MAKERS["utf-16"]),
        says={
            **{
                f"{name}: …{name} is UTF-16; save it as UTF-8": SETTINGS
                for name in ("lsp-harness.toml", "lsp-harness.local.toml")
            },
            **{
                f"…{name} is UTF-16, so its patterns are not used; save it as UTF-8": IGNORES
                for name in (".gitignore", ".git/info/exclude", ".lspharnessignore")
            },
        },
        ends={
            **dict.fromkeys(FIX, End(0, answers="not checked: ruff failed: stream did not contain valid UTF-8")),
            DOCS: End(2, "… no installed package with tiny.area; …"),
        },
    ),
    Fault(
        "folder-user",
        "a folder under every name of the user's own settings, state, runtime folder and models",
        s.replace_by_special_files(s.GROUPS["user"], s.MAKERS["folder"]),
        says={
            f"config.toml: …config.toml is a folder, {NO_FILE}": (*SETTINGS, "models"),
            f"what became of suggestions is not kept: …statistics.lock {IN_THE_WAY}": STATISTICS,
        },
        ends={
            SESSION: End(8, f"…events.jsonl is a folder, {NO_FILE}"),
            LOGS: End(0, f"…engine-000000000000.log is a folder, {NO_FILE}", "engine-000000000000.log"),
            TOKEN: End(4, NO_TOKEN),
            **dict.fromkeys(MODEL, End(3, f"…tiny.gguf is a folder, {NO_FILE}")),
            REMOVE: End(3, "….gguf.lock cannot be used as a lock: Is a directory; remove it"),
        },
    ),
    Fault(
        "folder-cache",
        "a folder under every name in the cache",
        s.replace_by_special_files(s.GROUPS["cache"], s.MAKERS["folder"]),
        says={
            f"what changed in the index is not kept: …/root {IN_THE_WAY}": (*IGNORES, STATUS, "doctor"),
            f"the index is not kept: …/lock {IN_THE_WAY}": (*FILE, *FIND),
            f"…index.db is not a regular file; {AGAIN}": ("serve",),
        },
        ends={
            STATUS: End(7, f"…index.db is not a regular file; {AGAIN}"),
            REBUILD: End(7, f"…index.db {IN_THE_WAY}"),
        },
    ),
    Fault(
        "damaged-user",
        "no text in every file of the user's own settings, state, runtime folder and models",
        s.replace_by_special_files(s.GROUPS["user"], s.MAKERS["damaged"]),
        says={
            "config.toml: …config.toml is not UTF-8 in line 1; save it as UTF-8": (*SETTINGS, "models"),
            "…statistics.json is not UTF-8 in line 1; …; the statistics begin again": ("complete a.py:2:12",),
            "1 line was left out of …events.jsonl: cut off by a full disk or a crash": (SESSION,),
        },
        ends={
            # the file that pauses everything is there, whatever is in it
            "serve": End(143, answers="completion None"),
            SESSION: End(0, answers="0 turns"),
            LOGS: End(0, answers="engine-000000000000.log"),
            TOKEN: End(4, NO_TOKEN),
            **dict.fromkeys(MODEL, End(3, "…tiny.gguf is not a GGUF file; name another, or download one: …")),
            REMOVE: End(0, answers="qwen2.5-coder-0.5b-instruct is deleted"),
        },
    ),
    Fault(
        "damaged-cache",
        "no database in every file in the cache",
        s.replace_by_special_files(s.GROUPS["cache"], s.MAKERS["damaged"]),
        says={
            f"searched by names and words only: …vectors.db: file is not a database; {AGAIN}": (
                *("search ring", "locate area_of_a_ring"),
            ),
        },
        may_say={f"…index.db: file is not a database; {AGAIN}": ("serve",)},
        ends={STATUS: End(7, f"…index.db: file is not a database; {AGAIN}")},
    ),
)

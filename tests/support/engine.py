"""A real engine process over a model of our choice, without the supervisor."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx2
import pytest

from lsp_harness.process import openmp


@dataclass
class EngineProcess:
    """A running engine. `said` is its report at the start. At the end of the context it is killed."""

    process: subprocess.Popen[bytes]
    socket: Path
    said: dict[str, Any]

    @classmethod
    def start(cls, model: Path, socket: Path, *arguments: str) -> "EngineProcess":
        reader, writer = os.pipe()
        # stderr lies beside the socket, for whoever looks into a failure
        with open(socket.with_suffix(".log"), "ab") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-m", "lsp_harness.engine.main", "--model", str(model)),
                    *("--socket", str(socket), "--threads", "1", "--ready-fd", str(writer), *arguments),
                ],
                pass_fds=(writer,),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=openmp.openmp_environment(),
            )
        os.close(writer)
        with open(reader, "rb") as pipe:
            result = pipe.read()
        return cls(process, socket, json.loads(result or b"{}"))

    def http(self) -> httpx2.AsyncClient:
        transport = httpx2.AsyncHTTPTransport(uds=str(self.socket))
        return httpx2.AsyncClient(transport=transport, base_url="http://engine", timeout=60, trust_env=False)

    def log(self) -> str:
        return self.socket.with_suffix(".log").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def serve_engine(model: Path, probed: Path, *options: str) -> Iterator[EngineProcess]:
    """Run an engine for all tests of a module. At the end there must be no traceback in its log."""
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LSP_HARNESS_HOME", str(probed.parent.parent))
        with EngineProcess.start(model, folder / "s", *options) as engine:
            yield engine
            log = engine.log()
    shutil.rmtree(folder)
    assert "Traceback" not in log
    assert "Exception" not in log

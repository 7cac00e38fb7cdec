"""Small packages, as they lie on disk once they are installed."""

from collections.abc import Mapping
from pathlib import Path

SITE = ".venv/lib/python3.11/site-packages"


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def make_venv(root: Path, home: Path | None = None) -> Path:
    """Make a virtual environment in a workspace folder, and return its `site-packages`."""
    write(root, {".venv/pyvenv.cfg": f"home = {home or root / 'nowhere'}/bin\nversion = 3.11.4\n"})
    site = root / SITE
    site.mkdir(parents=True, exist_ok=True)
    return site


def install(site: Path, name: str, version: str, files: Mapping[str, str | bytes], *, tops: str = "") -> None:
    """Write the files of an installed wheel, with its metadata."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    write(site, files)
    record = "".join(f"{path},,\n" for path in files)
    write(site, {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 0\n"})
    write(site, {f"{info}/RECORD": record, **({f"{info}/top_level.txt": tops} if tops else {})})


REQUESTS = {
    "requests/__init__.py": (
        '"""Requests HTTP Library."""\nfrom . import sessions, utils\nfrom .api import get, patch, request\n'
        "from .sessions import Session, session\nfrom .models import *\n"
    ),
    "requests/api.py": (
        "from . import sessions\n\n\ndef request(method, url, **kwargs):\n"
        "    return sessions.Session().request(method, url)\n\n\n"
        "def get(url, params=None, **kwargs):\n"
        '    r"""Sends a GET request.\n\n    :param url: where to\n    """\n    return request("get", url)\n\n\n'
        "def patch(url, data=None, **kwargs):  # noqa\n    # no words\n    return None\n"
    ),
    "requests/sessions.py": (
        "from .base import Mixin as _Mixin\n\n\nclass Session(_Mixin):\n"
        '    """A session.\n    In two lines.\n\n    More."""\n\n'
        "    def __init__(self, adapter=None, *, retries: int = 3) -> None:\n        self.adapter = adapter\n\n"
        "    @property\n    @staticmethod\n    def get(\n        self,\n        url,  # where to\n        *,\n"
        '        sep="#",\n    ) -> "Response":\n'
        '        """Sends."""\n        return 1\n\n\ndef session(): ...\n\n\ndefault = Session()\nget = default.get\n'
        "alias = Session\n"
    ),
    "requests/base.py": "class Mixin:\n    def resolve(self, a: int): ...\n",
    "requests/models.py": "class Response:\n    def json(self, **kwargs): ...\n",
    "requests/utils.py": "def quote(value): ...\n",
}

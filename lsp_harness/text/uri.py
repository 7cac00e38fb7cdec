"""Which file a URI names: the one place that knows, for the server and for what is below it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


def local_path(uri: Any) -> Path | None:
    """The file a URI names; None for what is not a file on this machine."""
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
        return None
    return Path(unquote(parts.path))


def innermost(file: Path | None, folders: Iterable[Path]) -> Path | None:
    """Of the folders that a file lies in the one nearest to it; None where it lies in none."""
    around = [folder for folder in folders if file and file.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts), default=None)


def elsewhere(uri: str) -> str:
    """The path within a URI that names no file on this machine."""
    try:
        path = unquote(urlsplit(uri).path)
    except ValueError:
        path = uri
    return path.lstrip("/") or uri

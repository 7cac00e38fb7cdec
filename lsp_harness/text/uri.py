"""What a URI names: a file of this machine, or a path somewhere else. The one place that reads URIs.

Clients send what no standard allows: raw brackets and spaces, `%` that escapes nothing, escapes of bytes that are not UTF-8, plain paths.
So nothing here raises, and a path keeps its bytes (`os.fsdecode`).
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, unquote_to_bytes

URI_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
"""As RFC 3986 takes a URI apart, but for a scheme of one letter: that is the drive of a Windows path."""
MAX_NESTED_URIS = 2
"""How deep URIs within URIs are looked for."""
GIT_FOLDER = "/.git/"
MAX_REVISION_FOLDERS = 8
"""Folders in front of a file's own path, at most, in a URI that goes through `.git`: `fugitive:///repo/.git//0/a.py`."""


class UriParts(NamedTuple):
    """The parts of a URI as they were sent; `scheme` in lower case."""

    scheme: str
    authority: str
    path: str
    query: str


def split_uri(uri: str) -> UriParts:
    scheme, authority, path, query, _ = cast("re.Match[str]", URI_PARTS.match(uri)).groups(default="")
    return UriParts(scheme.lower(), authority, path, query)


def unescape(text: str) -> str:
    """A part of a URI without its escapes, as the file system has it."""
    return os.fsdecode(unquote_to_bytes(text.encode("utf-8", "surrogatepass")))


def local_path(uri: Any) -> Path | None:
    """The file of this machine that a URI, or a plain absolute path, names; None where it names none."""
    if not isinstance(uri, str):
        return None
    scheme, authority, path, _ = split_uri(uri)
    if scheme == "file" and authority.lower() in ("", "localhost"):
        name = unescape(path)
    elif not scheme and not authority:
        name = uri
    else:
        return None
    if not name.startswith("/") or "\0" in name:
        return None
    # two slashes at the beginning mean something else to `pathlib`
    return Path("/" + name.lstrip("/"))


def remote_path(uri: str) -> str:
    """The path within a URI that names no file on this machine."""
    return unescape(split_uri(uri).path).lstrip("/") or uri


def mentioned_paths(uri: str, depth: int = MAX_NESTED_URIS) -> list[str]:
    """Every path that a URI may name, whatever its scheme means: absolute ones, and names without a folder.

    A cell of a notebook, a file as a commit has it or a file of another machine is of the same file as the path in its URI.
    """
    return list(dict.fromkeys(_mentioned(uri, depth)))


def unescaped_paths(uri: str) -> list[str]:
    """The paths that a URI names if its client did not escape `?`, `#` and `%`."""
    scheme, authority, _, _ = split_uri(uri)
    behind = uri[len(scheme) + 1 if scheme else 0 :].removeprefix(f"//{authority}")
    return [name for name in dict.fromkeys((unescape(behind), behind)) if name]


def _mentioned(uri: str, depth: int) -> Iterator[str]:
    _, _, path, query = split_uri(uri)
    if name := unescape(path):
        yield f"/{name.lstrip('/')}" if name.startswith("/") else name
        yield from _within_repository(name)
        if depth and split_uri(name.lstrip("/")).scheme:
            yield from _mentioned(name.lstrip("/"), depth - 1)
    for value in _values(query) if depth else ():
        if value.startswith("/") or split_uri(value).scheme:
            yield from _mentioned(value, depth - 1)


def _within_repository(name: str) -> Iterator[str]:
    """A file that is named through the `.git` of its repository, behind the name of a revision."""
    repository, through, rest = name.partition(GIT_FOLDER)
    behind = rest.split("/") if through else []
    yield from (f"{repository}/{'/'.join(behind[n:])}" for n in range(1, min(len(behind), MAX_REVISION_FOLDERS)))


def _values(query: str) -> list[str]:
    """The texts in the query of a URI, which is an object in JSON or a form."""
    text = unescape(query)
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        values: list[Any] = list(cast("dict[str, Any]", found).values())
    else:
        try:
            values = [value for _, value in parse_qsl(query, errors="surrogateescape", max_num_fields=64)]
        except ValueError:
            values = []
    return [value for value in values if isinstance(value, str)]

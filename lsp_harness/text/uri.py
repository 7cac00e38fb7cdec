"""The files and paths that URIs name. Only this module parses URIs.

Clients send URIs that no standard allows: raw brackets and spaces, `%` without an escape, escapes of bytes that are not
UTF-8, plain paths. So no function here raises an error, and a path keeps its bytes (`os.fsdecode`).
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, unquote_to_bytes

URI_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
"""The parts of a URI as in RFC 3986, but a scheme of one letter is the drive of a Windows path."""
LOCAL_NAMES = ("", "localhost")
"""Hosts in a URI that mean this machine."""
IS_WINDOWS = os.name == "nt"
WINDOWS_DRIVE = re.compile(r"[A-Za-z]:\\")
WINDOWS_SHARE = re.compile(r"\\\\[^\\]+\\[^\\]+")
MAX_NESTED_URIS = 2
"""How many levels of URIs inside URIs are searched."""
GIT_FOLDER = "/.git/"
MAX_REVISION_FOLDERS = 8
"""Maximum number of folders between `.git` and the file in a URI such as `fugitive:///repo/.git//0/a.py`."""


class UriParts(NamedTuple):
    """The parts of a URI with their escapes. `scheme` is in lower case."""

    scheme: str
    authority: str
    path: str
    query: str


def split_uri(uri: str) -> UriParts:
    scheme, authority, path, query, _ = cast("re.Match[str]", URI_PARTS.match(uri)).groups(default="")
    return UriParts(scheme.lower(), authority, path, query)


def unescape(text: str) -> str:
    """Decode the escapes of a part of a URI. Return it as the file system functions of Python expect it."""
    return os.fsdecode(unquote_to_bytes(text.encode("utf-8", "surrogatepass")))


def local_path(uri: Any) -> Path | None:
    """Return the file of this machine that a URI or a plain absolute path names, or None if it names no such file."""
    if not isinstance(uri, str):
        return None
    scheme, authority, path, _ = split_uri(uri)
    if IS_WINDOWS:
        name = windows_name(uri)
        return Path(name) if name else None
    if scheme == "file" and authority.lower() in LOCAL_NAMES:
        name = unescape(path)
    elif not scheme and not authority:
        name = uri
    else:
        return None
    if not name.startswith("/") or "\0" in name:
        return None
    # `pathlib` gives two slashes at the beginning another meaning
    return Path("/" + name.lstrip("/"))


def windows_name(uri: str) -> str:
    """Return the path of a file on Windows that a URI or a plain absolute path names, or an empty text.

    A drive has a capital letter, because editors write it in both ways. A host is a server with a shared folder.
    """
    scheme, authority, path, _ = split_uri(uri)
    if scheme == "file":
        name = unescape(path).replace("/", "\\")
        if authority.lower() not in LOCAL_NAMES:
            name = f"\\\\{authority}{name}"
        elif WINDOWS_DRIVE.match(name[1:]):
            name = name[1:]
    elif not scheme:
        name = uri.replace("/", "\\")
    else:
        return ""
    if "\0" in name or not (WINDOWS_DRIVE.match(name) or WINDOWS_SHARE.match(name)):
        return ""
    return name[0].upper() + name[1:]


def remote_path(uri: str) -> str:
    """Return the path in a URI that names no file of this machine, without the first slash."""
    return unescape(split_uri(uri).path).lstrip("/") or uri


def mentioned_paths(uri: str, depth: int = MAX_NESTED_URIS) -> list[str]:
    """Return every path in a URI, for any scheme: absolute paths, and names without a folder.

    A cell of a notebook, a file in a commit and a file of another machine belong to the path in their URI.

    Args:
        depth: How many levels of URIs inside the URI are searched.
    """
    return list(dict.fromkeys(_iter_paths(uri, depth)))


def unescaped_paths(uri: str) -> list[str]:
    """Return the paths that a URI names if its client did not escape `?`, `#` and `%`."""
    scheme, authority, _, _ = split_uri(uri)
    rest = uri[len(scheme) + 1 if scheme else 0 :].removeprefix(f"//{authority}")
    return [name for name in dict.fromkeys((unescape(rest), rest)) if name]


def _iter_paths(uri: str, depth: int) -> Iterator[str]:
    _, _, path, query = split_uri(uri)
    if name := unescape(path):
        yield f"/{name.lstrip('/')}" if name.startswith("/") else name
        yield from _iter_repository_paths(name)
        if depth and split_uri(name.lstrip("/")).scheme:
            yield from _iter_paths(name.lstrip("/"), depth - 1)
    for value in _query_values(query) if depth else ():
        if value.startswith("/") or split_uri(value).scheme:
            yield from _iter_paths(value, depth - 1)


def _iter_repository_paths(name: str) -> Iterator[str]:
    """Yield the paths of a file in a URI that goes through `.git` and the name of a revision."""
    repository, separator, rest = name.partition(GIT_FOLDER)
    parts = rest.split("/") if separator else []
    yield from (f"{repository}/{'/'.join(parts[n:])}" for n in range(1, min(len(parts), MAX_REVISION_FOLDERS)))


def _query_values(query: str) -> list[str]:
    """Return the texts in the query of a URI. The query is a JSON object or a form."""
    text = unescape(query)
    try:
        query_object: Any = json.loads(text)
    except (ValueError, RecursionError):
        query_object = None
    if isinstance(query_object, dict):
        values: list[Any] = list(cast("dict[str, Any]", query_object).values())
    else:
        try:
            values = [value for _, value in parse_qsl(query, errors="surrogateescape", max_num_fields=64)]
        except ValueError:
            values = []
    return [value for value in values if isinstance(value, str)]

"""The lines in which a session and its clients exchange frames: one JSON object in each line, in UTF-8.

The same lines travel over the pipes of a child process and over a Unix socket.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

WIRE_VERSION = 1
"""The major version of the protocol of sessions. A client refuses a server with a larger one."""
MAX_LINE_BYTES = 64 * 2**20
"""The longest line that a client or a session accepts."""


def encode_line(frame: Mapping[str, Any]) -> bytes:
    """Return a frame as a line with its newline. Half of a surrogate pair becomes U+FFFD, because UTF-8 has none."""
    text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode() + b"\n"


def decode_line(line: bytes) -> dict[str, Any]:
    """Return the frame of a line. Raise ValueError if the line is not a JSON object."""
    try:
        value: Any = json.loads(line)
    except RecursionError as error:
        raise ValueError("the line is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("the line is not a JSON object")  # noqa: TRY004 - as for a line that is not JSON
    return cast("dict[str, Any]", value)

"""Frames: the lines that a session and its client exchange, one JSON object in each line, in UTF-8.

The same frames travel over a pipe of a child process, over a Unix socket, and between two parts of one process.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

WIRE_VERSION = 1
"""The version of the frames. A client refuses a session that speaks a newer one."""
MAX_FRAME_BYTES = 64 * 2**20
"""The longest line that a client or a session accepts."""


def encode_frame(frame: Mapping[str, Any]) -> bytes:
    """Return a frame as a line with its newline. Half of a surrogate pair becomes U+FFFD, because UTF-8 has none."""
    text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode() + b"\n"


def decode_frame(line: bytes) -> dict[str, Any]:
    """Return the frame of a line. Raise ValueError if the line is not a JSON object."""
    try:
        value: Any = json.loads(line)
    except RecursionError as error:
        raise ValueError("the line is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("the line is not a JSON object")  # noqa: TRY004 - as for a line that is not JSON
    return cast("dict[str, Any]", value)

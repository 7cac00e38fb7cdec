"""The forms in which programs write a value: in a shell, JSON, a URL or markup, in base64 and in hexadecimal.

A secret in another form is a secret, too: `declare -p`, `env | jq` and `base64` print the variables of a program.
"""

import base64
import html
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

MIN_BASE64_CHARS = 8
"""Length of the shortest part of a text in base64 that is hidden."""
IN_DOUBLE_QUOTES = str.maketrans({sign: f"\\{sign}" for sign in '\\"$`'})
IN_DOLLAR_QUOTES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\E"})
"""Sign → its form in a text of a shell, in `"…"` and in `$'…'`."""


def value_forms(value: str) -> set[bytes]:
    """Return the other forms of a value."""
    data = value.encode("utf-8", "surrogateescape")
    texts = {
        value.translate(IN_DOUBLE_QUOTES),
        value.translate(IN_DOLLAR_QUOTES),
        value.replace("'", "'\\''"),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
        html.escape(value),
        html.escape(value, quote=False),
    }
    forms = {text.encode("utf-8", "surrogateescape") for text in texts}
    forms |= {quote(data).encode(), quote(data, safe="").encode(), quote_plus(data).encode()}
    forms |= {data.hex().encode(), data.hex().upper().encode(), *_base64_forms(data)}
    return forms - {data}


def _base64_forms(data: bytes) -> Iterator[bytes]:
    """Yield the characters that a value has in base64, wherever it begins in a longer text."""
    for shift in range(3):
        padded = bytes(shift) + data
        # only characters of which each bit is one of the value
        start, end = -(-shift * 8 // 6), len(padded) * 8 // 6
        if end - start >= MIN_BASE64_CHARS:
            yield base64.b64encode(padded)[start:end]
            yield base64.urlsafe_b64encode(padded)[start:end]

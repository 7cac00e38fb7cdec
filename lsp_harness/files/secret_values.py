"""The values of variables that hold keys. They have no form of their own: the name of the variable tells that they are
secret.

Whoever gives an environment to commands or to a model's tools hides its keys for that time: `hide_variables`. The
values are then secrets like the tokens of vendors, wherever texts are redacted.
"""

import base64
import html
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote, quote_plus

MIN_BASE64_CHARS = 8
"""Length of the shortest part of a text in base64 that is hidden."""
IN_DOUBLE_QUOTES = str.maketrans({sign: f"\\{sign}" for sign in '\\"$`'})
IN_DOLLAR_QUOTES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\E"})
"""Sign → its form in a text of a shell, in `"…"` and in `$'…'`."""


def list_value_forms(value: str) -> set[bytes]:
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


SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTHORIZATION|CONNECTION_?STRING"
    r"|(?<!BY)PASS$|(?:^|_)(?:PWD|AUTH|COOKIE|BEARER|JWT|PAT)$",
    re.IGNORECASE,
)
"""Names of variables whose values are kept out of logs, prompts and command lines."""
SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+(?=\S)", re.IGNORECASE)
"""Matches what stands before a key in a header."""
MIN_VALUE_BYTES = 6
"""Minimum length of a value that counts as a secret. A shorter one is found in ordinary text."""
ORDINARY_VALUES = frozenset(
    {
        "always",
        "default",
        "disabled",
        "enabled",
        "development",
        "production",
        "ignore",
        "optional",
        "required",
        "secret",
    }
    | {"inherit", "keyring", "password", "private", "public", "system", "unlimited"}
)
"""Words that are settings and no secrets. To hide them would hide ordinary text."""
_hidden: Counter[bytes] = Counter()
_pattern: re.Pattern[bytes] | None = None
_marks: tuple[str, ...] = ()


def find_secret_values(variables: Mapping[str, str]) -> list[str]:
    """Return the values of the variables that hold keys. Names of files and ordinary words are none."""
    named = (SCHEME.sub("", value.strip(), 1) for name, value in variables.items() if SECRET_NAME.search(name))
    return [value for value in named if _is_secret(value)]


@contextmanager
def hide_variables(variables: Mapping[str, str]) -> Generator[None]:
    """Let the keys among variables count as secrets in this process, while the block runs."""
    values = encode_values(find_secret_values(variables))
    _hidden.update(values)
    _compile()
    try:
        yield
    finally:
        _hidden.subtract(values)
        for value in values:
            if _hidden[value] <= 0:
                del _hidden[value]
        _compile()


def encode_values(values: Iterable[str]) -> list[bytes]:
    """Return the bytes of values that are long enough to be secrets, in all forms that are known, the longest first."""
    encoded: set[bytes] = set()
    for value in map(str.strip, values):
        data = value.encode("utf-8", "surrogateescape")
        if len(data) >= MIN_VALUE_BYTES:
            encoded |= {data, *list_value_forms(value)}
    return sorted(encoded, key=len, reverse=True)


def list_hidden_values() -> Collection[bytes]:
    """Return the values that are hidden now, in all their forms."""
    return _hidden.keys()


def find_values(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the byte ranges of hidden values in a text."""
    return (match.span() for match in _pattern.finditer(data)) if _pattern else ()


def list_hidden_marks() -> tuple[str, ...]:
    """Return texts of which each text with a hidden value contains one, also as a part of a line of JSON."""
    return _marks


def _compile() -> None:
    global _pattern, _marks
    values = sorted(_hidden, key=len, reverse=True)
    _pattern = re.compile(b"|".join(map(re.escape, values))) if values else None
    texts = [value.decode("utf-8", "surrogateescape") for value in values]
    _marks = tuple(
        dict.fromkeys(
            form
            for text in texts
            for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        )
    )


def _is_secret(value: str) -> bool:
    value = value.strip()
    if len(value) < MIN_VALUE_BYTES or value.isdigit() or value.casefold() in ORDINARY_VALUES:
        return False
    # for example, GOOGLE_APPLICATION_CREDENTIALS names a file
    return not (value.startswith(("/", "~")) and os.path.lexists(os.path.expanduser(value)))

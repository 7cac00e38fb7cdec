"""Secrets that must never be in a prompt: files that are secret by their name, and lines that contain the form of a
secret.

This module knows only forms that are hardly anything else: private keys, tokens with the prefix of a vendor
(`list_token_forms`), and passwords in URLs; and the values of variables with keys while they are hidden
(`find_secret_values`). A rule that hides every `password = …` would hide ordinary code. A file with a doubtful *name*
counts as secret.
"""

import re
from fnmatch import translate
from functools import lru_cache

from lsp_harness.files.secret_values import MIN_VALUE_BYTES, find_values, list_hidden_marks
from lsp_harness.files.token_forms import list_token_forms
from lsp_harness.text.document import Document

SECRET_NAMES = (
    *(
        ".env",
        ".env.*",
        "*.env",
        ".envrc",
        ".netrc",
        "_netrc",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
    ),
    *(".htpasswd", ".dockercfg", ".git-credentials", ".vault-token", ".boto", ".s3cfg", "kubeconfig"),
    *("*.pem", "*.key", "*.pfx", "*.p12", "*.pkcs12", "*.jks", "*.keystore", "*.ppk", "*.kdbx", "*.gpg", "*.age"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*"),
    "service-account*.json",
)
SECRET_STEMS = ("credentials*", "client_secret*", "*secrets", "secret", "secrets.*")
"""Names of data files, without the suffix. A source file with such a name (`secrets.py`) is not secret."""
CODE_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cs", ".css", ".go", ".h", ".hpp", ".html", ".java", ".js", ".jsx", ".kt", ".lua", ".md"}
    | {".mjs", ".php", ".pl", ".py", ".pyi", ".r", ".rb", ".rs", ".scala", ".swift", ".ts", ".tsx", ".vue"}
)
SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"})

KEY_START = b"-----BEGIN "
KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL
)
TOKENS = tuple(list_token_forms())
TOKEN_REST = re.compile(rb"[\w-]*+")
"""The rest of a token. Some tokens are longer than the form that identifies them, and the rest must be hidden too."""
# a placeholder is not a password
PASSWORD = re.compile(rb"://[^\s/:@\"'{}$<>%]{1,64}:[^\s/@\"'{}$<>%]{3,}@")


KEY_END = re.compile(
    # a diff may show only the last lines of a key
    rb"(?:^[ +-]?[ \t]*[A-Za-z0-9+/=]{8,}[ \t]*\r?\n)+^[ +-]?[ \t]*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    re.MULTILINE,
)
"""The last lines of a private key that begins before the text."""


SAMPLE_SUFFIXES = (".example", ".sample", ".template", ".dist")
"""Ends of names of files that show the form of a file with secrets, such as `.env.example`. Projects publish them."""
_NAMES, _STEMS = (re.compile("|".join(map(translate, patterns))) for patterns in (SECRET_NAMES, SECRET_STEMS))


def is_secret_path(path: str) -> bool:
    """Return whether a file with this name is secret."""
    # this runs for thousands of files, and `pathlib` takes three times as long
    *folders, name = [part for part in path.replace("\\", "/").lower().split("/") if part not in ("", ".")] or [""]
    if not SECRET_FOLDERS.isdisjoint(folders):
        return True
    if name.endswith(SAMPLE_SUFFIXES):
        return False
    if _NAMES.match(name):
        return True
    stem, dot, suffix = name.rpartition(".")
    if dot + suffix in CODE_SUFFIXES:
        return False
    return bool(_STEMS.match(name) or _STEMS.match(stem))


def find_secrets(data: bytes) -> list[tuple[int, int]]:
    """Return the byte ranges of secrets in a text, in order and without overlaps.

    A private key counts with all its lines.
    """
    spans = [match.span() for match in KEY_BLOCK.finditer(data)] if KEY_START in data else []
    spans += find_values(data)
    for form in TOKENS:
        # a search for fixed characters takes a tenth of the time of a pattern
        start = end = data.find(form.mark)
        while start >= 0 and (match := form.pattern.search(data, start)):
            if match.end() > end:
                end = TOKEN_REST.match(data, match.end()).end()  # type: ignore[union-attr]
            spans.append((match.start(), max(end, match.end())))
            # a secret may begin inside another one
            start = match.start() + 1
    start = 0
    while match := PASSWORD.search(data, start):
        spans.append(match.span())
        start = match.start() + 1
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            # for example a token in a URL
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


MARKS = tuple(dict.fromkeys([*(form.mark.decode() for form in TOKENS), "://", "-----BEGIN ", "-----END "]))
"""Fixed characters of which each secret contains some. A text without them needs no search."""
MAX_KEPT_CHARS = 4_000
"""Length of the longest text whose answer is kept."""
SHORTEST_SECRET = MIN_VALUE_BYTES
"""Characters of the shortest secret, the value of a variable."""


def may_contain_secret(text: str) -> bool:
    """Return whether a text, or the texts in a line of JSON, may contain a secret. A search takes much longer."""
    if len(text) < SHORTEST_SECRET:
        return False
    # each step of a conversation asks about the texts of all steps before it
    has_mark = _has_mark if len(text) <= MAX_KEPT_CHARS else _has_mark.__wrapped__
    return has_mark(text, list_hidden_marks())


@lru_cache(maxsize=2_048)
def _has_mark(text: str, hidden: tuple[str, ...]) -> bool:
    # `any` takes twice as long
    for marks in (MARKS, hidden):
        for mark in marks:
            if mark in text:
                return True
    return False


def redact(text: str) -> str:
    """Replace each secret with an ellipsis, for logs and for messages that quote other texts."""
    if not may_contain_secret(text):
        return text
    data = text.encode("utf-8", "surrogatepass")
    for start, end in reversed(find_secrets(data)):
        data = data[:start] + "…".encode() + data[end:]
    if b"-----END " in data:
        data = KEY_END.sub("…".encode(), data)
    return data.decode("utf-8", "surrogatepass")


@lru_cache(maxsize=8)
def _cached_secrets(data: bytes, _: tuple[str, ...]) -> list[tuple[int, int]]:
    # one request needs this several times for the same text
    return find_secrets(data)


def find_secret_lines(document: Document) -> frozenset[int]:
    """Return the numbers of the lines that contain secrets, from 0."""
    return frozenset(
        line
        for start, end in _cached_secrets(document.data, list_hidden_marks())
        for line in range(document.line_of(start), document.line_of(end - 1) + 1)
    )

"""What must never be in a prompt: files that hold secrets by their name, and lines that hold one by its form.

Only forms that cannot well be anything else are known here (private keys, tokens with a vendor's mark, a password in
a URL): a guess that hid every `password = …` would hide honest code. Whatever is doubtful about a *name* is secret.
"""

import re
from fnmatch import translate
from functools import lru_cache

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
"""Names of data; a source file called so (`secrets.py`) is code like any other."""
CODE_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cs", ".css", ".go", ".h", ".hpp", ".html", ".java", ".js", ".jsx", ".kt", ".lua", ".md"}
    | {".mjs", ".php", ".pl", ".py", ".pyi", ".r", ".rb", ".rs", ".scala", ".swift", ".ts", ".tsx", ".vue"}
)
SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"})

KEY_START = b"-----BEGIN "
KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL
)
TOKENS = tuple(
    re.compile(form)
    for form in (
        rb"A(?<=\bA)[KS]IA[0-9A-Z]{16}\b",
        rb"gh(?<=\bgh)[oprsu]_\w{36}",
        rb"github_pat_(?<=\bgithub_pat_)\w{22}",
        rb"glpat-(?<=\bglpat-)[\w-]{20}",
        rb"xox(?<=\bxox)[abeoprs]-[\w-]{10}",
        rb"rk_live_(?<=\brk_live_)\w{16}",
        rb"sk_live_(?<=\bsk_live_)\w{16}",
        rb"AIza(?<=\bAIza)[\w-]{35}",
        rb"sk-(?<=\bsk-)[\w-]{32}",
        rb"npm_(?<=\bnpm_)\w{36}",
        rb"pypi-(?<=\bpypi-)[\w-]{50}",
        rb"hf_(?<=\bhf_)\w{30}",
        rb"SG\.(?<=\bSG\.)[\w-]{22}\.[\w-]{43}",
        # from the first character of its kind on: a text that repeats its beginning must not take minutes
        rb"eyJ(?<![\w-]eyJ)[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}",
    )
)
"""Each begins with what it is looked for by: a form that began with `\\b` would be tried at every byte, a hundred times as long."""
TOKEN_REST = re.compile(rb"[\w-]*+")
"""What a token goes on with: some are longer than what tells them, and a rest of one that is left would be known by nothing."""
# not where the password is a placeholder
PASSWORD = re.compile(rb"://[^\s/:@\"'{}$<>%]{1,64}:[^\s/@\"'{}$<>%]{3,}@")


KEY_END = re.compile(
    # what a diff shows of a key that begins above its few lines of context
    rb"(?:^[ +-]?[ \t]*[A-Za-z0-9+/=]{8,}[ \t]*\r?\n)+^[ +-]?[ \t]*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    re.MULTILINE,
)
"""The last lines of a private key whose beginning is not in the text."""


_NAMES, _STEMS = (re.compile("|".join(map(translate, patterns))) for patterns in (SECRET_NAMES, SECRET_STEMS))


def is_secret_path(path: str) -> bool:
    """Whether a file of this name is kept from the model altogether."""
    # a workspace has thousands of them: `pathlib` takes three times as long
    *folders, name = [part for part in path.replace("\\", "/").lower().split("/") if part not in ("", ".")] or [""]
    if not SECRET_FOLDERS.isdisjoint(folders) or _NAMES.match(name):
        return True
    stem, dot, suffix = name.rpartition(".")
    if dot + suffix in CODE_SUFFIXES:
        return False
    return bool(_STEMS.match(name) or _STEMS.match(stem))


def find_secrets(data: bytes) -> list[tuple[int, int]]:
    """Byte ranges of what has the form of a secret, apart and in order; a private key counts with all its lines."""
    found = [match.span() for match in KEY_BLOCK.finditer(data)] if KEY_START in data else []
    for form in (*TOKENS, PASSWORD):
        at = end = 0
        while match := form.search(data, at):
            if form is not PASSWORD and match.end() > end:
                end = TOKEN_REST.match(data, match.end()).end()  # type: ignore[union-attr]
            found.append((match.start(), max(end, match.end())))
            # one may begin within another
            at = match.start() + 1
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start <= apart[-1][1]:
            # a token within an address
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def redact(text: str) -> str:
    """The text with an ellipsis in place of each secret: for logs, and for messages that quote what we did not write."""
    data = text.encode("utf-8", "surrogatepass")
    for start, end in reversed(find_secrets(data)):
        data = data[:start] + "…".encode() + data[end:]
    if b"-----END " in data:
        data = KEY_END.sub("…".encode(), data)
    return data.decode("utf-8", "surrogatepass")


@lru_cache(maxsize=8)
def _spans_of(data: bytes) -> list[tuple[int, int]]:
    # one request asks several times about one text
    return find_secrets(data)


def secret_lines(document: Document) -> frozenset[int]:
    """Numbers of the lines that are kept from the model."""
    return frozenset(
        line
        for start, end in _spans_of(document.data)
        for line in range(document.line_of(start), document.line_of(end - 1) + 1)
    )

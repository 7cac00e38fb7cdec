"""What is known of one name of an installed package."""

import re
from dataclasses import dataclass

KEYWORDS = re.compile(r"^(?:(?:async|def|function|func|fn|pub(?:\([^)]*\))?|unsafe|const|abstract|static|public)\s+)+")
SELF_PARAMETER = re.compile(r"\(\s*(?:self|cls|mcs)\b(?:\s*:[^,)]*)?\s*(?:,\s*(?:/\s*,\s*)?)?")
RECEIVER = re.compile(r"^\([^)]*\)\s*(?=\w)")
WORD = re.compile(r"[\w$]+")
TYPE_WORDS = frozenset(
    {"class", "interface", "struct", "enum", "type", "trait", "union", "impl", "namespace", "module", "macro_rules"}
)
RETURNS_NONE = re.compile(r"\s*->\s*None$")


@dataclass(frozen=True, slots=True)
class DocFragment:
    """One name. Signatures are on one line, and so is `documentation`, the first paragraph of what is said of it."""

    package: str
    version: str
    """Empty where nothing says which it is."""
    module: str
    """As it was asked for: `requests.sessions`, `@scope/name/part`, `github.com/owner/name`."""
    name: str
    """Within the module: `Session.get`; empty for the module itself."""
    kind: str
    signature: str
    documentation: str
    file: str
    """Relative to where the packages are installed."""
    constructor: str = ""
    """The signature of what makes one, where this is a type."""
    overloads: int = 1
    """How many signatures it has; `signature` is the first of them."""

    @property
    def release(self) -> str:
        return f"{self.package} {self.version}".rstrip()

    @property
    def usage(self) -> str:
        """How it is used, after its module: `get(url, params=None)`, of a class with what its constructor takes."""
        if self.constructor:
            return self._constructor_usage()
        signature = RECEIVER.sub("", KEYWORDS.sub("", self.signature))
        word = WORD.match(signature)
        if not word or not self.name or word[0] in TYPE_WORDS:
            return signature or self.name
        return self.name + signature[word.end() :]

    def _constructor_usage(self) -> str:
        head, bracket, parameters = self.constructor.partition("(")
        if head.startswith("func "):
            return KEYWORDS.sub("", self.constructor)
        if head.endswith("new"):
            return f"{self.name}.{KEYWORDS.sub('', self.constructor)}"
        return self.name + RETURNS_NONE.sub("", SELF_PARAMETER.sub("(", bracket + parameters, count=1))


@dataclass(frozen=True, slots=True)
class AbsentName:
    """A name that a package is known not to have, and its names that are most like it."""

    package: str
    version: str
    module: str
    name: str
    nearest: tuple[DocFragment, ...] = ()

    @property
    def release(self) -> str:
        return f"{self.package} {self.version}".rstrip()

"""Documentation of one name of an installed package."""

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
    """Documentation of one name. Signatures are on one line, and so is `documentation`, its first paragraph."""

    package: str
    version: str
    """Empty if the version is not known."""
    module: str
    """The module as the caller names it: `requests.sessions`, `@scope/name/part`, `github.com/owner/name`."""
    name: str
    """The name in the module: `Session.get`; empty for the module itself."""
    kind: str
    signature: str
    documentation: str
    file: str
    """The path relative to the folder where the packages are installed."""
    constructor: str = ""
    """The signature of the constructor if this is a type."""
    overloads: int = 1
    """Number of signatures; `signature` is the first one."""
    details: str = ""
    """The documentation behind its first paragraph, in lines."""

    @property
    def release(self) -> str:
        """The name and version of the package."""
        return f"{self.package} {self.version}".rstrip()

    @property
    def usage(self) -> str:
        """The code that uses the name: `get(url, params=None)`; for a class, a call of its constructor."""
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
    """A name that a package does not have, and the most similar names that it has."""

    package: str
    version: str
    module: str
    name: str
    nearest: tuple[DocFragment, ...] = ()

    @property
    def release(self) -> str:
        """The name and version of the package."""
        return f"{self.package} {self.version}".rstrip()

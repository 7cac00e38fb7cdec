"""What is known of one name of an installed package."""

import re
from dataclasses import dataclass

KEYWORDS = re.compile(r"^(?:(?:async|def|function|func|fn|pub(?:\([^)]*\))?|unsafe|const|abstract|static|public)\s+)+")
SELF = re.compile(r"\(\s*(?:self|cls|mcs)\b(?:\s*:[^,)]*)?\s*(?:,\s*(?:/\s*,\s*)?)?")


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
    def called(self) -> str:
        """How it is used, after its module: `get(url, params=None)`, of a class with what its constructor takes."""
        last = self.name.rpartition(".")[2]
        if self.constructor and (at := self.constructor.find("(")) >= 0:
            taken = SELF.sub("(", self.constructor[at:], count=1)
            return self.name + re.sub(r"\s*->\s*None$", "", taken)
        shown = KEYWORDS.sub("", self.signature)
        return f"{self.name}{shown.removeprefix(last)}" if shown.startswith(last) else shown or self.name


@dataclass(frozen=True, slots=True)
class Absent:
    """A name that a package is known not to have, and its names that are most like it."""

    package: str
    version: str
    module: str
    name: str
    nearest: tuple[DocFragment, ...] = ()

    @property
    def release(self) -> str:
        return f"{self.package} {self.version}".rstrip()

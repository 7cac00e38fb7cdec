"""The place of a symbol in a file, in terms that an editor can convert."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SymbolLocation:
    """A declaration of a symbol, or a place where it is used.

    Attributes:
        uri: The file. If it is open, this is the URI that the client gave it.
        file: The path of the file.
        line: The line of the name, counted from 0.
        line_prefix: The text before the name on that line.
        name: The name.
        kind: The kind of the symbol in `symbol_verbs`, or `DECLARATION` or `REFERENCE`.
        container: The qualified name of the symbol around it. Empty if there is none.
    """

    uri: str
    file: Path
    line: int
    line_prefix: str
    name: str
    kind: str
    container: str


DECLARATION, REFERENCE = "declaration", "reference"

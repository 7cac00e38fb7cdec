"""Places in files as people write them: `FILE`, `FILE:LINE` or `FILE:LINE:COL`."""

import re
import stat
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.disk.file_reading import read_problem
from lsp_harness.errors import UsageError
from lsp_harness.text.document import Document
from lsp_harness.text.position import Position
from lsp_harness.text.wording import format_count

NUMBER = re.compile(r"-?\d+")
NAMES = ("LINE", "COL")
KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class Written:
    """What a user has written, taken apart without a look at the disk."""

    file: str
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "Written":
        name, numbers = text.rstrip(":"), list[int]()
        while True:
            head, _, last = name.rpartition(":")
            if not head or not NUMBER.fullmatch(last):
                return cls(name, tuple(numbers))
            name = head
            numbers.insert(0, int(last))

    def at(self, *numbers: int | str) -> str:
        """The file with these numbers behind it."""
        return ":".join([self.file, *map(str, numbers)])

    def readings(self) -> "list[Written]":
        """All ways to read it, the longest file name first: a file may be called `a.py:3`."""
        return [Written(self.at(*self.numbers[:n]), self.numbers[n:]) for n in range(len(self.numbers), -1, -1)]


def place(spec: str, parts: int) -> tuple[Path, list[int]]:
    """The file and up to `parts` numbers, counted from 1 as editors and compilers do. Raises UsageError with the right form."""
    written = Written.of(spec)
    written = next((one for one in written.readings() if _is_file(one.file)), written)
    if not _is_file(written.file):
        _raise_for(written, spec, parts)
    if len(written.numbers) > parts:
        raise UsageError(f"this command takes {_form(parts)}; write {written.at(*written.numbers[:parts])}, not {spec}")
    if wrong := [number for number in written.numbers if number < 1]:
        raise UsageError(f"{spec}: lines and columns count from 1, so there is no {wrong[0]}")
    return Path(written.file), list(written.numbers)


def _raise_for(written: Written, spec: str, parts: int) -> None:
    head, _, rest = spec.partition(":")
    if rest and _is_file(head):
        raise UsageError(f"{rest!r} is no line of {head}; write {_form(parts)} with numbers")
    check_file(Path(written.file))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except ValueError:
        # a zero byte
        return False


def check_file(file: Path) -> None:
    """Raise UsageError unless `file` is a regular file."""
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        # where the current folder is gone, this raises what says so
        file.absolute()
        if file.is_symlink():
            raise UsageError(f"{file} is a link that leads to nothing; name another file") from None
        raise UsageError(f"there is no file {str(file)!r}{_nearest(file)}") from None
    except (OSError, ValueError) as error:
        raise UsageError(read_problem(file, error).message) from error
    if stat.S_ISREG(mode):
        return
    kind = next((name for is_kind, name in KINDS if is_kind(mode)), "something else")
    if stat.S_ISDIR(mode):
        raise UsageError(f"{file} is a folder; name one file in it")
    raise UsageError(f"{file} is not a regular file but {kind}; name a file with code")


def check_folder(folder: Path, command: str, text: str) -> None:
    """Raise UsageError where what stands behind a text in words is no folder, but more of the text or a line number."""
    if folder.is_dir():
        return
    if str(folder).isdigit():
        raise UsageError(
            f"there is no folder {str(folder)!r}; a place is one word; write: lsp-harness {command} {text}:{folder}"
        )
    raise UsageError(
        f'there is no folder {str(folder)!r}; put several words in quotes; write: lsp-harness {command} "{text} {folder}"'
    )


def offset_of(document: Document, line: int, column: int) -> int:
    """Byte offset of a line and a column in characters, both from 1."""
    if line > (lines := len(document.line_starts)):
        raise UsageError(f"the file has {format_count(lines, 'line')}; line {line} is past its end")
    return document.offset(Position(line - 1, column - 1), "utf-32")


def _form(parts: int) -> str:
    return ":".join(["FILE", *NAMES[:parts]])


def _nearest(file: Path) -> str:
    """The name in the same folder that is most like it, as a question; empty where none is."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in file.parent.iterdir() if entry.is_file()]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(file.name, names, n=1, cutoff=0.75)
    return f"; did you mean {str(file.with_name(near[0]))!r}?" if near else ""

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
NUMBER_NAMES = ("LINE", "COL")
SPECIAL_FILE_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class PlaceText:
    """A place in a file as a user writes it: a file name and the numbers behind it. The file may not exist."""

    file: str
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(cls, text: str) -> "PlaceText":
        """Split the numbers from the end of a text."""
        name, numbers = text.rstrip(":"), list[int]()
        while True:
            head, _, last = name.rpartition(":")
            if not head or not NUMBER.fullmatch(last):
                return cls(name, tuple(numbers))
            name = head
            numbers.insert(0, int(last))

    def at(self, *numbers: int | str) -> str:
        """Return the file name with these numbers behind it."""
        return ":".join([self.file, *map(str, numbers)])

    def readings(self) -> "list[PlaceText]":
        """Return all ways to read the text, the longest file name first, because a file may be called `a.py:3`."""
        return [PlaceText(self.at(*self.numbers[:n]), self.numbers[n:]) for n in range(len(self.numbers), -1, -1)]


def parse_place(spec: str, parts: int) -> tuple[Path, list[int]]:
    """Return the file of a place and its numbers, which are counted from 1 as in editors and compilers.

    Args:
        spec: The place, as `FILE`, `FILE:LINE` or `FILE:LINE:COL`.
        parts: The largest number of numbers: 1 for a line, 2 for a line and a column.

    Raises:
        UsageError: There is no such file, or the place has another form. The message contains the right form.
    """
    place = PlaceText.of(spec)
    place = next((reading for reading in place.readings() if _is_file(reading.file)), place)
    if not _is_file(place.file):
        _raise_no_file(place, spec, parts)
    if len(place.numbers) > parts:
        raise UsageError(
            f"this command takes {_place_form(parts)}; write {place.at(*place.numbers[:parts])}, not {spec}"
        )
    if invalid := [number for number in place.numbers if number < 1]:
        raise UsageError(f"{spec}: lines and columns count from 1, so there is no {invalid[0]}")
    return Path(place.file), list(place.numbers)


def _raise_no_file(place: PlaceText, spec: str, parts: int) -> None:
    head, _, rest = spec.partition(":")
    if rest and _is_file(head):
        raise UsageError(f"{rest!r} is no line of {head}; write {_place_form(parts)} with numbers")
    check_file(Path(place.file))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except ValueError:
        # the name contains a zero byte
        return False


def check_file(file: Path) -> None:
    """Raise UsageError unless `file` is a regular file."""
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        # if the current folder was removed, this raises the error that says so
        file.absolute()
        if file.is_symlink():
            raise UsageError(f"{file} is a link that leads to nothing; name another file") from None
        raise UsageError(f"there is no file {str(file)!r}{_suggest_name(file)}") from None
    except (OSError, ValueError) as error:
        raise UsageError(read_problem(file, error).message) from error
    if stat.S_ISREG(mode):
        return
    kind = next((name for is_kind, name in SPECIAL_FILE_KINDS if is_kind(mode)), "something else")
    if stat.S_ISDIR(mode):
        raise UsageError(f"{file} is a folder; name one file in it")
    raise UsageError(f"{file} is not a regular file but {kind}; name a file with code")


def check_folder(folder: Path, command: str, text: str) -> None:
    """Raise UsageError if the argument behind a text is no folder.

    It is often the next word of a text without quotes, or a line number.

    Args:
        folder: The argument that should name a folder.
        command: The name of the command, with the option before the text.
        text: The text.
    """
    if folder.is_dir():
        return
    if str(folder).isdigit():
        raise UsageError(
            f"there is no folder {str(folder)!r}; a place is one word; write: lsp-harness {command} {text}:{folder}"
        )
    raise UsageError(
        f'there is no folder {str(folder)!r}; put several words in quotes; write: lsp-harness {command} "{text} '
        f'{folder}"'
    )


def byte_offset(document: Document, line: int, column: int) -> int:
    """Return the byte offset of a line and a column. Both count from 1, and columns are characters."""
    if line > (lines := len(document.line_starts)):
        raise UsageError(f"the file has {format_count(lines, 'line')}; line {line} is past its end")
    return document.offset(Position(line - 1, column - 1), "utf-32")


def _place_form(parts: int) -> str:
    return ":".join(["FILE", *NUMBER_NAMES[:parts]])


def _suggest_name(file: Path) -> str:
    """Return a question with the most similar file name of the same folder, or an empty text if no name is similar."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in file.parent.iterdir() if entry.is_file()]
    except (OSError, ValueError):
        return ""
    matches = get_close_matches(file.name, names, n=1, cutoff=0.75)
    return f"; did you mean {str(file.with_name(matches[0]))!r}?" if matches else ""

"""Formats the changed lines of proposals by the formatters of projects, in a sandbox.

A formatter gets the whole text, and only what it does to changed lines is kept: the rest of a file that nobody has
formatted yet is no part of the proposal.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.process.scratch_folder import ScratchFolder
from lsp_harness.syntax.syntax_errors import dump_python, find_faults
from lsp_harness.text.document import Document
from lsp_harness.text.edit import differences
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.project_tests.baselines import Baselines
from lsp_harness.verify.project_tests.project_overlay import (
    ConfinedProgram,
    ProjectOverlay,
    TooLargeError,
    write_scratch,
)
from lsp_harness.verify.project_tools.formatters import Formatter, find_formatter
from lsp_harness.verify.project_tools.new_findings import NothingComparedError
from lsp_harness.verify.project_tools.tool_comparison import (
    LIMIT_MESSAGES,
    AllowedProgram,
    ToolAccess,
    list_environment_folders,
    read_first_error,
)

FORMAT_LIMITS: Final = ResourceLimits(wall_s=20.0)
"""The limits of a formatter, which needs less than a second for a usual file."""
BETWEEN_FILES = ("/bin/sh", "-c", 'exec "$@" < "$0" > "$0.formatted"')
"""The start of a command whose next word is its input. Its output is a file beside that, without its warnings."""


@dataclass(frozen=True, slots=True)
class FormattedChanges:
    """A proposal whose changed lines are formatted, as far as that was possible.

    Attributes:
        changes: The proposal.
        refusals: Why the formatter of the project did not run, for each reason once.
    """

    changes: ChangeSet
    refusals: tuple[str, ...] = ()


class ChangedLineFormat:
    """Formats the changed lines of proposals. What a formatter says about a text is kept until a file changes.

    Args:
        access: How programs of a project are allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ToolAccess, limits: ResourceLimits = FORMAT_LIMITS) -> None:
        self._access = access
        self._limits = limits
        self._texts = Baselines[bytes]()
        self._scratch: ScratchFolder | None = None
        self._lock = asyncio.Lock()

    def record_file_change(self) -> None:
        """Forget all texts, because a file changed on disk that may be a settings file."""
        self._texts.clear()

    async def aclose(self) -> None:
        """Remove the files of the formatters."""
        scratch, self._scratch = self._scratch, None
        if scratch:
            await asyncio.to_thread(scratch.remove)

    async def format(self, changes: ChangeSet) -> FormattedChanges:
        """Return a proposal with formatted lines. A text whose project has no formatter, or a broken one, stays.

        Args:
            changes: The proposal.
        """
        formatted: list[Change] = []
        refusals: dict[str, None] = {}
        for change in changes:
            try:
                formatted.append(await self._format(change))
            except NothingComparedError as error:
                formatted.append(change)
                refusals.setdefault(str(error))
        return FormattedChanges(ChangeSet(tuple(formatted)), tuple(refusals))

    async def _format(self, change: Change) -> Change:
        """Return a change with formatted lines.

        Raises:
            NothingComparedError: The formatter of the project cannot run.
        """
        root, after = change.root, change.after
        if root is None or after.data == change.before.data:
            return change
        formatter = await asyncio.to_thread(find_formatter, root, change.file)
        if formatter is None or await asyncio.to_thread(_is_broken, change):
            return change
        program = await self._access.find_program(formatter, root, change.file)
        key = formatter.name, change.file, after.hash
        text = await self._texts.find(key, lambda: self._run(formatter, program, change, root))
        return await asyncio.to_thread(_take_formatted_lines, change, text)

    async def _run(self, formatter: Formatter, program: AllowedProgram, change: Change, root: Path) -> bytes:
        """Return the whole text as a formatter writes it."""
        mark, text = change.after.mark_size, change.after.data
        # two runs would use one file
        async with self._lock:
            try:
                scratch = await asyncio.to_thread(self._write_text, text[mark:])
                folder = formatter.find_folder(root, change.file)
                command = (*BETWEEN_FILES, str(scratch), *formatter.create_command(program.path, root, change.file))
                visible = (*formatter.list_folders(program.path), *list_environment_folders(program.environment))
                place = PurePosixPath(folder.relative_to(root).as_posix())
                confined = ConfinedProgram(command, formatter.list_variables(), visible, self._limits, place)
                run = await ProjectOverlay(root, {}, scratch.parent, program.sandbox).run(confined)
                result = run.result
                if result.end != "exited":
                    raise NothingComparedError(f"{formatter.name} {LIMIT_MESSAGES[result.end]}")
                if result.exit_code != 0:
                    says = read_first_error(result.output.decode("utf-8", "replace"))
                    raise NothingComparedError(
                        f"{formatter.name} failed: {says or f'its exit status is {result.exit_code}'}"
                    )
                output = await asyncio.to_thread(read_file, scratch.with_name(f"{scratch.name}.formatted"))
            except (OSError, TooLargeError, FileError) as error:
                raise NothingComparedError(f"{formatter.name} could not run: {error}") from error
        return text[:mark] + _convert_line_ends(output, change.after)

    def _write_text(self, text: bytes) -> Path:
        """Return a file of the scratch folder with a text."""
        if self._scratch is None:
            self._scratch = ScratchFolder()
        file = self._scratch.path / "text"
        file.with_name(f"{file.name}.formatted").unlink(missing_ok=True)
        write_scratch(file, text)
        return file


def _convert_line_ends(output: bytes, document: Document) -> bytes:
    """Return a text with the line ends of a document: some formatters write their own."""
    newline = document.newline.encode()
    return output.replace(b"\r\n", b"\n").replace(b"\n", newline) if newline != b"\n" else output


def _is_broken(change: Change) -> bool:
    """Return whether the text after a change has a syntax error, at which every formatter stops."""
    return change.tree_after is not None and bool(find_faults(change.tree_after))


def _take_formatted_lines(change: Change, formatted: bytes) -> Change:
    """Return a change with what a formatter does to its changed lines, or as it is if this alone changes the code."""
    data = select_formatted_lines(change.before.data, change.after.data, formatted)
    if data == change.after.data:
        return change
    new = change.with_after(data)
    return change if _is_broken(new) or not _has_same_program(change, new, formatted) else new


def _has_same_program(old: Change, new: Change, formatted: bytes) -> bool:
    """Return whether a part of the formatted lines makes the program of the whole text, where its tree can be read.

    In a language of indented blocks, lines may join another block if the lines around them are not formatted.
    """
    if not (old.tree_after and old.tree_after.language.compiles_in_process):
        return True
    return dump_python(new.after.data) in (dump_python(old.after.data), dump_python(formatted))


Run = tuple[int, int]
"""The first line of some lines, and the line after them."""


def select_formatted_lines(before: bytes, after: bytes, formatted: bytes) -> bytes:
    """Return the text after a change with those lines as a formatter writes them that overlap changed lines.

    Blank lines that the formatter adds directly above or below changed lines count, too. Where it would indent
    unchanged lines in another way, lines keep their indentation, and those stay that would become more or fewer.

    Args:
        before: The text before the change.
        after: The text after the change.
        formatted: This text as the formatter writes it.
    """
    old, new, target = (text.splitlines(keepends=True) for text in (before, after, formatted))
    changed = [(start, end) for _, _, start, end in differences(old, new)]
    runs = _find_formatted_runs(new, target)
    kept = [run for run in runs if any(_overlaps(run[0], other) for other in changed)]
    keeps_indentation = any(_is_indentation(new, target, run) for run in runs if run not in kept)
    lines: list[bytes] = []
    position = 0
    for (start, end), (target_start, target_end) in kept:
        written = target[target_start:target_end]
        if keeps_indentation:
            if len(written) != end - start:
                continue
            written = [_indent_like(line, own) for line, own in zip(written, new[start:end], strict=True)]
        lines += (*new[position:start], *written)
        position = end
    return b"".join((*lines, *new[position:]))


def _indent_like(line: bytes, other: bytes) -> bytes:
    """Return a line with the indentation of another one."""
    return other[: len(other) - len(other.lstrip())] + line.lstrip()


def _find_formatted_runs(new: Sequence[bytes], target: Sequence[bytes]) -> list[tuple[Run, Run]]:
    """Return the runs of lines that a formatter writes in another way, as small as possible, and its own lines.

    Lines that differ only in blanks are a run each: a formatter that indents a whole function changes every line of it.
    """
    runs: list[tuple[Run, Run]] = []
    new_end = target_end = 0
    found = differences([b"".join(line.split()) for line in new], [b"".join(line.split()) for line in target])
    for start, end, target_start, next_end in (*found, (len(new), len(new), len(target), len(target))):
        pairs = zip(range(new_end, start), range(target_end, target_start), strict=True)
        runs += [((n, n + 1), (m, m + 1)) for n, m in pairs if new[n] != target[m]]
        if (start, target_start) != (end, next_end):
            runs.append(((start, end), (target_start, next_end)))
        new_end, target_end = end, next_end
    return runs


def _is_indentation(new: Sequence[bytes], target: Sequence[bytes], run: tuple[Run, Run]) -> bool:
    """Return whether a formatter changes nothing but the indentation of some lines."""
    (start, end), (target_start, target_end) = run
    pairs = [*zip(new[start:end], target[target_start:target_end], strict=False)]
    is_one_by_one = end - start == target_end - target_start
    return is_one_by_one and all(line != other and line.lstrip() == other.lstrip() for line, other in pairs)


def _overlaps(first: Run, second: Run) -> bool:
    """Return whether two runs of lines overlap. An empty run overlaps what it lies in or directly beside."""
    is_empty = first[0] == first[1] or second[0] == second[1]
    if is_empty:
        return first[0] <= second[1] and second[0] <= first[1]
    return first[0] < second[1] and second[0] < first[1]

"""Asks the tools of a project about its files before and after proposals, in a sandbox."""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.disk.file_reading import UTF_8_BOM, read_file
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import find_environment, find_interpreter
from lsp_harness.process.sandbox.sandbox import Confinement, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.process.scratch_folder import ScratchFolder
from lsp_harness.text.document import Document
from lsp_harness.text.position import Position
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.digest.digest import digest_output, read_last_line
from lsp_harness.verify.digest.problem import SEVERITY_ORDER, ToolProblem
from lsp_harness.verify.finding import Finding, Severity
from lsp_harness.verify.finding_identity import find_new_findings, had_syntax_error
from lsp_harness.verify.project_tests.baselines import Baselines
from lsp_harness.verify.project_tests.project_overlay import (
    ConfinedProgram,
    ProjectOverlay,
    TooLargeError,
    write_scratch,
)
from lsp_harness.verify.project_tools.new_findings import FileLeftOutError, NewFinding, NothingComparedError
from lsp_harness.verify.project_tools.project_tool import ProjectProgram, ProjectTool, ToolJob

MAX_USERS = 40
"""Number of files that use the changed ones and that a tool looks at, too."""
IN_FOLDER = ("/bin/sh", "-c", 'cd "$0" && exec "$@"')
"""The start of a command whose next word is the folder in which the rest runs."""
ERROR_WORD = re.compile(r"error|fail|fatal|exception|cannot|could not|not found|no such|invalid|unknown", re.IGNORECASE)
"""The words by which a line tells what is wrong."""
WARNING_LINE = re.compile(r"\s*(?:npm )?warn(?:ing)?\b|\s*\(node:\d+\)", re.IGNORECASE)
"""The beginning of a line that is only a warning."""
SYNTAX_ERROR = b"\n)]}\n"
"""The end of a text that no compiler accepts."""
LIMIT_MESSAGES = {
    "timeout": "does not end in time",
    "output_limit": "prints without an end",
    "process_limit": "starts too many processes",
}


@dataclass(frozen=True, slots=True)
class AllowedProgram:
    """A program that may run on a project.

    Attributes:
        path: Its path.
        sandbox: The sandbox for which this was allowed.
        environment: The environment of a project of Python, or None.
    """

    path: str
    sandbox: Sandbox
    environment: Path | None = None


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """The functions by which tools are allowed.

    Attributes:
        find_objection: Returns why a command may not run, or an empty text. It gets the command and its confinement.
        choose_sandbox: Returns the sandbox of this machine.
        read_python: Returns the Python environment of the settings, or an empty text.
        find_users: Returns the files that import a file, the nearest first. It gets the workspace folder and the path.
        is_trusted: Whether the user trusts the workspace. If not, every command has an objection.
    """

    find_objection: Callable[[Sequence[str], Confinement | None], Awaitable[str]]
    choose_sandbox: Callable[[], SandboxChoice]
    read_python: Callable[[], str] = str
    find_users: Callable[[Path, str], Awaitable[Sequence[str]]] | None = None
    is_trusted: bool = True

    async def find_program(self, tool: ProjectProgram, root: Path, file: Path) -> AllowedProgram:
        """Return the program of a tool for a project.

        Args:
            tool: The tool.
            root: The workspace folder.
            file: A file in it.

        Raises:
            NothingComparedError: It is missing, or it may not run.
        """
        environment = None
        if ".py" in tool.suffixes:
            environment = await asyncio.to_thread(find_environment, root, file, self.read_python())
        program = await asyncio.to_thread(tool.find_program, root, file, environment)
        if program is None:
            reason = tool.find_configuration(root, file)
            raise NothingComparedError(f"{reason} asks for {tool.name}, which is not installed ({tool.install_hint})")
        choice = self.choose_sandbox()
        if not choice.is_confined:
            problem = f"none works here ({choice.problem_text})"
            raise NothingComparedError(f"{tool.name} runs only in a sandbox, and {problem}")
        command = (program, *tool.name.split()[1:])
        if objection := await self.find_objection(command, choice.confine(root, program)):
            raise NothingComparedError(objection)
        return AllowedProgram(program, choice.sandbox, environment)

    async def list_users(
        self, changes: ChangeSet, reads: Callable[[Path], bool], folder: Path, limit: int
    ) -> list[Path]:
        """Return the files on disk that use changed ones, without these, at most `limit`.

        Args:
            changes: The proposal.
            reads: Returns whether a file counts.
            folder: The folder in which they must lie.
            limit: The number of files.
        """
        changed = {change.file for change in changes}
        found: dict[Path, None] = {}
        for change in changes:
            if self.find_users is None or change.root is None or not change.file.is_relative_to(change.root):
                continue
            # who imports a module uses its stub
            modules = (change.file, change.file.with_suffix(".py")) if change.file.suffix == ".pyi" else (change.file,)
            for module in modules:
                for path in await self.find_users(change.root, module.relative_to(change.root).as_posix()):
                    file = change.root / path
                    if reads(file) and file not in changed and file.is_relative_to(folder) and file.is_file():
                        found.setdefault(file)
        return [*found][:limit]


@dataclass(frozen=True, slots=True)
class _ToolUse:
    """A tool that may run in a folder of a workspace, in the sandbox for which this was allowed."""

    tool: ProjectTool
    program: AllowedProgram
    root: Path
    folder: Path
    users: tuple[Path, ...] = ()


class ToolComparison:
    """Compares the answers of tools. The answers before proposals, and the caches of the tools, are kept.

    Args:
        access: How tools are allowed.
        limits: The limits of each run.
    """

    def __init__(self, access: ToolAccess, limits: ResourceLimits | None = None) -> None:
        self.access = access
        self._limits = limits or ResourceLimits()
        self._baselines = Baselines[tuple[ToolProblem, ...]]()
        self._readings = Baselines[bool]()
        self._scratch: dict[tuple[str, Path], ScratchFolder] = {}
        self._replaced: dict[tuple[str, Path], set[Path]] = {}
        self._lock = asyncio.Lock()

    def record_file_change(self) -> None:
        """Forget all answers, because a file changed on disk."""
        self._baselines.clear()
        self._readings.clear()

    async def aclose(self) -> None:
        """Remove the caches of the tools."""
        folders, self._scratch = [*self._scratch.values()], {}
        for folder in folders:
            await asyncio.to_thread(folder.remove)

    async def compare(self, tool: ProjectTool, changes: ChangeSet, least: Severity) -> list[NewFinding]:
        """Return what a tool finds only after a proposal, anywhere in the project.

        Args:
            tool: The tool.
            changes: The proposal, whose files lie in one project.
            least: The lowest severity that counts.

        Raises:
            NothingComparedError: The tool cannot say anything about the proposal.
        """
        use = await self._find_use(tool, changes)
        try:
            return await self._compare(use, changes, least)
        except NothingComparedError:
            if not use.users or all(tool.find_exclusion(use.folder, change.file) for change in changes):
                raise
        # one of the files that use the changed ones may be what it fails at
        return await self._compare(replace(use, users=()), changes, least)

    async def _compare(self, use: _ToolUse, changes: ChangeSet, least: Severity) -> list[NewFinding]:
        # two runs would write to one cache
        async with self._lock:
            before = await self._find_before(use, changes)
            texts = {change.file: change.after.data for change in changes}
            after = await self._ask(use, texts)
            counting = SEVERITY_ORDER[: SEVERITY_ORDER.index(least) + 1]
            new = _find_new(
                use.folder,
                changes,
                [problem for problem in before if problem.severity in counting],
                [problem for problem in after if problem.severity in counting],
            )
            if use.tool.needs_files and not new:
                known = {_locate(use.folder, problem) for problem in (*before, *after)}
                await self._require_reading(use, [c for c in changes if c.file not in known], after)
        return new

    async def _find_use(self, tool: ProjectTool, changes: ChangeSet) -> _ToolUse:
        root, main = changes.main.root, changes.main.file
        if root is None or not all(change.file.is_relative_to(root) for change in changes):
            raise NothingComparedError("the file is in no workspace folder")
        folder = await asyncio.to_thread(tool.find_folder, root, main)
        if not all(change.file.is_relative_to(folder) for change in changes):
            folder = root
        users: list[Path] = []
        if tool.names_users:
            users = await self.access.list_users(changes, lambda file: file.suffix in tool.suffixes, folder, MAX_USERS)
        exclusions = [tool.find_exclusion(folder, file) for file in (*(change.file for change in changes), *users)]
        if all(exclusions):
            raise FileLeftOutError("; ".join(dict.fromkeys(exclusions[: len(changes.changes)])))
        allowed = await self.access.find_program(tool, root, main)
        return _ToolUse(tool, allowed, root, folder, tuple(users))

    async def _require_reading(self, use: _ToolUse, changes: Sequence[Change], after: Sequence[ToolProblem]) -> None:
        """Raise NothingComparedError if a tool, which chooses its files itself, does not read a changed file.

        A file is read if a syntax error in it is found. If there are errors elsewhere, the tool may have stopped there.
        """
        stop = next((problem for problem in after if problem.severity == "error" and problem.path), None)
        for change in changes:

            async def ask(change: Change = change) -> bool:
                problems = await self._ask(use, {change.file: change.before.data + SYNTAX_ERROR})
                return any(_locate(use.folder, problem) == change.file for problem in problems)

            if not await self._readings.find((use.tool.name, use.folder, change.file), ask):
                name = change.file.relative_to(use.root).as_posix()
                reason = "is no part of the build"
                reason += f", or comes after the error at {stop.place}: {stop.message}" if stop else ""
                raise NothingComparedError(f"{use.tool.name} does not look at {name}, which {reason}")

    async def _find_before(self, use: _ToolUse, changes: ChangeSet) -> tuple[ToolProblem, ...]:
        key = use.tool.name, use.folder, tuple((change.file, change.before.hash) for change in changes), use.users
        texts = {change.file: change.before.data for change in changes}
        return await self._baselines.find(key, lambda: self._ask(use, texts))

    async def _ask(self, use: _ToolUse, texts: Mapping[Path, bytes]) -> tuple[ToolProblem, ...]:
        """Return what a tool finds in a project with other contents of some files."""
        tool, folder = use.tool, use.folder
        try:
            scratch = await asyncio.to_thread(self._prepare, tool, folder, texts)
            named = {file.relative_to(folder): scratch / f"text-{n}" for n, file in enumerate(texts)}
            users = tuple(file.relative_to(folder) for file in use.users)
            job = ToolJob(folder, use.program.path, named, scratch / "cache", users, use.program.environment)
            replaced: Mapping[Path, bytes] = {}
            if tool.needs_files:
                replaced = await asyncio.to_thread(self._replace, tool, folder, texts)
            overlay = ProjectOverlay(use.root, replaced, scratch, use.program.sandbox)
            problems: list[ToolProblem] = []
            for command in tool.create_commands(job):
                problems += await self._run(tool, overlay, command, job)
        except (OSError, TooLargeError) as error:
            raise NothingComparedError(f"{tool.name} could not run: {error}") from error
        # a file may belong to several targets, such as a library and its tests
        return tuple(dict.fromkeys(problems))

    def _replace(self, tool: ProjectTool, folder: Path, texts: Mapping[Path, bytes]) -> Mapping[Path, bytes]:
        """Return texts, with those files as they are on disk that had another text in the run before.

        They have to be written, too: cargo takes a file that is older than its last run for one that did not change.
        """
        key = tool.name, folder
        restored: dict[Path, bytes] = {}
        for file in self._replaced.get(key, set[Path]()).difference(texts):
            with suppress(FileError):
                restored[file] = read_file(file)
        self._replaced[key] = set(texts)
        return {**restored, **texts}

    def _prepare(self, tool: ProjectTool, folder: Path, texts: Mapping[Path, bytes]) -> Path:
        """Return the folder of a tool, with the texts in it."""
        key = tool.name, folder
        if key not in self._scratch:
            self._scratch[key] = ScratchFolder()
        scratch = self._scratch[key].path
        (scratch / "cache").mkdir(exist_ok=True)
        for number, content in enumerate(texts.values()):
            write_scratch(scratch / f"text-{number}", content)
        return scratch

    async def _run(
        self, tool: ProjectTool, overlay: ProjectOverlay, command: Sequence[str], job: ToolJob
    ) -> tuple[ToolProblem, ...]:
        folders = (*tool.list_folders(job.program), *list_environment_folders(job.environment))
        if job.root != overlay.root:
            # the copy of a project has the same folders
            command = (*IN_FOLDER, str(job.root.relative_to(overlay.root)), *command)
        run = await overlay.run(ConfinedProgram(command, tool.create_environment(job), folders, self._limits))
        result, text = (
            run.result,
            run.result.output.decode("utf-8", "replace").replace(f"{overlay.copy}/", f"{overlay.root}/"),
        )
        if result.end != "exited":
            raise NothingComparedError(f"{tool.name} {LIMIT_MESSAGES[result.end]}")
        digest = digest_output(text, tool.reader, str(job.root))
        if refusal := tool.find_refusal(digest):
            raise NothingComparedError(refusal)
        if result.exit_code != 0 and not any(problem.path for problem in digest.problems):
            first = read_first_error(text) or f"its exit status is {result.exit_code}"
            raise NothingComparedError(f"{tool.name} failed: {first}")
        changed = {job.root / file for file in job.texts}
        if result.exit_code == tool.stopped_status and not any(
            _locate(job.root, p) in changed for p in digest.problems
        ):
            first = next((problem for problem in digest.problems if problem.path), digest.problems[0])
            raise NothingComparedError(f"{tool.name} stops at {first.place}: {first.message}")
        return digest.problems


def _locate(folder: Path, problem: ToolProblem) -> Path:
    """Return the file of a problem, which a tool names from its own folder."""
    return Path(os.path.normpath(folder / problem.path))


def list_environment_folders(environment: Path | None) -> tuple[Path, ...]:
    """Return an environment, where a link leads to, and the installation of Python that it is made from.

    Args:
        environment: The environment of a project of Python, or None, which has no folders.
    """
    if environment is None:
        return ()
    python = find_interpreter(environment)
    return (environment, environment.resolve(), *((python.resolve().parent.parent,) if python else ()))


def read_first_error(text: str) -> str:
    """Return the first line of an output that says what is wrong, or else its first line. It may be empty."""
    lines = [line for line in text.splitlines() if line.strip(" \t-=_*!")]
    named = (line for line in lines if ERROR_WORD.search(line) and not WARNING_LINE.match(line))
    line = next(named, next(iter(lines), ""))
    # the reader of last lines leaves out secrets and the middle of a long line
    return read_last_line(line)


def _find_new(
    folder: Path, changes: ChangeSet, before: Sequence[ToolProblem], after: Sequence[ToolProblem]
) -> list[NewFinding]:
    """Return the problems that are new: in the changed texts by place and names, elsewhere by their words."""
    found: list[NewFinding] = []
    paths = {change.file: change for change in changes}
    for file, change in paths.items():
        old = [_as_finding(problem, change.before) for problem in before if _locate(folder, problem) == file]
        new = [_as_finding(problem, change.after) for problem in after if _locate(folder, problem) == file]
        was_broken = had_syntax_error(change)
        found += [NewFinding(change, f) for f in find_new_findings(change, old, new, was_broken=was_broken)]
    elsewhere = Counter(_drop_column(problem) for problem in before if _locate(folder, problem) not in paths)
    for problem in after:
        if _locate(folder, problem) in paths:
            continue
        if elsewhere[_drop_column(problem)] > 0:
            elsewhere[_drop_column(problem)] -= 1
        else:
            start = changes.main.start
            message = f"{problem.place}: {problem.message}" if problem.place else problem.message
            finding = Finding(start, start, message, "", problem.code, problem.severity)
            found.append(NewFinding(changes.main, finding, is_elsewhere=True))
    return found


def _drop_column(problem: ToolProblem) -> ToolProblem:
    return replace(problem, column=0)


def _as_finding(problem: ToolProblem, document: Document) -> Finding:
    """Return a problem as a finding about the word at its place."""
    # compilers and linters do not count a byte order mark, which is the first character of the text
    has_mark = problem.line == 1 and document.data.startswith(UTF_8_BOM)
    place = Position(max(0, problem.line - 1), max(0, problem.column - 1) + has_mark)
    start = document.offset(place, "utf-32")
    line_end = document.line_span(document.line_of(start))[1]
    end = start
    while end < line_end and (document.data[end : end + 1].isalnum() or document.data[end : end + 1] == b"_"):
        end += 1
    return Finding(start, max(start, end), problem.message, "", problem.code, problem.severity)

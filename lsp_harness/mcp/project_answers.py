"""Answers for other programs that need no symbol: the fix of an error, the problems of an output, and documentation."""

import asyncio

from lsp_harness.chat.tools.workspace_paths import WorkspacePaths
from lsp_harness.errors import UsageError
from lsp_harness.kernel.results import Progress
from lsp_harness.knowledge.installed_packages import package_languages
from lsp_harness.knowledge.name_search import search_name
from lsp_harness.mcp.paged_answer import PagedAnswer
from lsp_harness.mcp.served_project import ReportLine, ServedProject, ignore_line
from lsp_harness.text.wording import format_count
from lsp_harness.verify.digest.digest import READERS_BY_TOOL, digest_output

MAX_OUTPUT_CHARS = 1_000_000
"""Largest output of a tool that a call may bring."""
MAX_DIGEST_LINES = 200


class ProjectAnswers:
    """Answers about the errors and the packages of a folder. Nothing is written.

    Args:
        project: The folder.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project

    async def fix(self, path: str, line: int = 0, report: ReportLine = ignore_line) -> PagedAnswer:
        """Return the checked fix of an error in a file as a diff.

        Args:
            path: The file.
            line: The line of the error, from 1. 0 means the first error of the file.
            report: Receives the progress.

        Raises:
            UsageError: The file has no error there.
            NoAnswer: No fix passes the checks.
        """
        project, paths = self._project, WorkspacePaths(self._project.environment, "fix_error")
        file = paths.locate(path)
        await project.require_reading("fix_error", {"path": path}, file.path)
        await project.open_index(report)
        document = paths.read_document(file)
        snapshot = project.services.workspace.snapshot(document)
        fixes = project.harness.fixes
        examined = await fixes.diagnose(snapshot)
        found = [one for one in examined.findings if line in (0, document.line_of(one.start) + 1)]
        if not found:
            looked = " and ".join(examined.checks) or "nothing"
            others = sorted({document.line_of(one.start) + 1 for one in examined.findings})
            listed = f"; lines with errors: {', '.join(map(str, others[:10]))}" if others else ""
            skipped = f"; not checked: {'; '.join(examined.skip_reasons)}" if examined.skip_reasons else ""
            raise UsageError(
                f"there is no error {'on this line' if line else 'here'} ({looked} checked{skipped}){listed}"
            )
        finding = found[0]

        def follow(progress: Progress) -> None:
            report(progress.message)

        offers = await fixes.offer(snapshot, [finding])
        proposal = await fixes.fix_first(snapshot, offers, follow)
        where = f"{file.name}:{document.line_of(finding.start) + 1}: {finding.source} {finding.code} {finding.message}"
        return PagedAnswer([where, proposal.summary, *proposal.diff.splitlines()], ["not applied"])

    async def digest(self, output: str, tool: str = "") -> PagedAnswer:
        """Return one line for each problem in the output of a test runner, a linter or a compiler.

        Raises:
            UsageError: The tool is not known, or the output is too large.
        """
        if tool and tool not in READERS_BY_TOOL:
            raise UsageError(f"tool must be empty or one of {', '.join(READERS_BY_TOOL)}, not {tool!r}")
        if len(output) > MAX_OUTPUT_CHARS:
            raise UsageError(f"the output is larger than {MAX_OUTPUT_CHARS:,} characters; give only the end of it")
        result = await asyncio.to_thread(digest_output, output, tool, str(self._project.root))
        lines = [*result.lines(MAX_DIGEST_LINES)] if result.problems else []
        return PagedAnswer([result.summary, *lines])

    async def docs(self, name: str, language: str = "") -> PagedAnswer:
        """Return the signature and the documentation of a name in an installed package or in one of the project.

        Raises:
            UsageError: There is no such name, or the language is not known.
        """
        known = package_languages()
        if language and language not in known:
            raise UsageError(f"language must be empty or one of {', '.join(known)}, not {language!r}")
        root, installed = self._project.root, self._project.services.installed
        if installed is None:
            raise UsageError("the settings do not let programs read the installed packages (knowledge.enabled)")
        languages = [language] if language else known
        # packages are read from disk and parsed
        found = await asyncio.to_thread(search_name, installed, root, languages, name)
        overloads = f" (the first of {format_count(found.overloads, 'signature')})" if found.overloads > 1 else ""
        head = f"{found.release}: {found.signature or found.name or found.module}{overloads}"
        lines = [head, found.constructor, *found.documentation.splitlines(), found.file]
        return PagedAnswer([line for line in lines if line])

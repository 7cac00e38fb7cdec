"""`eslint`, the one that the project itself installed. Its configuration is a program."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.knowledge.project_python import find_project_folder, folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.project_tools.project_tool import STDIN, ProjectTool, ToolJob
from lsp_harness.verify.types.project_settings import find_configuration, read_table
from lsp_harness.verify.types.type_checker import find_in_folder

NAMES = tuple(f"eslint.config{suffix}" for suffix in (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"))
OLD_NAMES = tuple(f".eslintrc{suffix}" for suffix in (".js", ".cjs", ".yaml", ".yml", ".json", ""))
NOT_READ = "File ignored"
"""The beginning of the warning about a file that the configuration excludes."""


class Eslint(ProjectTool):
    """The command of eslint on the changed texts, which it gets by its standard input."""

    name = "eslint"
    check = "lint"
    reader = "eslint"
    suffixes = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
    install_hint = "npm install"
    needs_files = False
    stopped_status = 2

    def configures(self, folder: Path) -> str:
        if name := find_configuration(folder, (*NAMES, *OLD_NAMES)):
            return name
        return "package.json" if "eslintConfig" in read_table(folder / "package.json") else ""

    def find_folder(self, root: Path, file: Path) -> Path:
        """Return the folder from which eslint finds its configuration.

        The old kind of configuration may lie in any folder, and its plug-ins are those of the nearest package.
        """
        folder = super().find_folder(root, file)
        if find_configuration(folder, NAMES):
            return folder
        return find_project_folder(root, folder / "file", ("package.json",))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        """Return the program of the folders of a file in the workspace folder. It runs by Node.js."""
        folders = (folder / "node_modules" / ".bin" for folder in folders_up_to(root, file))
        program = next(filter(None, (find_in_folder(folder, "eslint") for folder in folders)), None)
        return program if find_tool("node") else None

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        options = ("--format", "json", "--stdin", "--stdin-filename")
        return [[*STDIN, str(text), job.program, *options, str(file)] for file, text in job.texts.items()]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the packages, which may be links to other folders, and the installation of Node.js."""
        node = Path(find_tool("node") or "/usr/bin/node").resolve()
        return (*super().list_folders(program), Path(program).parent.parent.resolve(), node.parent.parent)

    def find_refusal(self, digest: Digest) -> str:
        refused = next((problem for problem in digest.problems if problem.message.startswith(NOT_READ)), None)
        return f"eslint's configuration excludes {Path(refused.path).name}" if refused else ""

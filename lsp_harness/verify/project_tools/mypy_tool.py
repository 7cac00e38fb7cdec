"""`mypy`. It reads the texts of a proposal by `--shadow-file`, so that it needs no copy of the project."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tools.project_tool import ProjectTool, ToolJob
from lsp_harness.verify.types.project_settings import find_configuration, has_line
from lsp_harness.verify.types.ty_checker import OTHER_FOLDERS, OWN_FOLDER
from lsp_harness.verify.types.type_checker import find_in_folder


class Mypy(ProjectTool):
    """The command of mypy on the changed files. Its cache makes all questions but the first fast."""

    name = "mypy"
    check = "types"
    reader = "mypy"
    suffixes = (".py", ".pyi")
    install_hint = "pip install mypy"
    needs_files = False

    def find_configuration(self, root: Path, file: Path) -> str:
        name = find_configuration(root, ("mypy.ini", ".mypy.ini"), self.name)
        return name or ("setup.cfg" if has_line(root / "setup.cfg", "[mypy") else "")

    def find_program(self, root: Path, file: Path) -> str | None:
        folders = (root / folder / "bin" for folder in (OWN_FOLDER, *OTHER_FOLDERS))
        return next(filter(None, (find_in_folder(folder, "mypy") for folder in folders)), None) or find_tool("mypy")

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        shadows = [word for file, text in job.texts.items() for word in ("--shadow-file", str(file), str(text))]
        options = ["--show-column-numbers", "--no-error-summary", "--no-color-output", "--no-pretty"]
        options += ["--hide-error-context", "--cache-dir", str(job.cache)]
        return [[job.program, *options, *shadows, *map(str, job.texts)]]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the environment of mypy, and the installation of Python that it is made from."""
        folder = Path(program).resolve().parent
        return (*super().list_folders(program), (folder / "python").resolve().parent.parent)

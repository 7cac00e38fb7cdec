"""The tools of Go: the compiler as the type checker, and `go vet` as the linter."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tools.project_tool import ProjectTool, ToolJob
from lsp_harness.verify.types.project_settings import find_configuration


class GoTool(ProjectTool):
    """A command of `go` on all packages of a module, without the network."""

    reader = "go"
    suffixes = (".go",)
    install_hint = "install Go from go.dev"

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, ("go.mod",))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool("go")

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        caches = {"GOCACHE": str(job.cache), "GOPATH": str(Path.home() / "go"), "GOTOOLCHAIN": "local"}
        return {**caches, "GOPROXY": "off", "GOTELEMETRY": "off", "CGO_ENABLED": "0"}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), Path.home() / "go")


class GoBuild(GoTool):
    """The compiler. Only `go vet` compiles tests, but it stops at the first error of a package."""

    name = "go build"
    check = "types"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        has_tests = any(file.name.endswith("_test.go") for file in job.texts)
        build = [job.program, "build", "-gcflags=-e", "-o", "/dev/null", "./..."]
        return [build, *([[job.program, "vet", "./..."]] if has_tests else [])]


class GoVet(GoTool):
    """The linter that every installation of Go has."""

    name = "go vet"
    check = "lint"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        return [[job.program, "vet", "./..."]]

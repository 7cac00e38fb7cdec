"""The file of results, to which each result is appended when it is there. A stopped run goes on after the last one."""

from pathlib import Path

from benchmarks.evaluation.results.task_result import ResultKey, TaskResult
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import UsageError


class ResultFile:
    """The results in a file of JSON lines.

    Args:
        path: The file. It need not exist.

    Raises:
        UsageError: The file cannot be read, or has other lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[ResultKey, TaskResult] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read ({_describe(error)}); name another file with --out") from error
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            # a run was killed while it wrote this line
            lines.pop()
            self._write("".join(lines))
        for number, line in enumerate(lines, 1):
            try:
                result = TaskResult.from_line(line)
            except ValueError as error:
                raise UsageError(
                    f"{path}:{number} is no result of an evaluation ({error}); name another file with --out"
                ) from error
            self._results[result.key] = result

    @property
    def results(self) -> list[TaskResult]:
        """The results. A later one with the same key replaces an earlier one."""
        return list(self._results.values())

    def find(self, key: ResultKey) -> TaskResult | None:
        """Return a result, unless it is an error or a missing tool, which are tried again."""
        result = self._results.get(key)
        return result if result and result.is_judged else None

    def append(self, result: TaskResult) -> None:
        """Append a result to the file.

        Raises:
            UsageError: The file cannot be written.
        """
        self._results[result.key] = result
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(result.to_line())
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written ({_describe(error)})") from error

    def _write(self, text: str) -> None:
        try:
            self.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written ({_describe(error)})") from error


def _describe(error: Exception) -> str:
    return describe_system_error(error) if isinstance(error, OSError) else "it is no UTF-8"

"""The verdict of the harness on ten packages of others: mutations that their own tests catch, and changes of form.

    python -m benchmarks.real_packages
    python -m benchmarks.real_packages --package cachetools --edits 3 --json real.json

Each package is fetched from PyPI as its authors published it, with its tests, and installed in editable form into an
environment of its own. Mutations are drawn from a seed and tried on disk until enough of them fail the whole suite of
the package. Changes of form are tried as well and must pass. What was found is kept in the cache. Then the files are as
they were, and each edited text is proposed to the harness.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.layouts.environments import is_ready, mark_ready, run
from benchmarks.layouts.judge import BEST, Judge, Judgement, switch_types_off, use_sandbox
from benchmarks.source_edits import SourceEdit, draw_edits, find_form_changes, find_mutations

CACHE = Path(tempfile.gettempdir()) / "lsp-harness-packages"
MAX_TRIES = 6
"""So many edits are tried for each that is wanted."""
SUITE_TIMEOUT_S = 120
FORM, MUTATION = "form", "mutation"


@dataclass(frozen=True, slots=True)
class Package:
    """A package of others.

    Attributes:
        name: The name on PyPI.
        version: The version.
        source: The file or folder with its modules.
        requirements: What its tests need beside pytest.
        tests: The arguments of pytest that run its whole suite.
    """

    name: str
    version: str
    source: str
    requirements: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


PACKAGES = (
    Package("boltons", "26.2.0", "boltons"),
    Package("cachetools", "8.0.2", "src/cachetools"),
    Package("h11", "0.16.0", "h11"),
    Package("inflection", "0.5.1", "inflection"),
    Package("iniconfig", "2.3.1", "src/iniconfig"),
    Package("isodate", "0.7.2", "src/isodate"),
    Package("pathspec", "1.1.1", "pathspec"),
    Package("semver", "3.1.2", "src/semver", ("pytest-cov",)),
    Package("sqlparse", "0.6.1", "sqlparse"),
    Package("toolz", "1.2.0", "toolz"),
)
"""The packages: small, with quick tests, and of several build systems and layouts."""


class UnusablePackageError(Exception):
    """An error of a package that cannot be measured, with the reason."""


class PreparedPackage:
    """A package with its environment, in the cache.

    Args:
        package: The package.
        cache: The cache.
    """

    def __init__(self, package: Package, cache: Path) -> None:
        self.package = package
        self._folder = cache / f"{package.name}-{package.version}"
        self.root = self._folder / "project"

    def prepare(self) -> None:
        """Fetch the package and install it.

        Raises:
            FailedInstallationError: pip cannot do that.
            UnusablePackageError: Its own tests fail.
        """
        package = self.package
        if not is_ready(self._folder):
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            version = f"{package.name}=={package.version}"
            fetch = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--no-binary", package.name, version]
            run(fetch, self._folder)
            with tarfile.open(next(self._folder.glob("*.tar.gz"))) as archive:
                archive.extractall(self._folder, filter="data")
            next(path for path in self._folder.iterdir() if path.is_dir()).rename(self.root)
            run([sys.executable, "-m", "venv", ".venv"], self.root)
            install = [str(self._python), "-m", "pip", "-q", "install", "pytest", *package.requirements, "-e", "."]
            run(install, self.root)
            mark_ready(self._folder)
        status, output = self.run_suite()
        if status:
            raise UnusablePackageError(f"its own tests fail: {output[-600:]}")

    @property
    def _python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    @property
    def files(self) -> list[Path]:
        """The modules of the package, without its tests."""
        source = self.root / self.package.source
        if source.is_file():
            return [source]
        return [
            file for file in source.rglob("*.py") if not {"test", "tests"} & set(file.parts[len(self.root.parts) :])
        ]

    def run_suite(self) -> tuple[int, str]:
        """Run all tests of the package as its authors do. Return the exit status, 1 if they do not end."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        env.pop("VIRTUAL_ENV", None)
        argv = [str(self._python), "-m", "pytest", "-x", "-p", "no:cacheprovider", *self.package.tests]
        try:
            result = subprocess.run(
                argv,
                cwd=self.root,
                env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=SUITE_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return 1, "the tests do not end"
        return result.returncode, result.stdout + result.stderr

    def find_edits(self, kind: str, count: int, seed: int) -> list[SourceEdit]:
        """Return edits whose right verdict is known from the package's own tests.

        Args:
            kind: `FORM` or `MUTATION`.
            count: How many.
            seed: The seed.
        """
        kept = self._folder / f"{kind}-{seed}-{count}.json"
        if kept.is_file():
            rows = json.loads(kept.read_text())
            return [
                SourceEdit(
                    row["kind"],
                    row["path"],
                    tuple((start, end, new.encode()) for start, end, new in row["replacements"]),
                )
                for row in rows
            ]
        find = find_mutations if kind == MUTATION else find_form_changes
        found: list[SourceEdit] = []
        drawn = draw_edits(self.root, self.files, find, f"{self.package.name} {seed}")
        for _, edit in zip(range(MAX_TRIES * count), drawn, strict=False):
            if self._fails(edit) == (kind == MUTATION):
                found.append(edit)
            if len(found) == count:
                break
        kept.write_text(
            json.dumps(
                [
                    {
                        "kind": edit.kind,
                        "path": edit.path,
                        "replacements": [(start, end, new.decode()) for start, end, new in edit.replacements],
                    }
                    for edit in found
                ]
            )
        )
        return found

    def _fails(self, edit: SourceEdit) -> bool:
        file = self.root / edit.path
        present = file.read_bytes()
        try:
            file.write_bytes(edit.apply(present))
            return bool(self.run_suite()[0])
        finally:
            file.write_bytes(present)


@dataclass(frozen=True, slots=True)
class Row:
    """The verdict about one edit of a package.

    Attributes:
        package: The package.
        kind: `FORM` or `MUTATION`.
        edit: What was changed, and in which file.
        found: The verdict.
    """

    package: str
    kind: str
    edit: str
    found: Judgement

    @property
    def rating(self) -> str:
        """The worth of the verdict (see `Judgement.rate`)."""
        return self.found.rate(must_fail=self.kind == MUTATION)

    @property
    def row(self) -> dict[str, Any]:
        """A row of a file with everything."""
        row = asdict(self)
        return {**row, **row.pop("found"), "rating": self.rating}


async def judge_package(prepared: PreparedPackage, edits: dict[str, list[SourceEdit]], sandbox: str) -> list[Row]:
    """Return the verdict of the harness about each edit.

    Args:
        prepared: The package.
        edits: Kind → its edits.
        sandbox: The name of the sandbox.
    """
    rows: list[Row] = []
    with use_sandbox(sandbox):
        judge = Judge(prepared.root)
        try:
            for kind, some in edits.items():
                for edit in some:
                    text = edit.apply((prepared.root / edit.path).read_bytes()).decode()
                    found = await judge.judge(edit.path, text)
                    name = f"{edit.kind} in {edit.path} at {edit.replacements[0][0]}"
                    rows.append(Row(prepared.package.name, kind, name, found))
        finally:
            await judge.aclose()
    return rows


def describe(rows: list[Row]) -> Iterator[str]:
    """Yield lines about the verdicts on some edits."""
    for kind in (MUTATION, FORM):
        some = [row for row in rows if row.kind == kind]
        if not some:
            continue
        ratings = Counter(row.rating for row in some)
        counts = ", ".join(f"{ratings[name]} {name}" for name in ("right", "false ✓", "silent ✓", "false ✗", "skipped"))
        times = sorted(row.found.seconds for row in some)
        p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
        yield f"{kind}: {len(some)}: {counts}; p50 {statistics.median(times):.1f} s, p95 {p95:.1f} s"
    reasons = Counter(row.found.reason[:100] for row in rows if row.rating in ("skipped", "silent ✓"))
    for reason, count in reasons.most_common():
        yield f"  {count} × {reason or 'no reason'}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", default=[], help="the name of a package; repeatable")
    parser.add_argument("--edits", type=int, default=10, help="mutations, and changes of form, of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", default=BEST, help="its name; the default is what the harness chooses")
    parser.add_argument("--types", action="store_true", help="let type checkers decide, too")
    parser.add_argument("--cache", type=Path, default=CACHE, help="the folder for the packages")
    parser.add_argument("--prepare", action="store_true", help="fetch the packages and find their edits, and no more")
    parser.add_argument("--json", type=Path, help="the file for all verdicts")
    args = parser.parse_args()
    rows: list[Row] = []
    start = perf_counter()
    with tempfile.TemporaryDirectory() as home:
        os.environ["LSP_HARNESS_HOME"] = home
        if not args.types:
            switch_types_off()
        for package in PACKAGES:
            if args.package and package.name not in args.package:
                continue
            prepared = PreparedPackage(package, args.cache.resolve())
            try:
                prepared.prepare()
            except Exception as error:  # noqa: BLE001 - one package must not end the others
                print(f"{package.name}: left out: {error}", flush=True)
                continue
            edits = {kind: prepared.find_edits(kind, args.edits, args.seed) for kind in (MUTATION, FORM)}
            found = ", ".join(f"{len(some)} of kind {kind}" for kind, some in edits.items())
            print(f"{package.name} {package.version}: {found}; {perf_counter() - start:.0f} s", flush=True)
            if args.prepare:
                continue
            some = asyncio.run(judge_package(prepared, edits, args.sandbox))
            rows += some
            for line in describe(some):
                print(f"  {line}")
            for row in some:
                if row.rating in ("false ✓", "silent ✓", "false ✗"):
                    print(f"    {row.rating} {row.edit}: {row.found.reason[:140]}", flush=True)
            if args.json:
                args.json.write_text(json.dumps([row.row for row in rows], indent=1, ensure_ascii=False))
    print("\nall packages")
    print("\n".join(describe(rows)))
    print(f"{perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

"""The formats of suites, by the ends of their file names. A new one is a function and a row in the table."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.evaluation.suites.development_set import read_development_set
from benchmarks.evaluation.suites.eval_task import Suite
from benchmarks.evaluation.suites.toml_suite import read_toml_suite
from lsp_harness.errors import UsageError

DATA_VARIABLE = "LSP_HARNESS_EVAL_DATA"
FORMATS: Mapping[str, Callable[[Path], Suite]] = {
    ".toml": read_toml_suite,
    ".jsonl": read_development_set,
    ".jsonl.gz": read_development_set,
}


def read_suite(name: str) -> Suite:
    """Return a suite: a file, or the name of a development set.

    Raises:
        UsageError: There is no such suite, or it cannot be read.
    """
    file = _find_file(name)
    for ending, read in FORMATS.items():
        if file.name.endswith(ending):
            return read(file)
    raise UsageError(f"{file} is no suite; a suite ends with {', '.join(FORMATS)}")


def _find_file(name: str) -> Path:
    file = Path(name)
    if file.is_file():
        return file
    data = os.environ.get(DATA_VARIABLE, "")
    if data and os.sep not in name:
        for ending in FORMATS:
            if (found := Path(data) / f"{name}{ending}").is_file():
                return found
    where = f"the folder {data}" if data else f"a folder, because {DATA_VARIABLE} names none"
    raise UsageError(f"{name} is neither a file nor a set in {where}")

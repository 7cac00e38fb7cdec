"""Generator of `constraints.txt`: `python -m tools.lock`.

The file has the versions of all packages that are installed in this environment, for `pip install -c`.
"""

import sys
from importlib.metadata import distributions

from packaging.utils import canonicalize_name

OWN_NAME = "lsp-harness"
TOOLS_OF_ENVIRONMENTS = frozenset({"pip", "setuptools", "wheel"})
"""Packages of the environment itself, which no package requires by a version."""


def render() -> str:
    """Return the text of the file."""
    found = {str(canonicalize_name(part.metadata["Name"])): part.version for part in distributions()}
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = [f"# Python {python}: the versions of development, by `make lock`; the tests ran with them."]
    skipped = {OWN_NAME, *TOOLS_OF_ENVIRONMENTS}
    lines += [f"{name}=={version}" for name, version in sorted(found.items()) if name not in skipped]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())

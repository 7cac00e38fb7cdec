"""The Python packages that a project contains itself, as an editable install or a flat folder gives them.

A model reads them from the index, so `PythonPackages` leaves them out. People who ask for documentation by name mean
them like any other package.
"""

from collections.abc import Iterator

from lsp_harness.knowledge.package_source import resolve_links
from lsp_harness.knowledge.python_packages import PythonPackages, Site

SOURCE_FOLDERS = ("src", "lib", "")
"""Folders of a project that may contain its packages. The last one is that of the project itself."""


class OwnPackages(PythonPackages):
    """The packages in the folders of a project. Their release is their name, without a version."""

    def _sites(self) -> Iterator[Site]:
        self.searched_places = []
        for name in SOURCE_FOLDERS:
            if folder := resolve_links(self._root / name):
                self.searched_places.append(f"{name}/" if name else "./")
                yield Site(folder)

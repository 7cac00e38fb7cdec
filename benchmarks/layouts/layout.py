"""A project as it is laid out on disk, and the edits of it whose right verdict is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["right", "caught", "form", "lost", "importer"]
KINDS: tuple[Kind, ...] = ("right", "caught", "form", "lost", "importer")
"""The edits of each layout: other code that does the same, code that a test refutes, a change of form only, a test that
no longer runs, and a name that another module imports and that is gone."""
FAILING: frozenset[Kind] = frozenset({"caught", "lost", "importer"})
"""The edits that must fail. The others must not."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """An edit of one file.

    Attributes:
        kind: What it does to the project.
        path: The file, relative to the project.
        replacements: Texts and what replaces them, at each place where they occur.
    """

    kind: Kind
    path: str
    replacements: tuple[tuple[str, str], ...]

    @property
    def must_fail(self) -> bool:
        """True if the right verdict is "failed"."""
        return self.kind in FAILING

    def apply(self, text: str) -> str:
        """Return a text after the edit.

        Raises:
            ValueError: The text has no such place.
        """
        for old, new in self.replacements:
            if old not in text:
                raise ValueError(f"{self.path} has no {old!r}")
            text = text.replace(old, new)
        return text


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """A virtual environment of a project.

    Attributes:
        packages: The name of a set of packages (see `environments`), or an empty text for none.
        folder: The folder, relative to the project.
        editable: The folders, relative to the project, that are installed into it in editable form.
        options: Options of pip for this installation.
        target: The real folder, relative to the one that the project lies in, if `folder` is a link to it.
        paths: Folders of the project that a `.pth` file names with their whole path.
    """

    packages: str = "plain"
    folder: str = ".venv"
    editable: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    target: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeModules:
    """The installed packages of a project for node.

    Attributes:
        packages: The name of a set of packages (see `environments`).
        program: The program that installed them.
    """

    packages: str
    program: Literal["npm", "pnpm"] = "npm"


@dataclass(frozen=True, slots=True)
class Layout:
    """A small project with its environments.

    Attributes:
        name: The name, also of its folder.
        files: The path of each file, relative to the project → its text.
        edits: One edit of each kind.
        bare: The command that runs all tests of the project. `{python}` is the interpreter of its first environment.
        environments: The environments.
        node: The packages for node.
        folders: Empty folders.
        links: The path of each link → its target.
        outside: Files beside the project.
        project: The name of its folder.
        needs: Programs that must be on the machine.
        folder: The folder that `bare` runs in.
    """

    name: str
    files: Mapping[str, str]
    edits: tuple[ProposedEdit, ...]
    bare: tuple[str, ...]
    environments: tuple[PythonEnvironment, ...] = ()
    node: NodeModules | None = None
    folders: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    outside: Mapping[str, str] = field(default_factory=dict[str, str])
    project: str = "project"
    needs: tuple[str, ...] = ()
    folder: str = ""

    @property
    def needs_network(self) -> bool:
        """True if packages of a registry must be installed once."""
        sets = {environment.packages for environment in self.environments} - {"", "plain"}
        builds = any(environment.editable for environment in self.environments)
        return bool(sets or builds or self.node)

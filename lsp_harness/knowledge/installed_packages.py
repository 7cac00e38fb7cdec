"""Documentation of installed packages, by the names that files of a workspace import.

The files of a package are read when a name is looked up, and cached until they change. Another version that is
installed meanwhile is therefore read again.
"""

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from threading import Lock

from lsp_harness.knowledge.doc_builder import build_fragment
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.go_modules import GoModules
from lsp_harness.knowledge.member_names import find_names, mentions_name
from lsp_harness.knowledge.node_packages import NodePackages
from lsp_harness.knowledge.package_lookup import PackageSearch, Result
from lsp_harness.knowledge.package_source import Module, PackageRules, TextCache
from lsp_harness.knowledge.project_python import find_environment
from lsp_harness.knowledge.python_packages import OwnPackages, PythonPackages
from lsp_harness.knowledge.rust_crates import RustCrates
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.languages.traits import Ecosystem

MAX_NEAREST = 3
"""Number of similar names that are returned for an absent name."""
MIN_SIMILARITY = 0.6
"""Smallest similarity of such names, as difflib computes it."""
MAX_NAME_CHARS = 300
"""Largest length of a module name or of a name in it. People do not write longer ones."""
MAX_FOLDERS = 16
"""Largest number of pairs of workspace folder and language in memory."""


def package_languages() -> tuple[str, ...]:
    """Return the ids of the languages in which packages are read, in the order in which they are searched."""
    languages = [language for language in shipped_languages() if not language.packages.language]
    return tuple(
        language.id
        for ecosystem in Ecosystem
        if ecosystem is not Ecosystem.NONE
        for language in languages
        if language.packages.ecosystem is ecosystem
    )


class InstalledPackages:
    """Documentation of installed packages. All methods may be called from several threads."""

    def __init__(self, environ: Mapping[str, str] | None = None, python: str = "") -> None:
        """Create an empty cache.

        Args:
            environ: Environment variables that locate caches and virtual environments; by default those of this
                process.
            python: The environment with Python's packages; empty for the one of the workspace folder.
        """
        self._python = python
        self._environ = os.environ if environ is None else environ
        self._texts = TextCache()
        self._folders: dict[tuple[Path, Ecosystem, Path | None], PackageRules] = {}
        self._lock = Lock()

    def find_documentation(
        self, root: Path, language: str, module: str, name: str = "", *, importer_folder: Path | None = None
    ) -> DocFragment | None:
        """Return the documentation of a name in a module, or None if it is not known.

        Args:
            root: The workspace folder.
            language: The language id of the importing file.
            module: The module as an import writes it.
            name: The name in the module (`Session.get`); empty for the module itself.
            importer_folder: The folder of the importing file.
        """
        with self._lock:
            rules = self._find_rules(root, language, module, name, importer_folder=importer_folder)
            return _find_documentation(rules, module, name, importer_folder) if rules else None

    def find_absent(
        self, root: Path, language: str, module: str, name: str, *, importer_folder: Path | None = None
    ) -> AbsentName | None:
        """Return similar names if a module or class does not have a name, or None if it has the name or this is not
        certain."""
        with self._lock:
            rules = self._find_rules(root, language, module, name, importer_folder=importer_folder)
            return _find_absent(rules, module, name, importer_folder) if rules else None

    def look_up(self, root: Path, language: str, dotted_name: str) -> DocFragment | AbsentName | None:
        """Return the documentation of a name as people write it: `requests.sessions.Session.get`, `lodash.debounce`,
        `serde::Serialize`."""
        with self._lock:
            rules = self._find_rules(root, language, dotted_name)
            return _look_up(rules, dotted_name) if rules else None

    def look_up_own(self, root: Path, language: str, dotted_name: str) -> DocFragment | AbsentName | None:
        """Return the documentation of a name in a package of the project itself, as `look_up` does.

        Only packages of Python are looked for.
        """
        if find_language(language).packages.ecosystem is not Ecosystem.PYPI or len(dotted_name) > MAX_NAME_CHARS:
            return None
        with self._lock:
            return _look_up(OwnPackages(root, self._texts, None), dotted_name)

    def find_release(self, root: Path, language: str, dotted_name: str) -> str:
        """Return name and version of the installed package that such a name belongs to; empty if there is none."""
        with self._lock:
            rules = self._find_rules(root, language, dotted_name)
            modules = (rules.find_module(module) for module, _ in rules.split_name(dotted_name)) if rules else ()
            return next(
                (
                    f"{found_module.package.name} {found_module.package.version}".rstrip()
                    for found_module in modules
                    if found_module
                ),
                "",
            )

    def searched_places(self, root: Path, language: str) -> list[str]:
        """Return the places where packages were searched last."""
        rules = self._find_rules(root, language)
        return rules.searched_places if rules else []

    def _find_rules(
        self, root: Path, language: str, *names: str, importer_folder: Path | None = None
    ) -> PackageRules | None:
        if any(len(name) > MAX_NAME_CHARS for name in names):
            return None
        ecosystem = find_language(language).packages.ecosystem
        environment = None
        if ecosystem is Ecosystem.PYPI:
            # a project in a subfolder may have its own, and one may be made at any time
            file = importer_folder / "module.py" if importer_folder else None
            environment = find_environment(root, file, self._python, environ=self._environ)
        key = (root, ecosystem, environment)
        if key not in self._folders and ecosystem is not Ecosystem.NONE:
            factories: dict[Ecosystem, Callable[[], PackageRules]] = {
                Ecosystem.PYPI: lambda: PythonPackages(root, self._texts, environment),
                Ecosystem.NPM: lambda: NodePackages(root, self._texts),
                Ecosystem.GO_MODULES: lambda: GoModules(root, self._texts, self._environ),
                Ecosystem.CRATES: lambda: RustCrates(root, self._texts, self._environ),
            }
            if len(self._folders) >= MAX_FOLDERS:
                self._folders.pop(next(iter(self._folders)))
            self._folders[key] = factories[ecosystem]()
        return self._folders.get(key)


def _look_up(rules: PackageRules, dotted_name: str) -> DocFragment | AbsentName | None:
    candidates = rules.split_name(dotted_name)
    documented = (_find_documentation(rules, module, name, None) for module, name in candidates)
    absent = (_find_absent(rules, module, name, None) for module, name in candidates)
    return next((answer for answer in chain(documented, absent) if answer), None)


def _find_module(
    rules: PackageRules, module: str, name: str, importer_folder: Path | None
) -> tuple[Module | None, str]:
    """Return a module and the name in it. The module of an import may be a name itself, as `os.path` is."""
    found_module, (outer, _, last) = rules.find_module(module, importer_folder), module.rpartition(".")
    if found_module is None and outer and isinstance(rules, PythonPackages):
        return _find_module(rules, outer, ".".join(filter(None, (last, name))), importer_folder)
    return found_module, name


def _find_documentation(
    rules: PackageRules, module: str, name: str, importer_folder: Path | None
) -> DocFragment | None:
    found_module, name = _find_module(rules, module, name, importer_folder)
    result = _find_name(rules, found_module, name) if found_module else None
    if (
        found_module
        and result is None
        and (source := rules.find_module(found_module.name, importer_folder, without_stubs=True))
    ):
        # The source may have names that the stub leaves out.
        found_module, result = source, _find_name(rules, source, name)
    return build_fragment(rules, found_module, name, result) if found_module and result else None


def _find_name(rules: PackageRules, module: Module, name: str) -> Result | None:
    chain = name.split(".") if name else []
    is_script = bool(module.texts) and module.texts[0].language.imports.has_module_imports
    if is_script and not chain:
        # An import of a module without a name imports its default export.
        return PackageSearch(rules).find(module, ["default"]) or module
    result = PackageSearch(rules).find(module, chain)
    return result or (
        PackageSearch(rules).find(module, ["default", *chain]) if is_script and chain[0] != "default" else None
    )


def _find_absent(rules: PackageRules, module: str, name: str, importer_folder: Path | None) -> AbsentName | None:
    found_module, name = _find_module(rules, module, name, importer_folder)
    if found_module is None or not name:
        return None
    *outer, last = name.split(".")
    holder = _find_name(rules, found_module, ".".join(outer)) if outer else found_module
    if holder is None:
        return _find_absent(rules, found_module.name, ".".join(outer), importer_folder)
    names = find_names(rules, holder)
    if names is None or last in names or _find_name(rules, found_module, name):
        return None
    source = rules.find_module(found_module.name, importer_folder, without_stubs=True)
    source_holder = _find_name(rules, source, ".".join(outer)) if source else None
    if mentions_name(holder, last) or (source_holder and mentions_name(source_holder, last)):
        return None
    public = sorted(candidate for candidate in names if not candidate.startswith("_") or last.startswith("_"))
    similar = get_close_matches(last, public, MAX_NEAREST, MIN_SIMILARITY)
    fragments = (
        _find_documentation(rules, module, ".".join([*outer, candidate]), importer_folder) for candidate in similar
    )
    package = found_module.package
    return AbsentName(
        package.name, package.version, found_module.name, name, tuple(candidate for candidate in fragments if candidate)
    )

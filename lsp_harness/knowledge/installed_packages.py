"""What is installed for a workspace folder, asked by the names that its files import. May be asked from several threads.

Everything is read from the files of the packages when it is asked for, and kept as long as these do not change: a package that
is installed in another version meanwhile is read again.
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
from lsp_harness.knowledge.js_exports import SCRIPT_LANGUAGES
from lsp_harness.knowledge.member_names import find_names, mentions_name
from lsp_harness.knowledge.node_packages import NodePackages
from lsp_harness.knowledge.package_lookup import PackageSearch, Result
from lsp_harness.knowledge.package_module import Module, PackageRules
from lsp_harness.knowledge.package_source import TextCache
from lsp_harness.knowledge.python_packages import PythonPackages
from lsp_harness.knowledge.rust_crates import RustCrates

LANGUAGES = ("python", "typescript", "go", "rust")
"""Those whose packages are known; JavaScript's are TypeScript's."""
MAX_NEAREST = 3
"""Names that are told of in place of one that is not there."""
MIN_SIMILARITY = 0.6
"""How much of a name must be the same, as difflib counts."""
MAX_NAME_CHARS = 300
"""Characters of a module's name, or of one in it: a longer one is none that people write."""
MAX_FOLDERS = 16
"""Workspace folders, each in one language, that are known at a time."""


class InstalledPackages:
    """`environ` says where caches and environments are, by default that of this process; `python` is the environment that
    Python's packages are in, empty for the folder's own."""

    def __init__(self, environ: Mapping[str, str] | None = None, python: str = "") -> None:
        self._python = python
        self._environ = os.environ if environ is None else environ
        self._texts = TextCache()
        self._folders: dict[tuple[Path, str], PackageRules] = {}
        self._lock = Lock()

    def find_documentation(
        self, root: Path, language: str, module: str, name: str = "", *, importer_folder: Path | None = None
    ) -> DocFragment | None:
        """What `name` (`Session.get`; empty for the module itself) of a module is; None where that is not known.

        `root` is the workspace folder, `near` the folder of the file that imports it.
        """
        with self._lock:
            rules = self._rules(root, language, module, name)
            return _find_documentation(rules, module, name, importer_folder) if rules else None

    def find_absent(
        self, root: Path, language: str, module: str, name: str, *, importer_folder: Path | None = None
    ) -> AbsentName | None:
        """What there is instead of a name that a module or class has not; None where it has, or where nobody can tell."""
        with self._lock:
            rules = self._rules(root, language, module, name)
            return _find_absent(rules, module, name, importer_folder) if rules else None

    def look_up(self, root: Path, language: str, dotted_name: str) -> DocFragment | AbsentName | None:
        """The same for a name as a person writes it: `requests.sessions.Session.get`, `lodash.debounce`, `serde::Serialize`."""
        with self._lock:
            rules = self._rules(root, language, dotted_name)
            if rules is None:
                return None
            candidates = rules.split_name(dotted_name)
            documented = (_find_documentation(rules, module, name, None) for module, name in candidates)
            absent = (_find_absent(rules, module, name, None) for module, name in candidates)
            return next((answer for answer in chain(documented, absent) if answer), None)

    def find_release(self, root: Path, language: str, dotted_name: str) -> str:
        """The installed package that a name as a person writes it is of, with its version; empty where there is none."""
        with self._lock:
            rules = self._rules(root, language, dotted_name)
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
        """Where packages were last looked for."""
        rules = self._rules(root, language)
        return rules.searched_places if rules else []

    def _rules(self, root: Path, language: str, *names: str) -> PackageRules | None:
        if any(len(name) > MAX_NAME_CHARS for name in names):
            return None
        language = "typescript" if language in SCRIPT_LANGUAGES else language
        key = (root, language)
        if key not in self._folders and language in LANGUAGES:
            factories: dict[str, Callable[[], PackageRules]] = {
                "python": lambda: PythonPackages(root, self._texts, self._environ, self._python),
                "typescript": lambda: NodePackages(root, self._texts),
                "go": lambda: GoModules(root, self._texts, self._environ),
                "rust": lambda: RustCrates(root, self._texts, self._environ),
            }
            if len(self._folders) >= MAX_FOLDERS:
                self._folders.pop(next(iter(self._folders)))
            self._folders[key] = factories[language]()
        return self._folders.get(key)


def _find_module(
    rules: PackageRules, module: str, name: str, importer_folder: Path | None
) -> tuple[Module | None, str]:
    """The module, and the name in it: what is imported from may be a name itself, as `os.path` is."""
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
        and (plain := rules.find_module(found_module.name, importer_folder, without_stubs=True))
    ):
        # what a stub leaves out may be there all the same
        found_module, result = plain, _find_name(rules, plain, name)
    return build_fragment(rules, found_module, name, result) if found_module and result else None


def _find_name(rules: PackageRules, module: Module, name: str) -> Result | None:
    chain = name.split(".") if name else []
    is_script = bool(module.texts) and module.texts[0].language.id in SCRIPT_LANGUAGES
    if is_script and not chain:
        # who imports a module without a name has its default
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

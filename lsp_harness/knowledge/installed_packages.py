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

from lsp_harness.knowledge.doc_builder import described
from lsp_harness.knowledge.doc_fragment import Absent, DocFragment
from lsp_harness.knowledge.go_modules import Go
from lsp_harness.knowledge.js_exports import SCRIPTS
from lsp_harness.knowledge.member_names import mentions, names_of
from lsp_harness.knowledge.node_packages import Node
from lsp_harness.knowledge.package_lookup import Result, Search
from lsp_harness.knowledge.package_module import Module, Rules
from lsp_harness.knowledge.package_source import Texts
from lsp_harness.knowledge.python_packages import Python
from lsp_harness.knowledge.rust_crates import Rust

LANGUAGES = ("python", "typescript", "go", "rust")
"""Those whose packages are known; JavaScript's are TypeScript's."""
NEAREST = 3
"""Names that are told of in place of one that is not there."""
ALIKE = 0.6
"""How much of a name must be the same, as difflib counts."""
LONGEST = 300
"""Characters of a module's name, or of one in it: a longer one is none that people write."""
FOLDERS = 16
"""Workspace folders, each in one language, that are known at a time."""


class Installed:
    """`environ` says where caches and environments are, by default that of this process; `python` is the environment that
    Python's packages are in, empty for the folder's own."""

    def __init__(self, environ: Mapping[str, str] | None = None, python: str = "") -> None:
        self._python = python
        self._environ = os.environ if environ is None else environ
        self._texts = Texts()
        self._folders: dict[tuple[Path, str], Rules] = {}
        self._lock = Lock()

    def documented(
        self, root: Path, language: str, module: str, name: str = "", *, near: Path | None = None
    ) -> DocFragment | None:
        """What `name` (`Session.get`; empty for the module itself) of a module is; None where that is not known.

        `root` is the workspace folder, `near` the folder of the file that imports it.
        """
        with self._lock:
            rules = self._rules(root, language, module, name)
            return _documented(rules, module, name, near) if rules else None

    def absent(self, root: Path, language: str, module: str, name: str, *, near: Path | None = None) -> Absent | None:
        """What there is instead of a name that a module or class has not; None where it has, or where nobody can tell."""
        with self._lock:
            rules = self._rules(root, language, module, name)
            return _absent(rules, module, name, near) if rules else None

    def named(self, root: Path, language: str, written: str) -> DocFragment | Absent | None:
        """The same for a name as a person writes it: `requests.sessions.Session.get`, `lodash.debounce`, `serde::Serialize`."""
        with self._lock:
            rules = self._rules(root, language, written)
            if rules is None:
                return None
            asked = rules.split(written)
            found = (_documented(rules, module, name, None) for module, name in asked)
            missing = (_absent(rules, module, name, None) for module, name in asked)
            return next((one for one in chain(found, missing) if one), None)

    def release(self, root: Path, language: str, written: str) -> str:
        """The installed package that a name as a person writes it is of, with its version; empty where there is none."""
        with self._lock:
            rules = self._rules(root, language, written)
            modules = (rules.module(module) for module, _ in rules.split(written)) if rules else ()
            return next((f"{one.package.name} {one.package.version}".rstrip() for one in modules if one), "")

    def looked(self, root: Path, language: str) -> list[str]:
        """Where packages were last looked for."""
        rules = self._rules(root, language)
        return rules.looked if rules else []

    def _rules(self, root: Path, language: str, *asked: str) -> Rules | None:
        if any(len(name) > LONGEST for name in asked):
            return None
        language = "typescript" if language in SCRIPTS else language
        key = (root, language)
        if key not in self._folders and language in LANGUAGES:
            made: dict[str, Callable[[], Rules]] = {
                "python": lambda: Python(root, self._texts, self._environ, self._python),
                "typescript": lambda: Node(root, self._texts),
                "go": lambda: Go(root, self._texts, self._environ),
                "rust": lambda: Rust(root, self._texts, self._environ),
            }
            if len(self._folders) >= FOLDERS:
                self._folders.pop(next(iter(self._folders)))
            self._folders[key] = made[language]()
        return self._folders.get(key)


def _asked(rules: Rules, module: str, name: str, near: Path | None) -> tuple[Module | None, str]:
    """The module, and the name in it: what is imported from may be a name itself, as `os.path` is."""
    found, (outer, _, last) = rules.module(module, near), module.rpartition(".")
    if found is None and outer and isinstance(rules, Python):
        return _asked(rules, outer, ".".join(filter(None, (last, name))), near)
    return found, name


def _documented(rules: Rules, module: str, name: str, near: Path | None) -> DocFragment | None:
    asked, name = _asked(rules, module, name, near)
    result = _found(rules, asked, name) if asked else None
    if asked and result is None and (plain := rules.module(asked.name, near, plain=True)):
        # what a stub leaves out may be there all the same
        asked, result = plain, _found(rules, plain, name)
    return described(rules, asked, name, result) if asked and result else None


def _found(rules: Rules, asked: Module, name: str) -> Result | None:
    chain = name.split(".") if name else []
    script = bool(asked.texts) and asked.texts[0].language.id in SCRIPTS
    if script and not chain:
        # who imports a module without a name has its default
        return Search(rules).find(asked, ["default"]) or asked
    found = Search(rules).find(asked, chain)
    return found or (Search(rules).find(asked, ["default", *chain]) if script and chain[0] != "default" else None)


def _absent(rules: Rules, module: str, name: str, near: Path | None) -> Absent | None:
    asked, name = _asked(rules, module, name, near)
    if asked is None or not name:
        return None
    *outer, last = name.split(".")
    holder = _found(rules, asked, ".".join(outer)) if outer else asked
    if holder is None:
        return _absent(rules, asked.name, ".".join(outer), near)
    there = names_of(rules, holder)
    if there is None or last in there or _found(rules, asked, name):
        return None
    plain = rules.module(asked.name, near, plain=True)
    beside = _found(rules, plain, ".".join(outer)) if plain else None
    if mentions(holder, last) or (beside and mentions(beside, last)):
        return None
    public = sorted(one for one in there if not one.startswith("_") or last.startswith("_"))
    near_names = get_close_matches(last, public, NEAREST, ALIKE)
    found = (_documented(rules, module, ".".join([*outer, one]), near) for one in near_names)
    package = asked.package
    return Absent(package.name, package.version, asked.name, name, tuple(one for one in found if one))

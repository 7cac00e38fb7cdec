"""Resolution of imports to files of the workspace, by the rules of each language.

An import that matches no file stays unresolved: a file of the same name elsewhere is not an answer.
"""

from collections.abc import Callable, Iterable
from functools import cache

from lsp_harness.index.builder.import_resolvers import (
    GoImports,
    PathImports,
    PythonImports,
    ReadText,
    ResolveImport,
    RustImports,
    ScriptImports,
    WorkspaceFiles,
)
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.languages.traits import ImportForm
from lsp_harness.store.database import placeholders

FindNamespaceFiles = Callable[[str], Iterable[str]]
"""Returns the paths of the files that declare a namespace."""


@cache
def list_namespace_languages() -> tuple[str, ...]:
    """Return the ids of the languages whose imports name namespaces."""
    return tuple(language.id for language in shipped_languages() if language.imports.names_namespaces)


def make_namespace_condition(namespace: str) -> tuple[str, tuple[str, ...]]:
    """Return an SQL condition, with its arguments, for the symbols that declare a namespace, written as one name or
    nested."""
    # The condition on `name` uses an index of the database.
    names = namespace, namespace.rpartition(".")[2]
    languages = list_namespace_languages()
    condition = (
        f"name IN (?, ?) AND qualified = ? AND kind = 'namespace' AND language IN ({placeholders(len(languages))})"
    )
    return condition, (*names, namespace, *languages)


class ImportLinks:
    """Resolves imports among the files at `paths`, which are relative to the workspace folder and use `/`.

    Attributes:
        find_namespace_files: Finds files for languages whose imports name namespaces. The caller sets it, as it needs
            the declarations of all files.
    """

    def __init__(self, paths: Iterable[str], read_text: ReadText = lambda path: "") -> None:
        self.find_namespace_files: FindNamespaceFiles = lambda name: ()
        files = WorkspaceFiles(paths, read_text)
        path_imports = PathImports(files)
        self._resolvers: dict[ImportForm, ResolveImport] = {
            "from-import": PythonImports(files).resolve,
            "module-import": ScriptImports(files).resolve,
            "import-block": GoImports(files).resolve,
            "use-tree": RustImports(files).resolve,
            "type-import": path_imports.resolve_java,
            "using-namespace": self._resolve_namespace,
            "include": path_imports.resolve_include,
            "require-file": path_imports.resolve_ruby,
            "use-name": path_imports.resolve_php,
            "require-module": path_imports.resolve_lua,
            "source-file": path_imports.resolve_bash,
        }

    def find_targets(self, path: str, language: str, module: str, name: str) -> list[str]:
        """Return the files that an import means.

        Args:
            path: The path of the importing file.
            language: The language id of that file.
            module: The module as the import writes it.
            name: The imported name; empty or `*` for the whole module.
        """
        resolve = self._resolvers.get(find_language(language).imports.form)
        candidates: Iterable[str] = resolve(path, module, "" if name == "*" else name) if resolve else ()
        return [target for target in dict.fromkeys(candidates) if target != path]

    def _resolve_namespace(self, path: str, module: str, name: str) -> list[str]:
        # `using static` and an alias may name a type in a namespace.
        return sorted(self.find_namespace_files(module)) or sorted(self.find_namespace_files(module.rpartition(".")[0]))

"""Traits of import statements: how they are written, and which names they make visible."""

from dataclasses import dataclass
from typing import Literal

ImportForm = Literal[
    "none",
    "from-import",
    "module-import",
    "import-block",
    "use-tree",
    "type-import",
    "using-namespace",
    "include",
    "require-file",
    "use-name",
    "require-module",
    "source-file",
]
"""The form of import statements. It selects the code that writes, completes and resolves them.

`from-import` is `from a.b import c`, `module-import` is `import {c} from "./a"`, `import-block` is `import ("a/b")`,
`use-tree` is `use a::{b, c};`, `type-import` is `import a.b.C;`, `using-namespace` is `using A.B;`, `include` is
`#include <a.h>`, `require-file` is `require "a"`, `use-name` is `use A\\B;`, `require-module` is `require("a.b")`, and
`source-file` is `source a`.
"""


@dataclass(frozen=True, slots=True)
class ImportTraits:
    """The import statements of a language."""

    form: ImportForm = "none"
    """The form of the import statements."""
    separator: str = "."
    """The text between the parts of a path of modules."""
    wildcard: bytes = b""
    """The text of an import that makes all names of a module visible; empty if none is searched for."""
    has_import_blocks: bool = False
    """Whether one statement imports several packages, each on a line of its own."""
    packages_name_themselves: bool = False
    """Whether an import without an alias binds the last part of the path of a package."""
    has_require_calls: bool = False
    """Whether a call of `require` imports a file."""
    keys_include_names: bool = False
    """Whether imports are sorted by the imported name, not only by its module."""
    blank_lines_below: int = 1
    """How many blank lines separate the import statements from a definition below them."""
    follows_docstring: bool = False
    """Whether import statements stand below the docstring of the file."""
    fills_lines: bool = False
    """Whether a list of imported names fills its lines. Otherwise the file shows whether each name has its own line."""
    names_may_be_modules: bool = False
    """Whether an imported name may be a module."""
    binds_first_part: bool = False
    """Whether an import of a path without a name binds the first part of the path."""
    last_part_is_name: bool = False
    """Whether the last part of an imported path is a name in the module before it."""
    imports_everything: bool = False
    """Whether an import without a name makes everything at the top of the module visible."""
    hides_imports: bool = False
    """Whether a file does not hand on what it imports."""
    names_namespaces: bool = False
    """Whether an import names a namespace, which several files may declare."""
    shares_folder: bool = False
    """Whether the files of one folder see each other without an import."""
    shares_namespace: bool = False
    """Whether the files of one namespace see each other without an import."""
    shares_declarations: bool = False
    """Whether a file may use a declaration of another file without importing its name."""
    has_whole_module_imports: bool = False
    """Whether one import makes all names of a module of the standard library visible."""
    reads_interpreter_library: bool = False
    """Whether the interpreter that runs the server tells the names of the standard library, rather than a table."""
    library_root: str = ""
    """The first part of paths into the standard library, which need no import."""
    library_namespace: str = ""
    """The receiver whose members are visible only after an import."""
    has_extension_members: bool = False
    """Whether an import may add members to a type."""
    imports_single_names: bool = False
    """Whether an import statement names one thing of a module."""
    imports_types_only: bool = False
    """Whether an imported name is a type and no value."""
    imports_capitalized_names: bool = False
    """Whether a name with a lower-case first letter is imported only if it is called."""
    has_prelude: bool = False
    """Whether the types of the language itself need no import."""
    imports_own_types: bool = False
    """Whether a namespace must import the types of the language itself."""

    @property
    def has_module_imports(self) -> bool:
        """Return whether files import and export names as ECMAScript modules do."""
        return self.form == "module-import"

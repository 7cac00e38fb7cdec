"""Exports of JavaScript and TypeScript files that have another name than the declaration, or that are the whole
module."""

import re

from lsp_harness.text.position import decode

EXPORTED = re.compile(r"\bexport\s*(?:type\s*)?\{([^}]*)\}(?!\s*from)")
EXPORT_DEFAULT = re.compile(r"\bexport\s+default\s+(?!(?:async|function|class|abstract|interface)\b)([\w$.]+)")
EXPORT_DECLARED = re.compile(
    r"\bexport\s+default\s+(?:async\s+|abstract\s+)*(?:function\*?|class|interface)\s+([\w$]+)"
)
EXPORT_WHOLE = re.compile(r"(?:\bexport\s*=|\bmodule\.exports\s*=)\s*([\w$.]+)\s*[;\n]")
REQUIRED_WHOLE = re.compile(r"\bmodule\.exports\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)")


def find_exports(data: bytes) -> dict[str, str]:
    """Return the local names of exports that are declared apart from the declaration.

    The keys are the exported names, `default` for the default export and `=` for the value that is the whole module.
    """
    source = decode(data)
    exports: dict[str, str] = {}
    for match in EXPORTED.finditer(source):
        for part in match[1].split(","):
            names = part.replace("type ", "").split()
            if names and names[0] != "default":
                exports[names[-1]] = names[0]
    for pattern, name in ((EXPORT_DECLARED, "default"), (EXPORT_DEFAULT, "default"), (EXPORT_WHOLE, "=")):
        if match := pattern.search(source):
            exports.setdefault(name, match[1])
    if match := REQUIRED_WHOLE.search(source):
        exports["="] = f"require:{match[1]}"
    return exports

"""What JavaScript and TypeScript files export by another name than they declare it by, or as a whole."""

import re

from lsp_harness.text.position import decode

SCRIPT_LANGUAGES = frozenset({"javascript", "typescript", "tsx"})
EXPORTED = re.compile(r"\bexport\s*(?:type\s*)?\{([^}]*)\}(?!\s*from)")
EXPORT_DEFAULT = re.compile(r"\bexport\s+default\s+(?!(?:async|function|class|abstract|interface)\b)([\w$.]+)")
EXPORT_DECLARED = re.compile(
    r"\bexport\s+default\s+(?:async\s+|abstract\s+)*(?:function\*?|class|interface)\s+([\w$]+)"
)
EXPORT_WHOLE = re.compile(r"(?:\bexport\s*=|\bmodule\.exports\s*=)\s*([\w$.]+)\s*[;\n]")
REQUIRED_WHOLE = re.compile(r"\bmodule\.exports\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)")


def find_exports(data: bytes) -> dict[str, str]:
    """What names are called within a script, where that is said apart: by name, `default` for the default, `=` for all of it."""
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

"""Creation of documentation fragments: the signature of a declaration, the constructor of a type, and its
documentation."""

import re
from collections.abc import Iterable
from textwrap import dedent

from lsp_harness.files.secrets import redact
from lsp_harness.knowledge.doc_fragment import SELF_PARAMETER, DocFragment
from lsp_harness.knowledge.package_lookup import (
    MAX_HOPS,
    VALUE_KINDS,
    DeclarationRef,
    PackageSearch,
    Result,
    find_overloads,
)
from lsp_harness.knowledge.package_source import Module, PackageRules
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.traits import Ecosystem
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, Declaration
from lsp_harness.text.position import decode

MAX_SIGNATURE_CHARS = 400
"""Largest length of a signature."""
MAX_PARAGRAPH_CHARS = 600
"""Largest length of a paragraph."""
MAX_DETAILS_CHARS = 2400
"""Largest length of the documentation behind the first paragraph."""
COMMENT_WINDOW_BYTES = 20_000
"""Number of bytes that are searched for documentation."""
STRING = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
HASH_COMMENT = re.compile(rf"({STRING})|#[^\n]*", re.DOTALL)
COMMENT = re.compile(rf"({STRING}|`[^`]*`)|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOCSTRING = re.compile(r'\s*[rRuUbB]{0,2}("""|\'\'\'|"|\')(.*?)(?<!\\)\1', re.DOTALL)
PYTHON_WORD = re.compile(rb"(?:async\s+)?(?:def|class)\s+\Z")
SCRIPT_WORDS = re.compile(r"^(?:(?:export|declare|default)\s+)+")
ATTRIBUTE = re.compile(r"^\s*(?:#!?\[.*|.*\)\])\s*$")


def read_signature(language: LanguageSpec, data: bytes, declaration: Declaration) -> str:
    """Return the signature of a declaration without decorators, comments and the body. Secrets are removed."""
    start, end = declaration.start, declaration.body_start
    if language.declarations.words:
        if word := PYTHON_WORD.search(data, start, declaration.name_start):
            start = word.start()
        elif declaration.kind in ("variable", "field"):
            start = declaration.name_start
    text = decode(data[start:end])
    uncommented = (HASH_COMMENT if language.comment == "#" else COMMENT).sub(lambda match: match[1] or " ", text)
    line = " ".join(uncommented.split())
    line = re.sub(r"([(\[]) ", r"\1", re.sub(r",? ([)\]])", r"\1", line)).rstrip(":{;, ")
    if language.imports.has_module_imports:
        line = SCRIPT_WORDS.sub("", line)
    return _cut_text(redact(line), MAX_SIGNATURE_CHARS)


def read_documentation(language: LanguageSpec, data: bytes, declaration: Declaration) -> str:
    """Return a declaration's docstring or comment, the first paragraph on one line."""
    if _has_docstrings(language):
        body_start = min(declaration.end, declaration.body_start)
        return _clean_docstring(decode(data[body_start : body_start + COMMENT_WINDOW_BYTES]))
    return _read_paragraphs(
        _comment_lines(language, decode(data[max(0, declaration.start - COMMENT_WINDOW_BYTES) : declaration.start]))
    )


def read_module_documentation(language: LanguageSpec, data: bytes) -> str:
    """Return the documentation at the beginning of a file, the first paragraph on one line."""
    text = decode(data[:COMMENT_WINDOW_BYTES])
    if _has_docstrings(language):
        return _clean_docstring(re.sub(r"\A(?:\s*#[^\n]*\n)+", "", text.removeprefix("\ufeff")))
    if mark := language.declarations.module_doc_comment:
        lines = [line.strip() for line in text.split("\n")]
        return _read_paragraphs(line[len(mark) :] for line in lines if line.startswith(mark))
    return ""


def _has_docstrings(language: LanguageSpec) -> bool:
    style = language.declarations.documentation
    return style is not None and style.is_inside


def _clean_docstring(text: str) -> str:
    match = DOCSTRING.match(text)
    return _read_paragraphs(match[2].split("\n")) if match else ""


def _comment_lines(language: LanguageSpec, text_above: str) -> list[str]:
    """Return the lines of the comment directly above, without comment marks."""
    lines = text_above.rpartition("\n")[0].split("\n")
    while language.declarations.has_attribute_lines and lines and ATTRIBUTE.match(lines[-1]):
        lines.pop()
    stripped = text_above.rstrip()
    text = stripped if stripped.endswith("*/") else "\n".join(lines).rstrip()
    if text.endswith("*/"):
        comment_start = text.rfind("/*")
        block = text[comment_start + 2 : -2]
        # Documentation starts with two stars. A block with one star may be a licence or an instruction for a tool.
        if comment_start < 0 or not (block.startswith("*") or language.declarations.any_comment_documents):
            return []
        return [re.sub(r"^\s*\*+ ?", "", line) for line in block.split("\n")]
    marks = language.declarations.doc_comments
    comment: list[str] = []
    for line in reversed(lines):
        stripped_line = line.strip()
        if not (marks and stripped_line.startswith(marks)):
            break
        comment.append(stripped_line[len(marks[0]) :])
    return comment[::-1]


def _read_paragraphs(lines: Iterable[str]) -> str:
    """Return the first paragraph on one line, and behind an empty line the others as they are written."""
    paragraph, others = list[str](), list[str]()
    for line in lines:
        stripped = line.strip()
        if others or (paragraph and (not stripped or stripped.startswith("@"))):
            others.append(line.rstrip())
        elif stripped.startswith("@"):
            break
        elif stripped:
            paragraph.append(stripped)
    first = _cut_text(redact(" ".join(" ".join(paragraph).split())), MAX_PARAGRAPH_CHARS)
    rest = _cut_text(redact(dedent("\n".join(others)).strip()), MAX_DETAILS_CHARS)
    return f"{first}\n\n{rest}" if rest else first


def _cut_text(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


FIELD_DECORATOR = re.compile(rb"@[\w.]*\b(?:dataclass|define|frozen|mutable|attrs|attr\.s)\b")
FIELD_BASES = frozenset({"NamedTuple", "BaseModel"})
CLASS_VARIABLE_TYPES = ("ClassVar", "typing.ClassVar")
MAX_FIELDS = 24
"""Largest number of fields in a generated constructor."""


def build_fragment(rules: PackageRules, module: Module, name: str, result: Result) -> DocFragment:
    """Return the documentation fragment of a lookup result.

    Args:
        rules: The packages of the workspace folder.
        module: The module in which the name was looked up.
        name: The name in the module; empty for the module itself.
        result: The declaration or module that the name means.
    """
    package = module.package
    call_method_name = result.text.language.packages.call_method if isinstance(result, DeclarationRef) else ""
    if isinstance(result, Module):
        text = result.texts[0] if result.texts else None
        documentation = read_module_documentation(text.language, text.data) if text else ""
        file = str(text.path.relative_to(result.package.folder)) if text else ""
        first, _, rest = documentation.partition("\n\n")
        names = (package.name, package.version, module.name, name, "module")
        return DocFragment(*names, "", first, file, details=rest)
    search = PackageSearch(rules)
    call_method = (
        search.find_member(result, [call_method_name])
        if result.declaration.kind in VALUE_KINDS and call_method_name
        else None
    )
    overloads = find_overloads(search, call_method if isinstance(call_method, DeclarationRef) else result)
    first, line = overloads[0], _read_signature(overloads[0])
    if call_method:
        # The value is an object with `__call__`, so it is shown as a function.
        line = SELF_PARAMETER.sub("(", line.replace("__call__", result.declaration.name, 1), count=1)
    text = _find_documentation(result, overloads) or _find_source_documentation(rules, module, name, result)
    documentation, _, details = text.partition("\n\n")
    return DocFragment(
        *(package.name, package.version, module.name, name, first.declaration.kind),
        line,
        documentation,
        str(first.text.path.relative_to(first.module.package.folder)),
        _find_constructor(rules, result) if result.declaration.kind in TYPE_KINDS else "",
        len(overloads),
        details,
    )


def _read_signature(ref: DeclarationRef) -> str:
    return read_signature(ref.text.language, ref.text.data, ref.declaration)


def _find_documentation(ref: DeclarationRef, overloads: list[DeclarationRef]) -> str:
    language = ref.text.language
    namesakes = [
        declaration
        for declaration in ref.text.declarations
        if declaration.name == ref.declaration.name and declaration.parent == ref.declaration.parent
    ]
    # Only one of several overloads has documentation, often the last one.
    for declaration in (ref.declaration, *(overload.declaration for overload in overloads), *namesakes):
        if documentation := read_documentation(language, ref.text.data, declaration):
            return documentation
    return ""


def _find_source_documentation(rules: PackageRules, module: Module, name: str, ref: DeclarationRef) -> str:
    """Return documentation from the source of a declaration in a stub, as stubs have almost none."""
    if ref.text.path.suffix != ".pyi" or module.without_stubs:
        return ""
    source = rules.find_module(module.name, module.importer_folder, without_stubs=True)
    result = PackageSearch(rules).find(source, name.split(".")) if source else None
    return _find_documentation(result, [result]) if isinstance(result, DeclarationRef) else ""


def _find_constructor(rules: PackageRules, ref: DeclarationRef) -> str:
    traits, type_name = ref.text.language.packages, ref.declaration.name
    if fields := _generated_constructor(rules, ref) if traits.ecosystem is Ecosystem.PYPI else "":
        return fields
    if traits.constructor_prefix:
        constructor = PackageSearch(rules).find(ref.module, [f"{traits.constructor_prefix}{type_name}"])
        return _read_signature(constructor) if isinstance(constructor, DeclarationRef) else ""
    for name in traits.constructor_names:
        constructor = PackageSearch(rules).find_member(ref, [name])
        if isinstance(constructor, DeclarationRef):
            return _read_signature(find_overloads(PackageSearch(rules), constructor)[0])
    return ""


def _generated_constructor(rules: PackageRules, ref: DeclarationRef) -> str:
    """Return the parameters of a constructor that is generated from the fields of a class; empty for other classes."""
    head = ref.text.data[ref.declaration.start : ref.declaration.name_start]
    if not (
        FIELD_DECORATOR.search(head)
        or FIELD_BASES.intersection(base.rpartition(".")[2] for base in ref.declaration.bases)
    ):
        return ""
    search = PackageSearch(rules)
    if any(member.declaration.name == "__init__" for member in search.find_members(ref)):
        return ""
    fields_by_name: dict[str, str] = {}
    for base in search.find_bases(ref, MAX_HOPS)[:4]:
        fields_by_name |= _declared_fields(search, base)
    fields_by_name |= _declared_fields(search, ref)
    fields = [*list(fields_by_name.values())[:MAX_FIELDS], *(["…"] if len(fields_by_name) > MAX_FIELDS else [])]
    return f"({', '.join(fields)})"


def _declared_fields(search: PackageSearch, ref: DeclarationRef) -> dict[str, str]:
    fields: dict[str, str] = {}
    for member in search.find_members(ref):
        if member.declaration.kind != "field" or member.declaration.name.startswith("_"):
            continue
        name, colon, after_colon = _read_signature(member).partition(":")
        if not colon or after_colon.strip().startswith(CLASS_VARIABLE_TYPES) or name.strip() != member.declaration.name:
            continue
        type_text, equals, value = after_colon.strip().partition(" = ")
        # A call such as `field(default=1)` describes the field and is not its value.
        fields[member.declaration.name] = f"{name}: {type_text}" + (
            f" = {'...' if '(' in value else value}" if equals else ""
        )
    return fields

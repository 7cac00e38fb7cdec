"""C++, which includes C."""

from dataclasses import replace

from lsp_harness.languages.compiled.c_language import SPEC as C

SPEC = replace(
    C,
    id="cpp",
    grammar_module="tree_sitter_cpp",
    lsp_ids=("c++", "cuda-cpp"),
    extensions=("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "cu", "cuh"),
    queries=("c", "cpp"),
    names=replace(
        C.names,
        body_required=C.names.body_required | {"class_specifier"},
        visible_roles=frozenset({"variable", "function", "class"}),
    ),
    recovery=replace(C.recovery, has_type_arguments=True),
    imports=replace(C.imports, library_namespace="std"),
    declarations=replace(C.declarations, has_implicit_members=True, members_outside_types=True),
    parent="c",
    sibling="c",
)

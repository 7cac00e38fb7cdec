"""Tests of the subject of a finding, by its rule and by the words of common tools."""

import pytest

from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_names, find_subject, find_subject_kind

KINDS = [
    ("Undefined name `valeus`", "F821", "name"),
    ("Undefined type 'App\\Cart'.", "P1009", "name"),
    ("uninitialized constant Haash", "NameError", "name"),
    ("no template named 'vectro' in namespace 'std'", "", "name"),
    ("Expected type 'int'. Found 'string'.", "P1006", "argument"),
    ("arguments to this function are incorrect", "", "argument"),
    ("Useless assignment to variable - `x`.", "Lint/UselessAssignment", "removal"),
    ("variable does not need to be mutable", "", "removal"),
    ("Expected type annotation", "", "rule"),
]


@pytest.mark.parametrize(("message", "code", "kind"), KINDS)
def test_a_finding_has_its_kind(message: str, code: str, kind: str):
    assert find_subject_kind(Finding(0, 1, message, "tool", code)) == kind


NAMES = [
    ("Undefined name `valeus`", ("valeus",)),
    ("`a.b` imported but unused", ("b",)),
    ("Undefined type 'App\\Shop\\Cart'.", ("Cart",)),
    ("The type or namespace name 'IList<>' could not be found", ("IList",)),
    ("unresolved import `crate::shop::Cart`", ("Cart",)),
    ("t.szie undefined (type T has no field or method szie)", ("szie",)),
    ("uninitialized constant Shop::Cart", ("Cart",)),
    ("undefined: fmt.Pritnln", ("Pritnln",)),
]


@pytest.mark.parametrize(("message", "names"), NAMES)
def test_the_names_of_a_message(message: str, names: tuple[str, ...]):
    assert find_names(message) == names


USUAL = [
    # pyright
    ('"pi" is not defined', 'reportUndefinedVariable', 'name', ('pi',)),
    ('Cannot access attribute "lenght" for class "str"\n  Attribute "lenght" is unknown', 'reportAttributeAccessIssue',
     'name', ('lenght', 'str')),
    ('Import "shopx.cart" could not be resolved', 'reportMissingImports', 'name', ('cart',)),
    ('"Crt" is unknown import symbol', 'reportAttributeAccessIssue', 'name', ('Crt',)),
    ('No parameter named "widht"', 'reportCallIssue', 'name', ('widht',)),
    ('Argument missing for parameter "b"', 'reportCallIssue', 'argument', ('b',)),
    ('Argument of type "str" cannot be assigned to parameter "n" of type "int"', 'reportArgumentType', 'argument',
     ('str', 'n', 'int')),
    ('Import "os" is not accessed', 'reportUnusedImport', 'removal', ('os',)),
    ('Code is unreachable', 'reportUnreachable', 'removal', ()),
    ('"(" was not closed', '', 'rule', ()),
    ('Expected expression', '', 'rule', ()),
    # mypy
    ('Name "pi" is not defined', 'name-defined', 'name', ('pi',)),
    ('Module has no attribute "sqroot"', 'attr-defined', 'name', ('sqroot',)),
    ('"str" has no attribute "lenght"; maybe "__len__"?', 'attr-defined', 'name', ('str', 'lenght', '__len__')),
    ('Argument 1 to "f" has incompatible type "str"; expected "int"', 'arg-type', 'argument', ('f', 'str', 'int')),
    ('Too many arguments for "f"', 'call-arg', 'argument', ('f',)),
    ('Unexpected keyword argument "widht" for "f"; did you mean "width"?', 'call-arg', 'name', ('widht', 'f', 'width')),
    # pylint
    ("Instance of 'Box' has no 'lenght' member", 'E1101:no-member', 'name', ('Box', 'lenght')),
    ("No name 'Crt' in module 'shop'", 'E0611', 'name', ('Crt', 'shop')),
    ("Unable to import 'shopx'", 'import-error', 'name', ('shopx',)),
    ("Unexpected keyword argument 'widht' in function call", 'E1123', 'name', ('widht',)),
    ("No value for argument 'b' in function call", 'E1120', 'argument', ('b',)),
    ('Too many positional arguments for function call', 'E1121', 'argument', ()),
    ("Unused variable 'x'", 'W0612', 'removal', ('x',)),
    # pyflakes, ty and pyrefly
    ("undefined name 'widht'", '', 'name', ('widht',)),
    ("'os' imported but unused", '', 'removal', ('os',)),
    ('Name `widht` used when not defined', 'unresolved-reference', 'name', ('widht',)),
    ('Cannot resolve imported module `shopx`', 'unresolved-import', 'name', ('shopx',)),
    ('Argument `widht` does not match any known parameter of function `f`', 'unknown-argument', 'name', ('widht', 'f')),
    ('Argument to function `f` is incorrect: Expected `int`, found `str`', 'invalid-argument-type', 'argument', ('f',
     'int', 'str')),
    ('Could not find name `widht`', 'unknown-name', 'name', ('widht',)),
    ('Could not import `Crt` from `shop`', 'missing-module-attribute', 'name', ('Crt', 'shop')),
    # ruff
    ('Undefined name `pi`', 'F821', 'name', ('pi',)),
    ('`os.path` imported but unused', 'F401', 'removal', ('path',)),
    ('Local variable `x` is assigned to but never used', 'F841', 'removal', ('x',)),
    ('Comparison to `None` should be `cond is None`', 'E711', 'rule', ('None',)),
    ("SyntaxError: Expected ')', found newline", 'invalid-syntax', 'syntax', ()),
    # tsserver
    ("Cannot find name 'widht'. Did you mean 'width'?", '2552', 'name', ('widht', 'width')),
    ("Property 'lenght' does not exist on type 'string'. Did you mean 'length'?", '2551', 'name', ('lenght', 'string',
     'length')),
    ("Object literal may only specify known properties, and 'widht' does not exist in type 'Box'.", '2353', 'name',
     ('widht', 'Box')),
    ('Module \'"./shop"\' has no exported member \'Crt\'.', '2305', 'name', ('Crt',)),
    ("Argument of type 'string' is not assignable to parameter of type 'number'.", '2345', 'argument', ('string',
     'number')),
    ('Expected 2 arguments, but got 1.', '2554', 'argument', ()),
    ("'os' is declared but its value is never read.", '6133', 'removal', ('os',)),
    ('Unreachable code detected.', '7027', 'removal', ()),
    ("Type 'string' is not assignable to type 'number'.", '2322', 'argument', ('string', 'number')),
    # eslint
    ("'widht' is not defined.", 'no-undef', 'name', ('widht',)),
    ("'x' is assigned a value but never used.", 'no-unused-vars', 'removal', ('x',)),
    ('Unexpected var, use let or const instead.', 'no-var', 'rule', ()),
    # gopls
    ('undefined: widht', 'UndeclaredName', 'name', ('widht',)),
    ('s.lenght undefined (type string has no field or method lenght)', 'MissingFieldOrMethod', 'name', ('lenght',)),
    ('"os" imported and not used', 'UnusedImport', 'removal', ('os',)),
    ('declared and not used: x', 'UnusedVar', 'removal', ('x',)),
    ('cannot use "a" (untyped string constant) as int value in argument to f', 'IncompatibleAssign', 'argument', ('a',
     )),
    ('not enough arguments in call to f\n\thave (number)\n\twant (int, int)', 'WrongArgCount', 'argument', ()),
    ('unknown field widht in struct literal of type Box', 'MissingLitField', 'name', ('widht',)),
    # rustc
    ('cannot find value `widht` in this scope', 'E0425', 'name', ('widht',)),
    ('no method named `lenght` found for struct `String` in the current scope', 'E0599', 'name', ('lenght', 'String')),
    ('unused import: `std::fs`', 'unused_imports', 'removal', ('fs',)),
    ('unused variable: `x`', 'unused_variables', 'removal', ('x',)),
    ('mismatched types', 'E0308', 'argument', ()),
    ('unreachable statement', 'unreachable_code', 'removal', ()),
    ('unused_mut: variable does not need to be mutable', 'unused_mut', 'removal', ()),
    # clangd
    ("use of undeclared identifier 'widht'; did you mean 'width'?", 'undeclared_var_use_suggest', 'name', ('widht',
     'width')),
    ("no member named 'lenght' in 'std::string'", 'no_member', 'name', ('lenght', 'string')),
    ("unknown type name 'Bxo'", 'unknown_typename', 'name', ('Bxo',)),
    ("unused variable 'x'", '-Wunused-variable', 'removal', ('x',)),
    ("no matching function for call to 'f'", 'ovl_no_viable_function_in_call', 'argument', ('f',)),
    ("expected ';' after expression", 'expected_semi_after_expr', 'rule', ()),
    # jdt
    ('widht cannot be resolved to a variable', '', 'name', ('widht',)),
    ('The method lenght() is undefined for the type String', '', 'name', ('lenght',)),
    ('Cart cannot be resolved to a type', '', 'name', ('Cart',)),
    ('The import java.util.Lst cannot be resolved', '', 'name', ('Lst',)),
    ('The value of the local variable x is not used', '', 'removal', ('x',)),
    ('The import java.util.List is never used', '', 'removal', ('List',)),
    ('The method f(int) in the type A is not applicable for the arguments (String)', '', 'argument', ('f',)),
    ('Syntax error, insert ";" to complete Statement', '', 'rule', ()),
    # roslyn
    ("The name 'widht' does not exist in the current context", 'CS0103', 'name', ('widht',)),
    (("'string' does not contain a definition for 'Lenght' and no accessible extension method 'Lenght' accepting a "
      "first argument of type 'string' could be found"), 'CS1061', 'name', ('string', 'Lenght')),
    ("The variable 'x' is assigned but its value is never used", 'CS0219', 'removal', ('x',)),
    ('Unnecessary using directive.', 'CS8019', 'removal', ()),
    ("Argument 1: cannot convert from 'string' to 'int'", 'CS1503', 'argument', ('string', 'int')),
    # intelephense
    ("Undefined variable '$widht'.", 'P1008', 'name', ('widht',)),
    ("Undefined method 'lenght'.", 'P1013', 'name', ('lenght',)),
    # ruby
    ("undefined local variable or method 'widht' for main:Object", '', 'name', ('widht',)),
    ('Useless assignment to variable - `x`.', 'Lint/UselessAssignment', 'removal', ('x',)),
    # kotlin and swift
    ('Unresolved reference: widht', '', 'name', ('widht',)),
    ("Cannot find 'widht' in scope", '', 'name', ('widht',)),
    ("Variable 'x' is never used", 'UNUSED_VARIABLE', 'removal', ('x',)),
]  # fmt: skip
"""Messages of the usual tools, with the rule that they give: its kind, and the names that it is about, the likeliest
first."""


@pytest.mark.parametrize(("message", "code", "kind", "names"), USUAL)
def test_messages_of_common_tools_are_understood(message: str, code: str, kind: str, names: tuple[str, ...]):
    assert find_subject_kind(Finding(0, 1, message, "tool", code)) == kind
    assert find_names(message) == names


@pytest.mark.parametrize(
    ("text", "about", "message", "name"),
    [
        # of several names that are said, the one that stands where the finding is
        ("s: str = s.lenght\n", "s.lenght", '"str" has no attribute "lenght"', "lenght"),
        ("f(widht=1)\n", "f(widht=1)", 'Unexpected keyword argument "widht" for "f"', "widht"),
        ("from shop import Crt\n", "Crt", "No name 'Crt' in module 'shop'", "Crt"),
        # some tools mark the whole line, or the place behind the name
        ("x = widht + 1\n", "x = widht + 1", "Undefined name `widht`", "widht"),
        ("x = widht\n", "\n", "Undefined name `widht`", "widht"),
        ("x = widht\n", "x", "Undefined name `widht`", "widht"),
        # where the message says none, the one that stands there
        ("x = widht\n", "widht", "cannot find symbol", "widht"),
        ("x = widht\n", "widht", "Undefined name `width`", ""),
        ("[Obsolet]\n", "Obsolet", "The type or namespace name 'ObsoletAttribute' could not be found", "Obsolet"),
    ],
)
def test_the_wrong_name_among_several_names_is_found(text: str, about: str, message: str, name: str):
    document = Document.from_text("file:///a.py", text)
    start = text.index(about)
    finding = Finding(start, start + len(about), message, "tool", "E0602")
    subject = find_subject(finding, document)
    assert subject.name == name
    assert not name or document.data[subject.span.start : subject.span.end].decode() == name


@pytest.mark.parametrize(
    ("text", "at", "kind"),
    [("x = (1\ny = 2\n", 4, "syntax"), ("x = (1)\ny = 2\n", 4, "rule"), ("x = 1\n\n\n\n\ny = (2\n", 0, "rule")],
)
def test_an_unclear_message_is_about_syntax_if_the_text_does_not_parse(text: str, at: int, kind: str):
    document = Document.from_text("file:///a.py", text)
    finding = Finding(at, at + 1, '"(" was not closed', "Pyright", "")
    assert find_subject(finding, document, parse(document)).kind == kind


def test_a_finding_behind_the_end_is_moved_into_the_text():
    document = Document.from_text("file:///a.py", "x = 1\n")
    subject = find_subject(Finding(40, 50, "Undefined name `x`", "ruff", "F821"), document)
    assert (subject.span, subject.name) == ((6, 6), "")


def test_the_place_of_a_name_is_its_place_in_the_text():
    document = Document.from_text("file:///a.php", "<?php\nnew Carts();\n")
    subject = find_subject(Finding(10, 15, "Undefined type 'App\\Carts'.", "tool", "P1009"), document)
    assert (subject.name, subject.span, subject.is_absent) == ("Carts", (10, 15), False)
    assert find_subject(Finding(10, 15, "Undefined type 'App\\Carst'.", "tool", "P1009"), document).is_absent


def test_a_quoted_wrong_name_is_preferred() -> None:
    document = Document.from_text("file:///a.cs", "x.Get(inherit: false);\n", language="csharp")
    message = "The best overload for 'Get' does not have a parameter named 'inheriit'"
    subject = find_subject(Finding(2, 5, message, "csharp", "CS1739"), document)
    assert (subject.name, subject.is_absent) == ("", True)

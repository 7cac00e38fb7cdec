"""What a finding is about, by its rule and the words of common tools."""

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.subject import kind_of, names_in, subject_of

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
def test_the_kind_of_a_finding(message: str, code: str, kind: str):
    assert kind_of(Finding(0, 1, message, "tool", code)) == kind


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
    assert names_in(message) == names


def test_a_name_is_where_it_stands_in_the_text():
    document = Document.of("file:///a.php", "<?php\nnew Carts();\n")
    subject = subject_of(Finding(10, 15, "Undefined type 'App\\Carts'.", "tool", "P1009"), document)
    assert (subject.name, subject.span, subject.absent) == ("Carts", (10, 15), False)
    assert subject_of(Finding(10, 15, "Undefined type 'App\\Carst'.", "tool", "P1009"), document).absent

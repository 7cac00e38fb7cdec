"""Tests of the meaning of each written name, in every language that has queries in this repository."""

import re

import pytest

from lsp_harness.syntax.names.occurrences import find_occurrences, occurrence_at
from lsp_harness.text.position import Span
from tests.syntax.markup import parse_tree

ROLES = [
    (
        "a.py",
        (
            "import os.path\nfrom x import (a as b, c)\nclass K(Base):\n    field: int = 3\n"
            "    def m(self, p, *args, **kw):\n"
            "        t = [z.w for z in p if z]\n        for k, v in kw.items(): print(k, sep=v)\n"
        ),
        (
            "os*file path*file x:import a:import b*file c*file K*file Base:value field*class int:type m*class "
            "self*function"
            " p*function args*function kw*function t*function z:value w:member z*function p:value z:value k*function "
            "v*function"
            " kw:value items:member print:value k:value sep:key v:value"
        ),
    ),
    (
        "a.ts",
        (
            'import D, { a as b } from "x";\n'
            "class K implements I { n: Foo<Bar> = 3; m({ d }: Opt) { const f = (x) => x + d; return { key: f }; } }"
        ),
        (
            "D*file a:import b*file K*file I:type n*class Foo:type Bar:type m*class d*function Opt:type f*function "
            "x*function x:value"
            " d:value key:key f:value"
        ),
    ),
    (
        "a.go",
        (
            "package p\ntype T struct { N string }\n"
            "func (t *T) Do(a, b int) { x, y := a, b; for i := range y { g(T{N: x}.N, i) } }"
        ),
        (
            "p:import T*file N*class string:type t*function T:type Do*file a*function b*function int:type x*function "
            "y*function a:value"
            " b:value i*function y:value g:value T:type N:key x:value N:member i:value"
        ),
    ),
    (
        "a.rs",
        (
            "use a::b::{C, D as E};\nstruct P { x: f64 }\n"
            'impl P { fn n(&self, y: u8) { let z = y; println!("{}", self.x); } }'
        ),
        (
            "a:import b:import C*file D:import E*file P*file x*class f64:type P:type n*class self:value y*function "
            "u8:type z*function"
            " y:value println:value self:value x:member"
        ),
    ),
    (
        "A.java",
        (
            "import java.util.List;\n"
            "class A { int n; int f(List<T> xs) { for (S x : xs) g(x.h()); xs.each(y -> y); return n; } }"
        ),
        (
            "java:import util:import List*file A*file n*class f*class List:type T:type xs*function S:type x*function"
            " xs:value g:value x:value h:member xs:value each:member y*function y:value n:value"
        ),
    ),
    (
        "a.cs",
        "class A : B { int n; int F(S xs) { var s = 0; foreach (var x in xs) s += x.L; return F(xs: s); } }",
        (
            "A*file B:type int:type n*class int:type F*class S:type xs*function s*function x*function xs:value "
            "s:value x:value"
            " L:member F:value xs:key s:value"
        ),
    ),
    (
        "a.php",
        (
            "<?php\nuse A\\B;\nclass K { private int $n; function f(B $b) { $t = $b; foreach ($t as $k => $v) "
            "{ g($this->n . h($v)); } } }"
        ),
        (
            "A:import B*file K*file n*class f*class B:type b*function t*function b:value t:value k*function "
            "v*function g:value this:value"
            " n:member h:value v:value"
        ),
    ),
    (
        "a.rb",
        "class K < B\n  def f(a, b = 2)\n    t = a\n    b.each { |x| puts x.y }\n    @n = t\n  end\nend\n",
        (
            "K*file B:type f*class a*function b*function t*function a:value b:value each:member x*function "
            "puts:value x:value y:member"
            " n*function t:value"
        ),
    ),
    (
        "a.c",
        (
            "struct S { int x; };\n"
            "static int f(int a, struct S *s) { int i = 0, *p; for (int j = a; j; j++) s->x = i; return g(p); }"
        ),
        (
            "S*file int:type x*class int:type f*file int:type a*function S:type s*function int:type i*function "
            "p*function int:type"
            " j*function a:value j:value j:value s:value x:member i:value g:value p:value"
        ),
    ),
    (
        "a.cpp",
        (
            "class A : public B { A(int n) : m(n) {} int f(const S& s) "
            "{ for (auto& x : v) g(x); return std::max(m, s.k); } int m; };"
        ),
        (
            "A*file B:type A*class int:type n*function m:value n:value int:type f*class S:type s*function x*function "
            "v:value g:value"
            " x:value std:value max:member m:value s:value k:member int:type m*class"
        ),
    ),
]
KEYWORDS = re.compile(r"(?:auto|var|return|fn)\Z")


@pytest.mark.parametrize(("path", "source", "expected"), ROLES, ids=[row[0] for row in ROLES])
def test_each_name_has_its_role_and_scope(path: str, source: str, expected: str):
    tree = parse_tree(path, source)
    assert not tree.root.has_error
    items: list[str] = []
    for match in re.finditer(rb"[A-Za-z_]\w*", tree.data):
        name = match[0].decode()
        result = occurrence_at(tree, Span(*match.span()))
        if result and not KEYWORDS.match(name):
            items.append(f"{name}*{result.scope_kind}" if result.is_binding else f"{name}:{result.role}")
    assert " ".join(items) == expected


def test_strings_and_comments_have_no_names():
    tree = parse_tree("a.py", "# total\nx = 'total'\ntotal = 1\n")
    assert [occurrence.span.start for occurrence in find_occurrences(tree, "total")] == [tree.data.rindex(b"total")]


def test_a_sentence_that_ends_in_a_comment_makes_no_member():
    tree = parse_tree("a.rb", "# The name.\nattr_readers :name\n")
    [result] = find_occurrences(tree, "attr_readers")
    assert (result.role, result.receiver) == ("value", "")


def test_a_member_has_its_receiver():
    for path, source, receiver in (
        ("a.py", "a.b(c).d", "a.b(c)"),
        ("a.php", "<?php $a->d;", "$a"),
        ("a.rs", 'fn f() { p!("", a.d); }', "a"),
        ("a.go", "package p\nvar x = a.b.d", "a.b"),
    ):
        [result] = find_occurrences(parse_tree(path, source), "d")
        assert (result.role, result.receiver) == ("member", receiver)


def test_a_block_has_its_own_variables_if_the_language_says_so():
    for path, source, own in (("a.ts", "{ const a = 1; }", True), ("a.py", "if x:\n    a = 1\n", False)):
        [result] = find_occurrences(parse_tree(path, source), "a")
        assert (result.scope.end < len(source)) == own or result.scope.start == 0
        assert result.scope_kind == ("function" if own else "file")

"""Tests of repairs that parse but only hide missing code."""

import pytest

from lsp_harness.syntax.recovery.misplaced_signs import describe_misplaced_sign, is_misplaced_removal
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document


def parse_tree(language: str, text: str) -> SyntaxTree:
    tree = parse(Document.from_text("x", text, language=language))
    assert tree is not None
    return tree


def describe_sign(language: str, text: str, *, replaced: bool = False) -> str:
    """Describe the error of the sign between `<|` and `|>`."""
    start = text.index("<|")
    tree = parse_tree(language, text.replace("<|", "").replace("|>", ""))
    return describe_misplaced_sign(tree, start, text.index("|>") - 2, is_replacement=replaced)


MISPLACED = [
    # an operator is missing, and nothing says which
    ("python", "def f(a, b):\n    c = (1 + a)<|,|> b\n    return c\n", "in no list"),
    ("python", "if a <|==|> b:\n    pass\n", "another operator"),
    ("python", "x = a <|in|> b\n", "another operator"),
    ("python", "x = (1 + a) <|.|> b\n", "something else"),
    ("c", "int f(int a) { return a <|=|> 2; }\n", "into an expression"),
    ("c", "int f(int a) { if (a <|=|> 2) { return 1; } return 0; }\n", "into an expression"),
    ("rust", "fn f(a: f64) -> f64 {\n    a / g() <|=|> b\n}\n", "nothing can be assigned to"),
    ("php", '<?php\nfunction f($a) {\n    return "x" <|->|> $a;\n}\n', "something else"),
    ("javascript", "f(a <|,|> 1);\n", "two blanks"),
    ("javascript", "f(a<|,|>  1);\n", "two blanks"),
    ("rust", "fn f() {\n    let mut a = 0;\n    a <|=|> 1;\n}\n", "used before"),
    ("python", "a = 0\na <|=|> b\n", "used before"),
    ("rust", "fn f(a: A) -> u32 {\n    a.b <|=|> a.c\n}\n", "value of a block"),
    ("javascript", "f(this.n.length);\nthis.n.length <|=|> 1;\n", "used before"),
    ("csharp", "class A\n{\n    bool F(int n) { return (n <|=>|> 10); }\n}\n", "another operator"),
    # a bracket is missing
    ("csharp", "class A\n{\n    void Okint <|(|>n) { }\n}\n", "a blank between"),
    ("javascript", "function main(a) {}\nmainprocess.argv<|(|>);\n", "two words"),
    ("cpp", "struct A { void addconst <|(|>B& b) { } };\n", "two words"),
    ("typescript", "const a = new<|;|> Map<string, A<number>();\n", "continues after it"),
    ("cpp", "int f(int a) {\n    if (a<|;|> 10) { return 1; }\n    return 0;\n}\n", "continues after it"),
    ("ruby", "days = [1]\nx = <|[|>days0]\n", "two words"),
    ("python", "def level<|(|>n):\n    return n\n", ""),
    ("python", "def leveln<|(|>):\n    return n\n", "two words"),
    ("python", "x = sorted(<|)|>(a, key=b)\n", "before the arguments"),
    ("python", "def f(values):\n    return len(values<|(|>))\n", "called nowhere else"),
    ("javascript", "const a = b * (1<|)|> + c;\n", "needs no parentheses"),
    ("go", "package a\n\nfunc <|(|>Shown int) {\n}\n", "no name"),
    ("tsx", "<|(|>const [a, b] = f0);\n", "around a statement"),
    ("csharp", "class A\n{\n    void Sendstring <|(|>to, int n) { }\n\n    void F() { Send(1); }\n}\n", "two words"),
    ("javascript", "function f(a, b) {\n  return a <|=>|> b;\n}\n", "another operator"),
    # a word is missing, misspelt, or written twice
    ("python", 'with open("a")<|,|> f:\n    pass\n', "`as`"),
    ("rust", "fn f() {\n    let mmut<|:|> count = 0;\n}\n", "misspelt keyword"),
    ("javascript", "function f(a) {\n  return return <|=>|> a;\n}\n", "keyword"),
    ("java", "import <|.|> java.util.List;\n", "keyword"),
    ("rust", "Counter {\n    n: 1,\n}<|;|>\n", "outside a function"),
    ("rust", "fn f() {\n    totl <|=|> 3;\n}\n", "declared nowhere"),
    ("python", "importing<|:|> sys\n", "nothing is declared"),
    ("javascript", "function f() {\n  total<|:|> g();\n}\n", "label"),
    ("ruby", "def f(items)\n  puts <|do|> items\n  end\nend\n", "goes on"),
    ("ruby", "def f(items)\n  puts <|=>|> items\nend\n", "pattern"),
    # the others of the list are single values
    ("go", 'package a\n\nvar x = []string{\n\t"a",\n\t"b"<|:|>\n\t"c",\n}\n', "list of single values"),
    ("php", "<?php\n$a = ['x', 'y' <|=>|> 'z'];\n", "list of single values"),
]


@pytest.mark.parametrize(("language", "text", "reason"), MISPLACED)
def test_a_sign_that_hides_missing_code_is_rejected(language: str, text: str, reason: str) -> None:
    result = describe_sign(language, text)
    assert reason in result
    assert bool(result) == bool(reason)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x = [1, 2<|,|> 3]\n"),
        ("python", "a<|,|> b = f()\n"),
        ("javascript", "f(a<|,|> 1);\n"),
        ("python", "x = [\n    1<|,|>  # one\n    2,\n]\n"),
        ("python", "x = [\n    1<|,|>\n    2,\n]\n"),
        ("python", "x = a, b<|,|> c\n"),
        ("python", "for a <|in|> b:\n    pass\n"),
        ("python", "total <|=|> sum(x)\n"),
        ("python", "class A:\n    x<|:|> int\n"),
        ("python", "import os\nx = os<|.|>sep\n"),
        ("javascript", "for (let i = 0<|;|> i < 3; i++) {}\n"),
        ("javascript", "const a = { b<|:|> 1 };\n"),
        ("javascript", "const f = (a) <|=>|> a;\n"),
        ("javascript", "const f = x.map(a <|=>|> a + 1);\n"),
        ("go", "package a\n\nfunc (a A) f<|(|>b int) {\n}\n"),
        ("go", "package a\n\nfunc f() {\n\tgo func<|(|>b int) {}(1)\n}\n"),
        ("typescript", "interface A { id: number<|;|> total: number }\n"),
        ("typescript", "const total <|=|> f();\n"),
        ("go", "package a\n\nfunc f() (int, error) {\n\treturn 0<|,|> nil\n}\n"),
        (
            "go",
            "package a\n\nfunc f() error {\n\tif err := g()<|;|> err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
        ),
        ("javascript", "class A {\n  constructor(n) {\n    this.n <|=|> n;\n  }\n}\n"),
        ("javascript", "if <|(|>a) {\n}\n"),
        ("ruby", "def f(items)\n  items.each <|do|> |item|\n    puts item\n  end\nend\n"),
        ("php", "<?php\n$a = ['x' => 1, 'y' <|=>|> 2];\n"),
        ("c", "int f(int a<|,|> int b) { return a; }\n"),
    ],
)
def test_a_sign_in_its_right_place_is_accepted(language: str, text: str) -> None:
    assert describe_sign(language, text) == ""


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("python", "if a <|==|> 2:\n    pass\n", ""),
        ("php", "<?php\n$a = ['x' <|==|> 4];\n", "no condition is needed"),
        ("php", "<?php\n$a = ['x' <|=>|> 4];\n", ""),
        ("typescript", "export const a <|:|> { b: 'x' };\n", "no object"),
    ],
)
def test_a_sign_that_replaces_another_is_accepted_or_has_a_reason(language: str, text: str, reason: str) -> None:
    result = describe_sign(language, text, replaced=True)
    assert reason in result
    assert bool(result) == bool(reason)


@pytest.mark.parametrize(
    ("language", "text", "token", "hidden"),
    [
        ("ruby", "def f(items)\n  items.each |item|\n    puts item\nend\n", "end", True),
        ("ruby", "def f(items)\n  items.each do |item|\n    puts item\n  end\n", "end", False),
        ("rust", "fn f() -> Result<(), E> {\n    Ok()\n}\n", "(", True),
        ("rust", "fn f() -> Result<(), E> {\n    Ok()\n}\n", ")", True),
        ("javascript", "const days = [1];\nconst x = days0;\n", "]", True),
        ("javascript", "const days = [1];\nconst x = days;\n", "]", False),
        ("typescript", "interface A {\n  kind ;\n}\n", ":", True),
    ],
)
def test_removing_a_token_that_leaves_meaningless_code_is_rejected(
    language: str, text: str, token: str, hidden: bool
) -> None:
    place = {
        "(": text.find("Ok(") + 2,
        ")": text.find("Ok(") + 4,
        ":": text.find("kind ") + 4,
        "]": text.rfind(";"),
    }.get(token, 0)
    assert is_misplaced_removal(parse_tree(language, text), token.encode(), place) is hidden


def test_a_returned_value_stays_behind_its_keyword() -> None:
    text = "function A() {\n  return \n    b;\n}\n"
    assert is_misplaced_removal(parse_tree("javascript", text), b"(", text.index("return ") + 7)
    text = "function A() {\n  return b;\n}\n"
    assert not is_misplaced_removal(parse_tree("javascript", text), b"(", text.index("return ") + 7)


@pytest.mark.parametrize(
    ("language", "text", "hidden"),
    [
        ("python", "from collections import defaultdict\n\na = defaultdictlist\n", True),
        ("go", "package a\n\nfunc f(values []int) float64 {\n\treturn float64(lenvalues)\n}\n", True),
        ("python", "total = 1\nprint(total_count)\n", False),
        ("python", "total = 1\nprint(totalCount)\n", False),
        ("python", "values = a\nprint(a.listvalues)\n", False),
    ],
)
def test_a_closing_bracket_stays_where_the_opening_one_may_be_missing(language: str, text: str, hidden: bool) -> None:
    place = len(text.rstrip("\n}"))
    assert is_misplaced_removal(parse_tree(language, text), b")", place) is hidden

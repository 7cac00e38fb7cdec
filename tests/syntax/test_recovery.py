"""Tests of the repair of syntax errors by one token; ambiguous repairs have equal costs."""

import pytest

from lsp_harness.syntax.lexemes import read_lexemes
from lsp_harness.syntax.recovery import recovery
from lsp_harness.syntax.recovery.broken_text import BrokenText
from lsp_harness.syntax.recovery.edits.block_edits import is_one_slip
from lsp_harness.syntax.recovery.edits.generators import trials
from lsp_harness.syntax.recovery.recovery import Recovery, TrialLimits, compute_costs, find_recoveries
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import apply

AMBIGUOUS = 0.3
PATIENT = TrialLimits(time_s=60.0)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test end early because the garbage collection of all tests before it counts as its processor time."""
    monkeypatch.setattr(recovery, "PARSE_TIME_S", 60.0)


def parse_tree(language: str, text: str) -> SyntaxTree:
    tree = parse(Document.from_text("x", text, language=language))
    assert tree is not None
    return tree


def find_repairs(language: str, text: str, limits: TrialLimits = PATIENT) -> list[tuple[str, Recovery]]:
    """Return each repaired text with its repair, the likeliest first."""
    tree = parse_tree(language, text)
    recoveries = find_recoveries(tree, 0, 0, limits)
    return [(apply(tree.data, [result.edit]).decode(), result) for result in recoveries]


EVIDENT = [
    ("python", "def f(a)\n    return a\n", "def f(a):\n    return a\n"),
    ("python", "def f(a):\n    if a == 1\n        return a\n", "def f(a):\n    if a == 1:\n        return a\n"),
    ("python", "def f(a):\n    if a = 1:\n        return a\n", "def f(a):\n    if a == 1:\n        return a\n"),
    ("python", "x = [1, 2 3]\n", "x = [1, 2, 3]\n"),
    ("python", "d = {'a' 1, 'b': 2}\n", "d = {'a': 1, 'b': 2}\n"),
    ("python", "print('hello)\nprint('x')\n", "print('hello')\nprint('x')\n"),
    ("python", 'print("a")\nprint(hello world")\n', 'print("a")\nprint("hello world")\n'),
    ("python", "def f():\n    retrun 1\n", "def f():\n    return 1\n"),
    (
        "python",
        "def f(a):\n    if a:\n        return 1\n    esle:\n        return 2\n",
        "def f(a):\n    if a:\n        return 1\n    else:\n        return 2\n",
    ),
    ("python", "improt os\n\nprint(os.sep)\n", "import os\n\nprint(os.sep)\n"),
    ("python", "def f():\n    x = len(range(3)))\n    return x\n", "def f():\n    x = len(range(3))\n    return x\n"),
    ("python", "def f():\nreturn 1\n", "def f():\n    return 1\n"),
    (
        "javascript",
        'const days = ["mon", "tue"\n\nfunction f() {\n  return days[0];\n}\n',
        'const days = ["mon", "tue"]\n\nfunction f() {\n  return days[0];\n}\n',
    ),
    ("javascript", "fucntion f() {\n  return 1;\n}\n", "function f() {\n  return 1;\n}\n"),
    ("javascript", "const f = (a) {\n  return a;\n};\n", "const f = (a) => {\n  return a;\n};\n"),
    (
        "typescript",
        "export const a = {\n  host: 'x',\n  port: 8080\n  retries: 3,\n};\n",
        "export const a = {\n  host: 'x',\n  port: 8080,\n  retries: 3,\n};\n",
    ),
    (
        "tsx",
        "const A = () => (\n  <div>\n    {xs.map((x) => <b key={x}>{x}</b>)\n  </div>\n);\n",
        "const A = () => (\n  <div>\n    {xs.map((x) => <b key={x}>{x}</b>)}\n  </div>\n);\n",
    ),
    (
        "go",
        'package main\n\nfunc main() {\n\tfmt.Println("n is", n\n}\n',
        'package main\n\nfunc main() {\n\tfmt.Println("n is", n)\n}\n',
    ),
    ("rust", "fn main() {\n    let x = 1\n    let y = 2;\n}\n", "fn main() {\n    let x = 1;\n    let y = 2;\n}\n"),
    ("rust", "fn f(x: i32) i32 {\n    x\n}\n", "fn f(x: i32) -> i32 {\n    x\n}\n"),
    (
        "java",
        "class A {\n    int f(int x) {\n        int y = x + 1\n        return y;\n    }\n}\n",
        "class A {\n    int f(int x) {\n        int y = x + 1;\n        return y;\n    }\n}\n",
    ),
    (
        "java",
        "class A {\n    pubilc int f(int x) {\n        return x;\n    }\n}\n",
        "class A {\n    public int f(int x) {\n        return x;\n    }\n}\n",
    ),
    (
        "csharp",
        "class A\n{\n    int F(int x)\n    {\n        var y = x + 1\n        return y;\n    }\n}\n",
        "class A\n{\n    int F(int x)\n    {\n        var y = x + 1;\n        return y;\n    }\n}\n",
    ),
    ("csharp", "interface A  B, C\n{\n}\n", "interface A : B, C\n{\n}\n"),
    (
        "php",
        "<?php\nfunction f($x) {\n    $y = [1, 2 3];\n    return $y;\n}\n",
        "<?php\nfunction f($x) {\n    $y = [1, 2, 3];\n    return $y;\n}\n",
    ),
    (
        "ruby",
        "class A\n  def x\n    foo(1)\n\n  def y\n    foo(2)\n  end\nend\n",
        "class A\n  def x\n    foo(1)\n  end\n\n  def y\n    foo(2)\n  end\nend\n",
    ),
    (
        "ruby",
        "class A\n  def x\n    foo(1)\n  ned\n\n  def y\n    foo(2)\n  end\nend\n",
        "class A\n  def x\n    foo(1)\n  end\n\n  def y\n    foo(2)\n  end\nend\n",
    ),
    (
        "lua",
        "local function f(x)\n  if x\n    return 1\n  end\n  return 2\nend\n",
        "local function f(x)\n  if x then\n    return 1\n  end\n  return 2\nend\n",
    ),
    (
        "bash",
        'f() {\n  if [ -n "$1" ]; then\n    echo 1\n  echo 2\n}\n',
        'f() {\n  if [ -n "$1" ]; then\n    echo 1\n  fi\n  echo 2\n}\n',
    ),
    ("bash", "for x in 1 2\n  echo $x\ndone\n", "for x in 1 2; do\n  echo $x\ndone\n"),
    (
        "c",
        "int f(int x) {\n    int y = x + 1\n    return y;\n}\n",
        "int f(int x) {\n    int y = x + 1;\n    return y;\n}\n",
    ),
    (
        "cpp",
        "int f(int x) {\n    if (x > 1 {\n        return 1;\n    }\n    return 2;\n}\n",
        "int f(int x) {\n    if (x > 1) {\n        return 1;\n    }\n    return 2;\n}\n",
    ),
    (
        "python",
        's = (\n    "one "\n    "two \n    "three"\n)\n',
        's = (\n    "one "\n    "two "\n    "three"\n)\n',
    ),
    # only one of the edits that parse means something
    ("python", "def f(values):\n    return len(values))\n", "def f(values):\n    return len(values)\n"),
    (
        "javascript",
        "function f(a, b) {\n  return a.reduce((x, y) => x + y, 0) * (1 + b;\n}\n",
        "function f(a, b) {\n  return a.reduce((x, y) => x + y, 0) * (1 + b);\n}\n",
    ),
    (
        "go",
        "package a\n\nfunc f(a, b int) int {\n\tif a > b {\n\t\treturn a\n\treturn b\n}\n",
        "package a\n\nfunc f(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
    ),
    (
        "go",
        'package a\n\nvar x = []string{\n\t"low",\n\t"mid"\n\t"high",\n}\n',
        'package a\n\nvar x = []string{\n\t"low",\n\t"mid",\n\t"high",\n}\n',
    ),
    ("php", "<?php\n$a = [\n    'x' = 4,\n    'y' => 1,\n];\n", "<?php\n$a = [\n    'x' => 4,\n    'y' => 1,\n];\n"),
    (
        "rust",
        'fn f(n: u8) -> &\'static str {\n    match n {\n        0 = "zero",\n        _ => "many",\n    }\n}\n',
        'fn f(n: u8) -> &\'static str {\n    match n {\n        0 => "zero",\n        _ => "many",\n    }\n}\n',
    ),
    ("rust", "fn f() {\n    let mmut n = 0;\n    n += 1;\n}\n", "fn f() {\n    let mut n = 0;\n    n += 1;\n}\n"),
    (
        "ruby",
        "def f(items)\n  items.each |item|\n    puts item\n  end\nend\n",
        "def f(items)\n  items.each do |item|\n    puts item\n  end\nend\n",
    ),
    (
        "java",
        "class A {\n    private Map<String, List<Integer> b = null;\n}\n",
        "class A {\n    private Map<String, List<Integer>> b = null;\n}\n",
    ),
    ("cpp", "std::map<int, std::vector<int> a;\n", "std::map<int, std::vector<int>> a;\n"),
    ("typescript", "const a = new Map<string, Promise<number>();\n", "const a = new Map<string, Promise<number>>();\n"),
    (
        "tsx",
        'function A() {\n  return (\n    <div className="a">\n      <h2>{b}</h2>\n  );\n}\n',
        'function A() {\n  return (\n    <div className="a">\n      <h2>{b}</h2>\n    </div>\n  );\n}\n',
    ),
    (
        "tsx",
        "function A() {\n  return (\n    <div>\n      <h2>{b}\n    </div>\n  );\n}\n",
        "function A() {\n  return (\n    <div>\n      <h2>{b}</h2>\n    </div>\n  );\n}\n",
    ),
    ("javascript", "const f = (a, b) -> a + b;\n", "const f = (a, b) => a + b;\n"),
    (
        "python",
        "def f(n):\n    if n > 0:\n        return 1\n    else if n < 0:\n        return 2\n    return 0\n",
        "def f(n):\n    if n > 0:\n        return 1\n    elif n < 0:\n        return 2\n    return 0\n",
    ),
    (
        "javascript",
        "if (a) {\n  b();\n} elif (c) {\n  d();\n}\n",
        "if (a) {\n  b();\n} else if (c) {\n  d();\n}\n",
    ),
    ("json", '{\n  "a": 1\n  "b": [1, 2],\n  "c": 3\n}\n', '{\n  "a": 1,\n  "b": [1, 2],\n  "c": 3\n}\n'),
]


@pytest.mark.parametrize(("language", "text", "truth"), EVIDENT)
def test_an_evident_token_is_first_and_alone(language: str, text: str, truth: str) -> None:
    result = find_repairs(language, text)
    assert result[0][0] == truth
    assert all(item.cost - result[0][1].cost > AMBIGUOUS for _, item in result[1:])


def test_no_repair_is_chosen_if_the_trials_were_not_completed() -> None:
    ticks = iter(range(100))
    assert find_repairs("python", "x = [1, 2 3]\n", TrialLimits(time_s=1.0, clock=lambda: float(next(ticks)))) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(a, b):\n    c = (1 + a) b\n    return c\n"),
        ("c", "int f(int a) {\n    return a  2;\n}\n"),
        ("cpp", "int f(int a) {\n    if (a  10) {\n        return 1;\n    }\n    return 0;\n}\n"),
        ("php", '<?php\nfunction f($a) {\n    return "x"  $a;\n}\n'),
        ("python", 'with open("a")  f:\n    f.read()\n'),
    ],
)
def test_a_missing_operator_is_not_guessed(language: str, text: str) -> None:
    assert find_repairs(language, text) == []


def test_a_brace_behind_a_header_is_first() -> None:
    text = "package main\n\nfunc f() int \n\treturn 1\n}\n"
    assert find_repairs("go", text)[0][0] == text.replace("int ", "int {")


def test_a_token_is_inserted_only_once_between_two_others() -> None:
    text = "class A {\n  m() {\n    if (x) {\n      f();\n    g();\n  }\n}\n"
    result = ["".join(result.split()) for result, _ in find_repairs("javascript", text)]
    assert len(result) == len(set(result))


AMBIGUOUS_TEXTS = [
    # both are sums; both are calls; the text has nothing that tells them apart
    ("python", "x = (a + b * c\ny = 2\n", ["x = (a + b * c)\ny = 2\n", "x = (a + b) * c\ny = 2\n"]),
    (
        "python",
        "x = foo(a, (b + c) * d\ny = 2\n",
        ["x = foo(a, (b + c)) * d\ny = 2\n", "x = foo(a, (b + c) * d)\ny = 2\n"],
    ),
    ("python", "f(g(x, y)\n", ["f(g(x, y))\n", "f(g(x), y)\n"]),
    ("javascript", "let x = f(g(a, b);\n", ["let x = f(g(a, b));\n", "let x = f(g(a), b);\n"]),
]


@pytest.mark.parametrize(("language", "text", "truths"), AMBIGUOUS_TEXTS)
def test_ambiguous_repairs_have_almost_the_same_cost(language: str, text: str, truths: list[str]) -> None:
    by_text = {item: items.cost for item, items in find_repairs(language, text)}
    assert by_text.keys() >= set(truths)
    assert max(by_text[truth] for truth in truths) - min(by_text.values()) <= AMBIGUOUS


def test_the_number_of_arguments_elsewhere_tells_where_a_call_ends() -> None:
    calls = "a = f(g(1), 2)\nb = f(g(2), 3)\nc = f(g(x), y)\n"
    assert find_repairs("python", f"{calls}d = f(g(x, y)\n")[0][0] == f"{calls}d = f(g(x), y)\n"


def test_the_line_ends_of_a_text_are_kept() -> None:
    text = "class A {\r\n  m() {\r\n    if (x) {\r\n      f();\r\n    g();\r\n  }\r\n}\r\n"
    assert "      f();\r\n    }\r\n    g();\r\n" in find_repairs("javascript", text)[0][0]


def test_each_of_two_faults_is_repaired_separately() -> None:
    text = "function f() {\n  return [1 2];\n}\n\nfunction g() {\n  return h(3;\n}\n"
    result = {result for result, _ in find_repairs("javascript", text)}
    assert text.replace("1 2", "1, 2") in result
    assert text.replace("h(3", "h(3)") in result


def test_a_text_without_a_fault_has_no_repair() -> None:
    assert find_repairs("python", "x = 1\n") == []
    assert find_repairs("javascript", "") == []


def test_trials_end_when_the_time_is_over() -> None:
    ticks = iter(range(1000))
    limits = TrialLimits(time_s=3.0, clock=lambda: float(next(ticks)))
    text = "x = (a + b * c\ny = 2\n"
    assert len(find_repairs("python", text, limits)) <= 3 < next(ticks) + 1
    assert find_repairs("python", text, TrialLimits(max_trials=0)) == []


def test_costs_tell_sure_from_doubtful() -> None:
    sure, other = compute_costs([0.0, 6.0], 20.0)
    assert sure == 1.0
    assert other - sure > 1.0
    first, second = compute_costs([0.0, 1.0], 20.0)
    assert second - first < AMBIGUOUS
    assert compute_costs([0.0], 1.0)[0] > 1.0 + AMBIGUOUS
    assert compute_costs([], 0.0) == []


def test_an_improbable_repair_is_not_proposed() -> None:
    assert find_repairs("python", "a b c d e f\n") == []


def test_code_that_the_parser_skipped_is_read_all_the_same() -> None:
    texts = [token.text for token in read_lexemes(parse_tree("csharp", "interface A  B, C\n{\n}\n"))]
    assert texts == [b"interface", b"A", b"B", b",", b"C", b"{", b"}"]


def test_one_slip_is_one_wrong_missing_or_exchanged_letter() -> None:
    assert all(is_one_slip(word, b"return") for word in (b"retrun", b"retur", b"returnn", b"retarn", b"eturn"))
    assert not any(is_one_slip(word, b"return") for word in (b"return", b"rertun", b"retn", b"tern"))


def test_no_two_trials_give_the_same_text() -> None:
    tree = parse_tree("python", "def f(a):\n    x = foo(a, bar(1)))\n    return [x\n")
    results = [apply(tree.data, [trial.edit]) for trial in trials(BrokenText(tree, 0, 0))]
    assert len(results) == len(set(results))

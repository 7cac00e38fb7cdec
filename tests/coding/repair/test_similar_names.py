"""Tests of the repair that replaces an unknown name by a similar known one."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.knowledge.installed_packages import InstalledPackages
from tests.coding.repair.requests import make_all_repairs, make_request
from tests.index.place import IndexedFolder
from tests.knowledge.packages import REQUESTS, install, make_venv

NEAREST = [
    # a local, a parameter, a function, a builtin, a type, a module of the file
    ("a.py", "def f(values):\n    return sum(<|>valeus<|>)\n", "Undefined name `valeus`", "values"),
    ("a.py", "def send_mail(to): ...\n\n\n<|>send_mial<|>(1)\n", "Undefined name `send_mial`", "send_mail"),
    ("a.py", "def f(x):\n    raise <|>ValueErr<|>(x)\n", "Undefined name `ValueErr`", "ValueError"),
    ("a.py", "import json\n\njson.loads('1')\n<|>jsno<|>.dumps(1)\n", "Undefined name `jsno`", "json"),
    ("a.py", "class Cart: ...\n\n\ndef f(cart: <|>Crat<|>): ...\n", "Undefined name `Crat`", "Cart"),
    ("a.py", "user_name = 1\nprint(<|>userName<|>)\n", "Undefined name `userName`", "user_name"),
    ("a.py", "items = [1]\nfor each in <|>item<|>:\n    print(each)\n", "Undefined name `item`", "items"),
    (
        "a.ts",
        "type A = { retries: number };\nconst a: A = { <|>retry<|>: 3 };\n",
        "'retry' does not exist in type 'A'.",
        "retries",
    ),
    (
        "a.go",
        'package a\n\nimport "strings"\n\nvar x = strings.<|>toUpper<|>("a")\n',
        "name toUpper not exported by package strings",
        "ToUpper",
    ),
    (
        "a.py",
        "from <|>Collections<|> import OrderedDict\n",
        'Import "Collections" could not be resolved',
        "collections",
    ),
    (
        "a.py",
        "class A:\n    def __init__(self):\n        self.items = []\n\n    def f(self):\n        return <|>items<|>\n",
        "Undefined name `items`",
        "self.items",
    ),
    ("a.js", "class A {\n  load() {}\n\n  f() {\n    <|>load<|>();\n  }\n}\n", "'load' is not defined.", "this.load"),
    # the mark of a name is part of it
    (
        "a.rb",
        "class A\n  def initialize(seconds)\n    @seconds = seconds\n  end\n\n  def f\n    <|>@secnds<|>\n  end\nend\n",
        "Cannot find the declaration of instance variable: `@secnds`",
        "@seconds",
    ),
    (
        "a.rb",
        "class A\n  def initialize(b)\n    @seconds = b\n  end\n\n  def f\n    <|>seconds<|>\n  end\nend\n",
        "undefined local variable or method 'seconds'",
        "@seconds",
    ),
    ("a.php", "<?php\nfunction f($name) { return <|>name<|>; }\n", "Undefined constant 'name'.", "$name"),
    (
        "a.rb",
        "class A\n  attr_reader :width, :height\n\n  def f(height)\n  end\n\n  def g\n    <|>heigth<|>\n  end\nend\n",
        "undefined local variable or method 'heigth' for an instance of A",
        "height",
    ),
    # members: of the class, of the same receiver, of a module, of common types
    (
        "a.py",
        (
            "class A:\n    def __init__(self):\n        self.total = 0\n\n    def f(self):\n"
            "        return self.<|>totla<|>\n"
        ),
        'Cannot access attribute "totla" for class "A*"',
        "total",
    ),
    ("a.py", "def f(a):\n    a.append(1)\n    a.<|>apend<|>(2)\n", 'Cannot access attribute "apend"', "append"),
    ("a.py", "import os\n\nos.path.<|>jion<|>('a')\n", '"jion" is not a known attribute of module "posixpath"', "join"),
    (
        "a.py",
        "def f(rows):\n    return ', '.<|>joni<|>(rows)\n",
        'Cannot access attribute "joni" for class "str"',
        "join",
    ),
    (
        "a.py",
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.<|>parsea_rgs<|>()\n",
        'Cannot access attribute "parsea_rgs" for class "ArgumentParser"',
        "parse_args",
    ),
    # keyword arguments, and names that are imported
    ("a.py", "def f(width=1, height=2): ...\n\n\nf(<|>widht<|>=3)\n", 'No parameter named "widht"', "width"),
    ("a.py", "from collections import <|>OrderedDcit<|>\n", '"OrderedDcit" is unknown import symbol', "OrderedDict"),
    ("a.js", "function total(prices) {\n  return <|>pirces<|>.length;\n}\n", "'pirces' is not defined.", "prices"),
    ("a.js", "console.<|>lgo<|>(1);\n", "Property 'lgo' does not exist on type 'Console'.", "log"),
    (
        "a.js",
        "const fs = require('fs');\nfs.<|>raedFileSync<|>('x');\n",
        "Property 'raedFileSync' does not exist",
        "readFileSync",
    ),
    (
        "a.ts",
        "interface User { email: string }\nfunction f(u: <|>Usre<|>) { return u; }\n",
        "Cannot find name 'Usre'.",
        "User",
    ),
    (
        "a.ts",
        "class A {\n  private count = 0;\n  next() { return this.<|>cuont<|>; }\n}\n",
        "Property 'cuont' does not exist on type 'A'.",
        "count",
    ),
    (
        "a.tsx",
        "const Card = () => <p />;\nexport const App = () => <<|>Crad<|> />;\n",
        "Cannot find name 'Crad'.",
        "Card",
    ),
    ("a.go", 'package p\n\nimport "fmt"\n\nfunc f() { fmt.<|>Pritnln<|>() }\n', "undefined: fmt.Pritnln", "Println"),
    ("a.go", "package p\n\nfunc f(count int) int { return <|>cuont<|> }\n", "undefined: cuont", "count"),
    (
        "a.go",
        "package p\n\ntype T struct{ size int }\n\nfunc (t T) f() int { return t.<|>szie<|> }\n",
        "t.szie undefined (type T has no field or method szie)",
        "size",
    ),
    ("a.rs", "fn f(width: u32) -> u32 {\n    <|>widht<|> * 2\n}\n", "cannot find value `widht` in this scope", "width"),
    ("a.rs", 'fn f() {\n    <|>prinltn<|>!("x");\n}\n', "cannot find macro `prinltn` in this scope", "println"),
    (
        "a.rs",
        "fn f(v: Vec<u8>) -> usize {\n    v.<|>lenn<|>()\n}\n",
        "no method named `lenn` found for struct `Vec`",
        "len",
    ),
    (
        "A.java",
        "class A {\n  int f(int count) { return <|>cuont<|>; }\n}\n",
        "cuont cannot be resolved to a variable",
        "count",
    ),
    ("A.java", "class A {\n  <|>Strnig<|> name;\n}\n", "Strnig cannot be resolved to a type", "String"),
    (
        "a.cs",
        "class A { void F(int count) { var x = <|>cuont<|>; } }\n",
        "The name 'cuont' does not exist in the current context",
        "count",
    ),
    (
        "a.php",
        "<?php\nfunction f($values) {\n    return count($<|>valeus<|>);\n}\n",
        "Undefined variable '$valeus'.",
        "values",
    ),
    ("a.php", "<?php\nfunction f($a) {\n    return <|>strln<|>($a);\n}\n", "Undefined function 'strln'.", "strlen"),
    ("a.rb", "def f(values)\n  <|>valeus<|>.sum\nend\n", "undefined local variable or method 'valeus'", "values"),
    ("a.rb", "class A < <|>StandardEror<|>\nend\n", "uninitialized constant StandardEror", "StandardError"),
    ("a.c", "int f(int count) { return <|>cuont<|>; }\n", "use of undeclared identifier 'cuont'", "count"),
    (
        "a.cpp",
        "#include <vector>\nstd::<|>vectro<|><int> v;\n",
        "no member named 'vectro' in namespace 'std'",
        "vector",
    ),
]


@pytest.mark.parametrize(("path", "marked", "message", "right"), NEAREST, ids=[f"{row[0]}-{row[3]}" for row in NEAREST])
async def test_the_nearest_name_is_the_first_repair(path: str, marked: str, message: str, right: str):
    repairs = await make_all_repairs(make_request(path, marked, message))
    before, _, behind = marked.split("<|>")
    assert [text for text, _ in repairs][:1] == [before + right + behind]
    assert all(item.cost > repairs[0][1].cost for _, item in repairs[1:])


NOTHING = [
    # nothing is near
    ("a.py", "def f(values):\n    return <|>quotient<|>\n", "Undefined name `quotient`"),
    # what is near is a local of another function, or stands in a string or a comment
    (
        "a.py",
        "def f():\n    value = 1\n    return value\n\n\ndef g():\n    return <|>valeu<|>\n",
        "Undefined name `valeu`",
    ),
    ("a.py", "# a quantity\nprint('quantity', <|>kwantyti<|>)\n", "Undefined name `kwantyti`"),
    ("a.js", "{ const value = 1; value; }\nfunction g() { return <|>valeu<|>; }\n", "'valeu' is not defined."),
    # one letter for another
    ("a.py", "def f(i):\n    return <|>j<|>\n", "Undefined name `j`"),
    # a variable of PHP is no function, and the other way round
    ("a.php", "<?php\nfunction f($counter) {\n    return <|>countre<|>();\n}\n", "Undefined function 'countre'."),
    # what the message names is not there: the text has changed since
    ("a.py", "value = 1\nprint(<|>value<|>)\n", "Undefined name `valeu`"),
]


@pytest.mark.parametrize(("path", "marked", "message"), NOTHING)
async def test_a_name_that_is_not_near_or_not_in_scope_is_not_proposed(path: str, marked: str, message: str):
    repairs = [item for _, item in await make_all_repairs(make_request(path, marked, message)) if item.cost < 1.4]
    assert repairs == []


AMBIGUOUS = [
    ("a.py", "row = cow = 1\nprint(row, cow)\nprint(<|>tow<|>)\n", "Undefined name `tow`"),
    ("a.py", "item1 = item2 = 1\nprint(item1, item2)\nprint(<|>item<|>)\n", "Undefined name `item`"),
    ("a.ts", "const text = 1, test = 2;\nconsole.log(text, test, <|>tet<|>);\n", "Cannot find name 'tet'."),
    ("a.go", "package p\n\nfunc f(size, side int) int { return size + side + <|>sie<|> }\n", "undefined: sie"),
]


@pytest.mark.parametrize(("path", "marked", "message"), AMBIGUOUS)
async def test_two_names_that_are_as_near_cost_almost_the_same(path: str, marked: str, message: str):
    repairs = await make_all_repairs(make_request(path, marked, message))
    assert len(repairs) > 1
    assert abs(repairs[0][1].cost - repairs[1][1].cost) < 0.1


async def test_a_misspelt_binding_is_repaired_at_the_binding():
    marked = "def f(widht, height):\n    return <|>width<|> * height + width\n"
    [(text, first), *_] = await make_all_repairs(make_request("a.py", marked, "Undefined name `width`"))
    assert text == "def f(width, height):\n    return width * height + width\n"
    assert first.cost < 1


async def test_only_the_place_of_the_finding_is_changed_but_in_c():
    marked = "def f(values):\n    return <|>valeus<|>, valeus\n"
    assert (await make_all_repairs(make_request("a.py", marked, "Undefined name `valeus`")))[0][
        0
    ] == "def f(values):\n    return values, valeus\n"
    marked = "int f(int count) { return <|>cuont<|> + cuont; }\nint cuont_of(int cuont) { return cuont; }\n"
    repairs = await make_all_repairs(make_request("a.c", marked, "'cuont' undeclared (first use in this function)"))
    assert repairs[0][0] == "int f(int count) { return count + count; }\nint cuont_of(int cuont) { return cuont; }\n"


async def test_the_proposal_of_the_tool_comes_first():
    marked = "const text = 1, test = 2;\nconsole.log(text, test, <|>tet<|>);\n"
    [(text, first), (_, second), *_] = await make_all_repairs(
        make_request("a.ts", marked, "Cannot find name 'tet'. Did you mean 'test'?")
    )
    assert text.endswith("test, test);\n")
    assert second.cost - first.cost > 0.3


async def test_an_unused_variable_is_the_more_likely_repair():
    marked = "def f(a):\n    text = a\n    test = a\n    return test, <|>tetx<|>\n"
    [(text, first), *_] = await make_all_repairs(make_request("a.py", marked, "Undefined name `tetx`"))
    assert text.endswith("return test, text\n")
    assert first.cost < 0.8


async def test_the_index_knows_names_of_other_files_of_the_package(tmp_path: Path):
    files = {"p/a.go": "package p\n\nfunc Normalise(x int) int { return x }\n", "p/b.go": "package p\n"}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        marked = "package p\n\nfunc g() int { return <|>Normalsie<|>(1) }\n"
        repairs = await make_all_repairs(make_request("p/b.go", marked, "undefined: Normalsie", index=indexed.query))
    assert repairs[0][0] == "package p\n\nfunc g() int { return Normalise(1) }\n"


async def test_the_index_knows_the_parameters_of_functions_of_other_files(tmp_path: Path):
    files = {"shop.py": "def order(item, *, quantity=1): ...\n", "b.py": ""}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        marked = "from shop import order\n\norder(1, <|>quantitiy<|>=2)\n"
        repairs = await make_all_repairs(
            make_request("b.py", marked, 'No parameter named "quantitiy"', index=indexed.query)
        )
    assert repairs[0][0] == "from shop import order\n\norder(1, quantity=2)\n"


INSTALLED = [
    ("import requests\n\nrequests.get('u', <|>parmas<|>={})\n", 'No parameter named "parmas"', "params"),
    ("from requests import <|>Sesion<|>\n", '"Sesion" is unknown import symbol', "Session"),
    ("import requests\n\nrequests.<|>Sesion<|>()\n", '"Sesion" is not a known attribute of module', "Session"),
]


@pytest.mark.parametrize(("marked", "message", "right"), INSTALLED)
async def test_names_of_installed_packages_are_proposed(tmp_path: Path, marked: str, message: str, right: str):
    install(make_venv(tmp_path), "requests", "2.32.3", REQUESTS)
    repairs = await make_all_repairs(
        make_request("a.py", marked, message, installed=InstalledPackages({}), root=tmp_path)
    )
    before, _, behind = marked.split("<|>")
    assert repairs[0][0] == before + right + behind

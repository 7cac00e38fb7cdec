"""Tests of the repair that adds a missing import, in the style of the file."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request
from tests.index.place import IndexedFolder

LIBRARY = [
    # a module of Python whose member is used: sorted into the group
    (
        "a.py",
        (
            '"""Doc."""\n\nimport os\nimport sys\nfrom typing import Any\n\n\ndef f(x: Any):\n'
            "    return <|>json<|>.dumps(x), os.sep, sys\n"
        ),
        "Undefined name `json`",
        (
            '"""Doc."""\n\nimport json\nimport os\nimport sys\nfrom typing import Any\n\n\ndef f(x: Any):\n'
            "    return json.dumps(x), os.sep, sys\n"
        ),
    ),
    # the first import of a file stands below its docstring, and before what others made
    (
        "a.py",
        '"""Doc."""\n\n\ndef f():\n    return <|>Path<|>(".")\n',
        "Undefined name `Path`",
        '"""Doc."""\n\nfrom pathlib import Path\n\n\ndef f():\n    return Path(".")\n',
    ),
    (
        "a.py",
        "import requests\n\nfrom .x import y\n\nprint(<|>re<|>.sub('a', 'b', y), requests)\n",
        "Undefined name `re`",
        "import re\n\nimport requests\n\nfrom .x import y\n\nprint(re.sub('a', 'b', y), requests)\n",
    ),
    # into the list of its module
    (
        "a.py",
        "from typing import (\n    Any,\n    Union,\n)\n\nx: <|>Optional<|>[Union[Any, int]] = None\n",
        "Undefined name `Optional`",
        "from typing import (\n    Any,\n    Optional,\n    Union,\n)\n\nx: Optional[Union[Any, int]] = None\n",
    ),
    (
        "a.py",
        "from collections import Counter, deque\n\nprint(Counter, deque, <|>defaultdict<|>(list))\n",
        "Undefined name `defaultdict`",
        "from collections import Counter, defaultdict, deque\n\nprint(Counter, deque, defaultdict(list))\n",
    ),
    (
        "a.py",
        "x = <|>urllib<|>.parse.quote('a')\n",
        "Undefined name `urllib`",
        "import urllib.parse\n\nx = urllib.parse.quote('a')\n",
    ),
    # as the file itself imports
    (
        "a.js",
        "const fs = require('fs')\n\nmodule.exports = () => <|>path<|>.join(fs.x, 'y')\n",
        "'path' is not defined.",
        "const fs = require('fs')\nconst path = require('path')\n\nmodule.exports = () => path.join(fs.x, 'y')\n",
    ),
    (
        "a.ts",
        "import fs from 'node:fs';\nimport { z } from './z';\n\nfs.writeFileSync(<|>join<|>('x', z));\n",
        "Cannot find name 'join'.",
        (
            "import fs from 'node:fs';\nimport { join } from 'node:path';\nimport { z } from './z';\n\n"
            "fs.writeFileSync(join('x', z));\n"
        ),
    ),
    (
        "a.tsx",
        'import { useEffect } from "react";\n\nuseEffect(() => {});\nexport const s = () => <|>useState<|>(0);\n',
        "Cannot find name 'useState'.",
        'import { useEffect, useState } from "react";\n\nuseEffect(() => {});\nexport const s = () => useState(0);\n',
    ),
    (
        "a.go",
        (
            'package p\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"example.com/x"\n)\n\n'
            "func f() { fmt.Println(<|>strings<|>.ToUpper(os.Args[0]), x.Y) }\n"
        ),
        "undefined: strings",
        (
            'package p\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n\n\t"example.com/x"\n)\n\n'
            "func f() { fmt.Println(strings.ToUpper(os.Args[0]), x.Y) }\n"
        ),
    ),
    (
        "a.go",
        'package p\n\nimport "fmt"\n\nfunc f() { fmt.Println(<|>errors<|>.New("a")) }\n',
        "undefined: errors",
        'package p\n\nimport (\n\t"errors"\n\t"fmt"\n)\n\nfunc f() { fmt.Println(errors.New("a")) }\n',
    ),
    (
        "a.go",
        "package p\n\nvar x = <|>rand<|>.Intn(3)\n",
        "undefined: rand",
        'package p\n\nimport "math/rand"\n\nvar x = rand.Intn(3)\n',
    ),
    (
        "a.rs",
        "use std::collections::HashSet;\nuse std::fs;\n\nfn f(a: <|>HashMap<|><u8, HashSet<u8>>) { fs::read(a); }\n",
        "cannot find type `HashMap` in this scope",
        (
            "use std::collections::HashMap;\nuse std::collections::HashSet;\nuse std::fs;\n\n"
            "fn f(a: HashMap<u8, HashSet<u8>>) { fs::read(a); }\n"
        ),
    ),
    # an attribute stays with the statement it is of
    (
        "a.rs",
        "// Internal\n#[cfg(test)]\nuse crate::b;\n\nfn f() { <|>fs<|>::read(b); }\n",
        "failed to resolve: use of undeclared crate or module `fs`",
        "// Internal\nuse std::fs;\n#[cfg(test)]\nuse crate::b;\n\nfn f() { fs::read(b); }\n",
    ),
    (
        "a.rs",
        "#[cfg(unix)]\nuse std::path::Path;\nuse std::rc::Rc;\n\nfn f(a: Rc<Path>) { <|>fs<|>::read(a); }\n",
        "failed to resolve: use of undeclared crate or module `fs`",
        "#[cfg(unix)]\nuse std::path::Path;\nuse std::fs;\nuse std::rc::Rc;\n\nfn f(a: Rc<Path>) { fs::read(a); }\n",
    ),
    (
        "a.cs",
        "using System;\nusing System.Text;\nusing Other;\nusing My;\n\nclass A { <|>IList<|><int> b; }\n",
        "The type or namespace name 'IList<>' could not be found (are you missing a using directive?)",
        (
            "using System;\nusing System.Collections.Generic;\nusing System.Text;\nusing Other;\nusing My;\n\n"
            "class A { IList<int> b; }\n"
        ),
    ),
    (
        "A.java",
        (
            "package p;\n\nimport java.util.ArrayList;\nimport java.util.Map;\n\n"
            "class A { <|>List<|><Map> a = new ArrayList<>(); }\n"
        ),
        "List cannot be resolved to a type",
        (
            "package p;\n\nimport java.util.ArrayList;\nimport java.util.List;\nimport java.util.Map;\n\n"
            "class A { List<Map> a = new ArrayList<>(); }\n"
        ),
    ),
    (
        "a.cs",
        "using System;\nusing System.Linq;\n\nclass A { <|>StringBuilder<|> b; }\n",
        "The type or namespace name 'StringBuilder' could not be found (are you missing a using directive?)",
        "using System;\nusing System.Linq;\nusing System.Text;\n\nclass A { StringBuilder b; }\n",
    ),
    (
        "a.php",
        "<?php\n\nnamespace App;\n\nuse App\\B;\n\nnew <|>DateTime<|>(new B());\n",
        "Undefined type 'App\\DateTime'.",
        "<?php\n\nnamespace App;\n\nuse App\\B;\nuse DateTime;\n\nnew DateTime(new B());\n",
    ),
    (
        "a.rb",
        'require "set"\n\n<|>JSON<|>.parse(Set.new)\n',
        "uninitialized constant JSON",
        'require "json"\nrequire "set"\n\nJSON.parse(Set.new)\n',
    ),
    (
        "a.c",
        '#include <stdio.h>\n#include "a.h"\n\nint f(char *s) { return <|>strlen<|>(s); }\n',
        "call to undeclared library function 'strlen'",
        '#include <stdio.h>\n#include <string.h>\n#include "a.h"\n\nint f(char *s) { return strlen(s); }\n',
    ),
    (
        "a.cpp",
        "#include <iostream>\n\nstd::<|>vector<|><int> v;\n",
        "no template named 'vector' in namespace 'std'",
        "#include <iostream>\n#include <vector>\n\nstd::vector<int> v;\n",
    ),
]


@pytest.mark.parametrize(("path", "marked", "message", "after"), LIBRARY, ids=[f"{row[0]}-{row[2]}" for row in LIBRARY])
async def test_modules_of_the_standard_library_are_imported(path: str, marked: str, message: str, after: str):
    repairs = await make_all_repairs(make_request(path, marked, message))
    assert repairs[0][1].kind == "import"
    assert repairs[0][0] == after


NO_IMPORT = [
    # the module has no such member, or nothing of it is used
    ("a.py", "x = <|>json<|>.nothing_of_the_kind\n", "Undefined name `json`"),
    ("a.py", "def f():\n    return <|>token<|>\n", "Undefined name `token`"),
    ("a.go", "package p\n\nvar x = <|>strings<|>.NothingOfTheKind()\n", "undefined: strings"),
    ("a.js", "const x = <|>path<|>;\n", "'path' is not defined."),
    # a member, and a variable of PHP
    ("a.py", "def f(x):\n    return x.<|>dumps<|>(1)\n", 'Cannot access attribute "dumps"'),
    ("a.php", "<?php\nnamespace A;\n\nreturn $<|>DateTime<|>;\n", "Undefined variable '$DateTime'."),
    # not installed, and nobody else uses it
    ("a.py", "x = <|>np<|>.zeros(3)\n", "Undefined name `np`"),
]


@pytest.mark.parametrize(("path", "marked", "message"), NO_IMPORT)
async def test_without_evidence_no_import_is_proposed(path: str, marked: str, message: str):
    repairs = await make_all_repairs(make_request(path, marked, message))
    assert [item for _, item in repairs if item.kind == "import" and item.cost < 0.5] == []


async def test_two_modules_that_export_the_name_are_both_proposed():
    [(first, one), (second, other), *_] = await make_all_repairs(
        make_request("a.py", "x: <|>Iterable<|>[int] = []\n", "Undefined name `Iterable`")
    )
    assert {first.split("\n")[0], second.split("\n")[0]} == {
        "from typing import Iterable",
        "from collections.abc import Iterable",
    }
    assert other.cost - one.cost < 0.2


OTHER_FILE_CASES = [
    (
        {"a.py": "import numpy as np\n"},
        "b.py",
        "x = <|>np<|>.zeros(3)\n",
        "Undefined name `np`",
        "import numpy as np\n\nx = np.zeros(3)\n",
    ),
    (
        {"a.py": "from shop.cart import Cart\n"},
        "b.py",
        "x = <|>Cart<|>()\n",
        "Undefined name `Cart`",
        "from shop.cart import Cart\n\nx = Cart()\n",
    ),
    (
        {"src/a.ts": "import { Cart } from './shop/cart';\n"},
        "src/till/b.ts",
        "import { z } from '../z';\n\nconst c = new <|>Cart<|>(z);\n",
        "Cannot find name 'Cart'.",
        "import { Cart } from '../shop/cart';\nimport { z } from '../z';\n\nconst c = new Cart(z);\n",
    ),
    (
        {"a.go": 'package p\n\nimport "example.com/shop/cart"\n\nvar x = cart.New()\n'},
        "b.go",
        "package p\n\nvar y = <|>cart<|>.New()\n",
        "undefined: cart",
        'package p\n\nimport "example.com/shop/cart"\n\nvar y = cart.New()\n',
    ),
    (
        {"A.java": "import com.shop.Cart;\n\nclass A { Cart c; }\n"},
        "B.java",
        "import java.util.Map;\n\nclass B { <|>Cart<|> c; Map m; }\n",
        "Cart cannot be resolved to a type",
        "import com.shop.Cart;\nimport java.util.Map;\n\nclass B { Cart c; Map m; }\n",
    ),
    (
        {"a.rs": "use crate::shop::Cart;\n\nfn f(c: Cart) {}\n"},
        "b.rs",
        "fn g(c: <|>Cart<|>) {}\n",
        "cannot find type `Cart` in this scope",
        "use crate::shop::Cart;\n\nfn g(c: Cart) {}\n",
    ),
    (
        {"a.php": "<?php\nuse Shop\\Cart;\n\nnew Cart();\n"},
        "b.php",
        "<?php\nnamespace App;\n\nnew <|>Cart<|>();\n",
        "Undefined type 'App\\Cart'.",
        "<?php\nnamespace App;\n\nuse Shop\\Cart;\n\nnew Cart();\n",
    ),
]


@pytest.mark.parametrize(
    ("files", "path", "marked", "message", "after"), OTHER_FILE_CASES, ids=[row[1] for row in OTHER_FILE_CASES]
)
async def test_a_name_is_imported_in_the_way_of_other_files(
    files: dict[str, str], path: str, marked: str, message: str, after: str, tmp_path: Path
):
    with closing(IndexedFolder(tmp_path, {**files, path: ""})) as indexed:
        repairs = await make_all_repairs(make_request(path, marked, message, index=indexed.query))
    assert repairs[0][0] == after

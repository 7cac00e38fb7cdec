"""Which file an import means, language by language."""

import gc
import sys

import pytest

from lsp_harness.index.builder.import_links import ImportLinks


def make_import_links(files: dict[str, str] | list[str]) -> ImportLinks:
    texts = files if isinstance(files, dict) else dict.fromkeys(files, "")
    return ImportLinks(texts, lambda path: texts[path])


PYTHON = [
    *("src/shop/__init__.py", "src/shop/cart.py", "src/shop/money/__init__.py", "src/shop/money/rates.py"),
    *(
        "tests/test_cart.py",
        "tests/helpers.py",
        "cart.py",
        "tools/deep/er/only.py",
        "a/deep/twice.py",
        "b/deep/twice.py",
    ),
]


@pytest.mark.parametrize(
    ("path", "module", "name", "expected"),
    [
        ("src/shop/cart.py", ".money", "", ["src/shop/money/__init__.py"]),
        ("src/shop/cart.py", ".money", "rates", ["src/shop/money/rates.py"]),
        ("src/shop/cart.py", ".", "money", ["src/shop/money/__init__.py"]),
        ("src/shop/cart.py", ".", "SOMETHING", ["src/shop/__init__.py"]),
        ("src/shop/money/rates.py", "..cart", "Cart", ["src/shop/cart.py"]),
        ("src/shop/money/rates.py", "..", "cart", ["src/shop/cart.py"]),
        ("src/shop/cart.py", "shop.money.rates", "*", ["src/shop/money/rates.py"]),
        ("tests/test_cart.py", "shop.cart", "Cart", ["src/shop/cart.py"]),
        ("tests/test_cart.py", "shop", "cart", ["src/shop/cart.py"]),
        ("tests/test_cart.py", "helpers", "", ["tests/helpers.py"]),
        ("tests/test_cart.py", "cart", "", ["cart.py"]),
        ("tests/test_cart.py", "deep.er.only", "", ["tools/deep/er/only.py"]),
        ("tests/test_cart.py", "deep.twice", "", []),
        ("tests/test_cart.py", "os.path", "join", []),
        ("tests/test_cart.py", "money", "", []),
    ],
)
def test_a_python_import_leads_to_its_files(path: str, module: str, name: str, expected: list[str]):
    assert make_import_links(PYTHON).find_targets(path, "python", module, name) == expected


SCRIPTS = {
    "tsconfig.json": (
        '{ // paths\n "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["web/*"], "config": ["web/conf.ts"]},} }'
    ),
    "packages/ui/package.json": '{"name": "@acme/ui"}',
    **dict.fromkeys(
        [
            *(
                "web/app.ts",
                "web/conf.ts",
                "web/parts/index.tsx",
                "web/parts/button.tsx",
                "web/old.js",
                "web/types.d.ts",
            ),
            *("packages/ui/src/index.ts", "packages/ui/src/theme.ts", "button.tsx"),
        ],
        "",
    ),
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("./parts", ["web/parts/index.tsx"]),
        ("./parts/button", ["web/parts/button.tsx"]),
        ("./parts/button.js", ["web/parts/button.tsx"]),
        ("./conf.js", ["web/conf.ts"]),
        ("./old.js", ["web/old.js"]),
        ("./types", ["web/types.d.ts"]),
        ("../button", ["button.tsx"]),
        ("@/parts/button", ["web/parts/button.tsx"]),
        ("config", ["web/conf.ts"]),
        ("@acme/ui", ["packages/ui/src/index.ts"]),
        ("@acme/ui/theme", ["packages/ui/src/theme.ts"]),
        ("react", []),
        ("button", []),
    ],
)
def test_a_typescript_import_leads_to_its_files(module: str, expected: list[str]):
    assert make_import_links(SCRIPTS).find_targets("web/app.ts", "typescript", module, "x") == expected


def test_a_go_import_means_all_files_of_a_package_but_its_tests():
    files = {
        "go.mod": "module example.org/shop\n",
        "cart/a.go": "",
        "cart/b.go": "",
        "cart/a_test.go": "",
        "main.go": "",
    }
    assert make_import_links(files).find_targets("main.go", "go", "example.org/shop/cart", "") == [
        "cart/a.go",
        "cart/b.go",
    ]
    assert make_import_links(files).find_targets("cart/a.go", "go", "example.org/shop", "") == ["main.go"]
    assert make_import_links(files).find_targets("main.go", "go", "fmt", "") == []


RUST = {
    "core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "app/Cargo.toml": '[package]\nversion = "1"\nname = "app"\n',
    **dict.fromkeys(
        [
            "core/src/lib.rs",
            "core/src/money.rs",
            "app/src/main.rs",
            "app/src/cart/mod.rs",
            "app/src/cart/item.rs",
            "app/src/ui.rs",
        ],
        "",
    ),
}


def test_a_crate_with_another_first_file_is_found():
    files = {
        "Cargo.toml": '[package]\nname = "all"\n[[bin]]\npath = "crates/core/main.rs"\n',
        **dict.fromkeys(["crates/core/main.rs", "crates/core/flags/mod.rs", "crates/core/flags/low.rs"], ""),
    }
    assert make_import_links(files).find_targets("crates/core/flags/low.rs", "rust", "crate::flags", "Flag") == [
        "crates/core/flags/mod.rs"
    ]


@pytest.mark.parametrize(
    ("path", "module", "name", "expected"),
    [
        ("app/src/main.rs", "cart", "", ["app/src/cart/mod.rs"]),
        ("app/src/ui.rs", "crate::cart", "Cart", ["app/src/cart/mod.rs"]),
        ("app/src/ui.rs", "crate::cart::item", "Item", ["app/src/cart/item.rs"]),
        ("app/src/ui.rs", "crate", "main", ["app/src/main.rs"]),
        ("app/src/cart/item.rs", "super", "Cart", ["app/src/cart/mod.rs"]),
        ("app/src/cart/mod.rs", "self::item", "Item", ["app/src/cart/item.rs"]),
        ("app/src/main.rs", "shop_core::money", "Rate", ["core/src/money.rs"]),
        ("app/src/main.rs", "shop_core", "Thing", ["core/src/lib.rs"]),
        ("app/src/main.rs", "std::collections", "HashMap", []),
    ],
)
def test_a_rust_import_leads_to_its_files(path: str, module: str, name: str, expected: list[str]):
    assert make_import_links(RUST).find_targets(path, "rust", module, name) == expected


@pytest.mark.parametrize(
    ("path", "language", "module", "name", "expected"),
    [
        ("a/src/main/java/x/App.java", "java", "x.y.Cart", "", ["a/src/main/java/x/y/Cart.java"]),
        ("a/src/main/java/x/App.java", "java", "x.y.Cart.LIMIT", "", ["a/src/main/java/x/y/Cart.java"]),
        ("a/src/main/java/x/App.java", "java", "x.y", "*", ["a/src/main/java/x/y/Cart.java"]),
        ("a/src/main/java/x/App.java", "java", "java.util.List", "", []),
        ("lib/main.c", "c", "util.h", "", ["lib/util.h"]),
        ("lib/main.c", "c", "<shop/cart.h>", "", ["include/shop/cart.h"]),
        ("lib/main.c", "c", "<stdio.h>", "", []),
        ("bin/run.rb", "ruby", "shop/cart", "", ["lib/shop/cart.rb"]),
        ("lib/shop/cart.rb", "ruby", "item", "", ["lib/shop/item.rb"]),
        ("bin/run.rb", "ruby", "json", "", []),
        ("app/Http/Page.php", "php", "App\\Models\\Cart", "", ["app/Models/Cart.php"]),
        ("app/Http/Page.php", "php", "App\\Models", "Cart", ["app/Models/Cart.php"]),
        ("app/Http/Page.php", "php", "../Models/Cart.php", "", ["app/Models/Cart.php"]),
        ("app/Http/Page.php", "php", "Other\\Thing", "", []),
        ("game/main.lua", "lua", "game.cart", "", ["game/cart.lua"]),
        ("run.sh", "bash", "./lib.sh", "", ["lib.sh"]),
        ("Program.cs", "csharp", "System", "", []),
    ],
)
def test_an_import_of_another_language_leads_to_its_files(
    path: str, language: str, module: str, name: str, expected: list[str]
):
    files = [
        *(
            "a/src/main/java/x/App.java",
            "a/src/main/java/x/y/Cart.java",
            "lib/main.c",
            "lib/util.h",
            "include/shop/cart.h",
        ),
        *("bin/run.rb", "lib/shop/cart.rb", "lib/shop/item.rb", "app/Http/Page.php", "app/Models/Cart.php"),
        *("game/main.lua", "game/cart.lua", "run.sh", "lib.sh", "Program.cs", "b/src/stdio.hpp"),
    ]
    assert make_import_links(files).find_targets(path, language, module, name) == expected


def test_settings_that_are_no_json_are_ignored():
    files = {"tsconfig.json": "{", "package.json": "[1]", "a.ts": "", "b.ts": ""}
    assert make_import_links(files).find_targets("a.ts", "typescript", "./b", "") == ["b.ts"]
    assert make_import_links(files).find_targets("a.ts", "typescript", "b", "") == []


def test_a_csharp_import_means_the_files_that_declare_the_namespace():
    result = make_import_links(["a.cs", "b.cs", "c.cs"])
    result.find_namespace_files = lambda name: {"Shop.Money": ["c.cs", "b.cs", "a.cs"]}.get(name, [])
    assert result.find_targets("a.cs", "csharp", "Shop.Money", "") == ["b.cs", "c.cs"]
    # `using static Shop.Money.Rate`
    assert result.find_targets("a.cs", "csharp", "Shop.Money.Rate", "") == ["b.cs", "c.cs"]
    assert result.find_targets("a.cs", "csharp", "System", "") == []


def test_an_ambiguous_include_means_the_nearest_file():
    result = make_import_links(["a/x/util.h", "b/x/util.h", "b/y/main.c", "a/z/main.c", "main.c"])
    for _ in range(2):
        assert result.find_targets("b/y/main.c", "c", "x/util.h", "") == ["b/x/util.h"]
        assert result.find_targets("a/z/main.c", "c", "x/util.h", "") == ["a/x/util.h"]
        assert result.find_targets("main.c", "c", "x/util.h", "") == []


def count_calls(links: ImportLinks, language: str, module: str) -> int:
    """Return how many functions are called until an import is known to mean no file."""
    result = 0

    def count(frame: object, event: str, of: object) -> None:
        nonlocal result
        result += event in ("call", "c_call")

    # what others have left is not thrown away meanwhile: that calls functions, too
    gc.disable()
    sys.setprofile(count)
    try:
        targets = links.find_targets("main", language, module, "")
    finally:
        sys.setprofile(None)
        gc.enable()
    assert targets == []
    return result


@pytest.mark.parametrize(
    ("language", "file", "text", "first", "then"),
    [
        ("python", "p{n}/__init__.py", "", "django.db.models", "django.db.fields"),
        ("python", "p{n}/models/__init__.py", "", "django.db.models", "django.db.models"),
        ("python", "p{n}/db/models.py", "", "django.db.models", "django.db.models"),
        ("java", "p{n}/q/A.java", "", "java.util.List", "java.util.Map"),
        ("java", "p{n}/util/A.java", "", "java.lang", "java.util"),
        ("php", "p{n}/index.php", "", "A\\B\\index", "A\\C\\index"),
        ("typescript", "p{n}/package.json", '{{"name": "p{n}"}}', "react", "vue/x"),
        ("go", "p{n}/go.mod", "module p{n}", "fmt", "net/http"),
        ("c", "p{n}/config.h", "", "a/config.h", "b/config.h"),
    ],
)
def test_a_module_that_is_not_here_is_not_looked_for_everywhere(
    language: str, file: str, text: str, first: str, then: str
):
    few, many = (make_import_links({file.format(n=n): text.format(n=n) for n in range(count)}) for count in (10, 300))
    for result in (few, many):
        result.find_targets("main", language, first, "")
    assert count_calls(few, language, then) == count_calls(many, language, then)


def test_a_string_of_json_that_is_never_closed_is_read_once():
    files = {
        "tsconfig.json": '{"' + '\\"' * 200_000,
        "package.json": '{"name": "@a/b"} // "',
        "src/c.ts": "",
        "d.ts": "",
    }
    assert make_import_links(files).find_targets("d.ts", "typescript", "@a/b/c", "") == ["src/c.ts"]

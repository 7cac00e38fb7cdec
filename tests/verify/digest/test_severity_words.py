"""Tests of compilers that speak other languages, and of errors without a place."""

import pytest

from lsp_harness.verify.digest.digest import digest_output


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("Warnung: ", "warning"), ("Fehler: ", "error"), ("schwerwiegender Fehler: ", "error"),
        ("Anmerkung: ", "information"), ("attention\u00a0: ", "warning"), ("erreur : ", "error"),
        ("erreur fatale : ", "error"), ("avertissement: ", "warning"), ("note\u202f: ", "information"),
        ("警告: ", "warning"), ("エラー: ", "error"), ("致命的エラー: ", "error"), ("備考: ", "information"),
        ("aviso: ", "warning"), ("error fatal: ", "error"), ("nota: ", "information"), ("advertencia: ", "warning"),
        ("attenzione: ", "warning"), ("errore: ", "error"), ("警告：", "warning"), ("错误：", "error"),
        ("附注：", "information"), ("предупреждение: ", "warning"), ("ошибка: ", "error"),
        ("замечание: ", "information"),
        ("ostrzeżenie: ", "warning"), ("경고: ", "warning"), ("오류: ", "error"),
        ("anm: ", "information"), ("bemærk: ", "information"), ("зауваження: ", "information"),
        ("napomena: ", "information"), ("upozorenje: ", "warning"), ("UYARI: ", "warning"), ("vakava virhe: ", "error"),
        ("lỗi nghiêm trọng: ", "error"), ("コンパイラ内部エラー: ", "error"), ("sorry, unimplemented: ", "error"),
        ("nicht implementiert: ", "error"), ("error irrecuperable: ", "error"),
    ],
)  # fmt: skip
def test_the_word_is_no_part_of_the_message(word: str, severity: str):
    assert digest_output(f"p/a.c:3:12: {word}»y« x\n").lines(5) == [f"p/a.c:3:12: {severity}: »y« x"]


def test_a_word_that_is_not_in_the_table():
    lines = digest_output("p/a.c:3:12: Wernong: de y [-Wunused-variable]\np/a.c:4:1: Wat: x\n").lines(5)
    assert lines == ["p/a.c:4:1: error: Wat: x", "p/a.c:3:12: warning: de y [-Wunused-variable]"]
    assert digest_output("p/a.c:3:12: Fehler: x [-Werror=unused]\n").lines(5) == [
        "p/a.c:3:12: error: x [-Werror=unused]"
    ]


def test_japanese_output_of_javac_is_read():
    text = "A.java:1: エラー: シンボルを見つけられません\nclass A { int f() { return smu; } }\n" + " " * 27
    text += "^\n  シンボル:   変数 smu\n  場所: クラス A\nエラー1個\n"
    assert digest_output(text).lines(5) == ["A.java:1:28: error: シンボルを見つけられません: 変数 `smu`"]


def test_german_output_of_tsc_is_read():
    text = "src/a.ts(3,7): error TS2322: Der Typ „string“ kann dem Typ „number“ nicht zugewiesen werden.\n"
    assert digest_output(text).lines(5)[0].endswith("nicht zugewiesen werden. [TS2322]")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "a.cpp(12,5): error C2065: 'x': undeclared [C:\\p\\a.vcxproj]\n",
            "a.cpp:12:5: error: 'x': undeclared [C2065]",
        ),
        ("A.cs(3,1): warning CS0168: unused [/p/a.csproj]\n", "A.cs:3:1: warning: unused [CS0168]"),
        ("a.c:(.text+0x9): undefined reference to `foo'\n", "a.c: error: undefined reference to `foo'"),
        ("a.c:(.text+0x9): Nicht definierter Verweis auf »f«\n", "a.c: error: Nicht definierter Verweis auf »f«"),
        ("d.c:(.text+0x5)\u00a0: référence indéfinie vers « f »\n", "d.c: error: référence indéfinie vers « f »"),
        ("collect2: Fehler: ld gab 1 zurück\n", "error: ld gab 1 zurück"),
        ("CMake Error at CMakeLists.txt:3 (add):\n  No such target.\n\n", "CMakeLists.txt:3: error: No such target."),
        ("CMake Warning (dev) at a/b.cmake:3 (add):\n  Old.\n", "a/b.cmake:3: warning: Old."),
        ("[INFO] x\n[ERROR] /p/A.java:[3,9] cannot find x\n", "/p/A.java:3:9: error: cannot find x"),
        ("[INFO] x\n[ERROR] No plugin found\n", "error: No plugin found"),
        ("make: *** [Makefile:3: all] Fehler 2\n", "error: [Makefile:3: all] Fehler 2"),
        ("error: no such thing\n", "error: no such thing"),
        ("ERROR: No matching distribution found for nopkg\n", "error: No matching distribution found for nopkg"),
        ("  × No solution found when resolving\n", "error: No solution found when resolving"),
        ("sh: 1: vitest: not found\n", "error: sh: 1: vitest: not found"),
        ("bash: line 3: gox: command not found\n", "error: bash: line 3: gox: command not found"),
        ("Segmentation fault (core dumped)\n", "error: Segmentation fault (core dumped)"),
        (
            "/p/eslint.config.js:1\nx=[{;\n   ^\n\nSyntaxError: Unexpected token ';'\n    at wrap (node:a:1:18)\n",
            "/p/eslint.config.js:1: error: Unexpected token ';'",
        ),
        (
            "TypeError: x is not a function\n    at run (/p/src/a.js:3:5)\n    at node:internal/x:1:1\n",
            "/p/src/a.js:3:5: error: x is not a function",
        ),
    ],
)
def test_errors_in_other_forms_are_read(text: str, line: str):
    assert digest_output(f"some words\n{text}").lines(5) == [line]


def test_the_last_line_of_a_compiler_is_not_counted_again():
    assert digest_output("a.c:3:5: error: x\ncollect2: error: ld returned 1 exit status\n").lines(5) == [
        "a.c:3:5: error: x"
    ]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            (
                "error: no matching package named `anyhow` found\nlocation searched: crates.io index\n"
                "required by package `calc v0.1.0 (/p)`\nAs a reminder, you're using offline mode\n"
            ),
            "error: no matching package named `anyhow` found; location searched: crates.io index; required by package",
        ),
        (
            (
                "    Updating crates.io index\nerror: failed to select a version for `serde`.\n    ... required "
                "by package `a`\n"
            ),
            "error: failed to select a version for `serde`. ... required by package `a`",
        ),
        (
            (
                "error: failed to parse manifest at `/p/Cargo.toml`\n\nCaused by:\n  no targets specified in "
                "the manifest\n"
            ),
            "/p/Cargo.toml: error: failed to parse manifest at `/p/Cargo.toml`; no targets specified in the manifest",
        ),
        (
            "error: unclosed table, expected `]`\n --> Cargo.toml:7:14\n  |\n7 | [dependencies\n  |              ^\n",
            "Cargo.toml:7:14: error: unclosed table, expected `]`",
        ),
        (
            "error: could not find `Cargo.toml` in `/p` or any parent directory\n",
            "error: could not find `Cargo.toml` in `/p` or any parent directory",
        ),
    ],
)
def test_an_error_of_the_resolver_of_cargo_is_one_problem(text: str, start: str):
    digest = digest_output(text)
    assert digest.tool == "cargo"
    assert len(digest.problems) == 1
    assert digest.lines(5)[0].startswith(start)
    assert digest_output(f"All checks passed!\n{text}").problems


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            (
                "npm error code E404\nnpm error 404 Not Found - GET https://host/nopkg\nnpm error 404\n"
                "npm error 404  'nopkg@*' is not in this registry.\nnpm error A complete log of this run "
                "can be found in: /x\n"
            ),
            "error: Not Found - GET https://host/nopkg; 'nopkg@*' is not in this registry. [E404]",
        ),
        (
            (
                "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! \n"
                "npm ERR! While resolving: a@1.0.0\n"
            ),
            "error: unable to resolve dependency tree; While resolving: a@1.0.0 [ERESOLVE]",
        ),
        ('npm error Missing script: "tset"\n', 'error: Missing script: "tset"'),
        (
            " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@99\n",
            "error: No matching version found for left-pad@99 [ERR_PNPM_NO_MATCHING_VERSION]",
        ),
    ],
)
def test_an_error_of_a_package_manager_is_one_problem(text: str, line: str):
    digest = digest_output(f"some words\n{text}")
    assert digest.lines(5) == [line]
    assert digest.tool == "npm"


def test_a_failed_script_of_npm_counts_only_without_another_problem():
    digest = digest_output("src/a.ts(3,7): error TS2322: no\nnpm error Lifecycle script `test` failed with error:\n")
    assert digest.tool == "tsc"
    assert len(digest.problems) == 1
    assert digest_output("npm error Lifecycle script `test` failed with error:\n").problems
    assert digest_output("\nadded 5 packages, and audited 6 packages in 1s\n").summary == "npm: no problems"

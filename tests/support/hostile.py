"""Texts that are hard to parse, or whose columns and lines are hard to count. A seed makes the same texts each time."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LARGE = 1_900_000
"""Bytes, just below the largest text that is parsed."""

NESTS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "python": (("x = ", "(", "1", ")"), ("x = ", "[", "", "]"), ("x = ", "{1: ", "2", "}"), ("f", "(a, ", "b", ")")),
    "javascript": (
        ("x = ", "[", "", "]"),
        ("", "function f() {", "", "}"),
        ("x = ", "(a) => ", "1", ""),
        ("`", "${`", "", "`}"),
    ),
    "typescript": (("let x: ", "A<", "b", ">"), ("", "if (x) {} else ", "{}", ""), ("x = ", "{a: ", "1", "}")),
    "typescriptreact": (("x = ", "<div>", "", "</div>"), ("x = ", "<a b={", "1", "}/>")),
    "go": (("package m\nvar x = ", "[]", "int{}", ""), ("package m\nfunc f() ", "{", "", "}")),
    "rust": (("fn f() ", "{", "", "}"), ("type A = ", "Vec<", "u8", ">"), ("", "/* ", "", "*/")),
    "java": (("class A { int x = ", "(", "1", ")"), ("", "class A {", "", "}")),
    "c": (("int x = ", "(", "1", ")"), ("", "#ifdef A\n", "int x;\n", "#endif\n"), ("int x[] = ", "{", "1", "}")),
    "cpp": (("", "A<", "int", ">"), ("", "namespace a {", "", "}"), ("auto x = ", "[]{ return ", "1", "; }")),
    "csharp": (("class A { ", "List<", "int", ">"), ("", "namespace A {", "", "}")),
    "ruby": (("x = ", "[", "", "]"), ("", "def f\n", "", "end\n"), ('x = "', '#{"', "", '"}')),
    "php": (("<?php $x = ", "[", "", "]"), ("<?php ", "if (1) {", "", "}")),
    "shellscript": (("x=", "$(", "echo", ")"), ("", "if true; then\n", ":\n", "fi\n")),
    "lua": (("x = ", "{", "", "}"), ("", "do ", "", " end")),
    "json": (("", "[", "", "]"), ("", '{"a":', "1", "}")),
    "yaml": (("", "- ", "a", ""), ("", "[", "", "]"), ("", "? ", "a", "")),
    "toml": (("x = ", "[", "", "]"), ("x = ", "{a = ", "1", "}")),
    "html": (("", "<div>", "", "</div>"), ("", "<b><p>", "", "")),
    "css": (("", "a {", "b: c", "}"), ("", "@media x {", "", "}")),
    "markdown": (("", "> ", "x", ""), ("", "- ", "x", ""), ("", "[", "a", "](b)")),
}
"""Language → the nests, each as the text before it, its opening, its content and its closing."""
EXTENSIONS = {
    "python": "py", "javascript": "js", "typescript": "ts", "typescriptreact": "tsx", "go": "go", "rust": "rs",
    "java": "java", "c": "c", "cpp": "cpp", "csharp": "cs", "ruby": "rb", "php": "php", "shellscript": "sh",
    "lua": "lua", "json": "json", "yaml": "yml",
    "toml": "toml", "html": "html", "css": "css", "markdown": "md", "plaintext": "txt",
}  # fmt: skip
SIGNS = "()[]{}<>\"'`#/\\*%$&@!?;:,.|~^+-=_"


@dataclass(frozen=True, slots=True)
class HostileText:
    """A text that is hard to parse. `kind` is the row of the table that it counts for."""

    kind: str
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"hostile.{EXTENSIONS[self.language]}"


Make = Callable[[random.Random, str], str]


def make_nested_text(rng: random.Random, language: str) -> str:
    before, opens, within, closes = rng.choice(NESTS[language])
    depth = rng.choice((200, 1_000, 5_000, 20_000))
    return before + opens * depth + within + rng.choice((closes * depth, "", closes * (depth // 2))) + "\n"


def make_indented_text(rng: random.Random, language: str) -> str:
    line = {"python": "if x:\n", "yaml": "a:\n", "html": "<p>\n", "ruby": "if x\n"}.get(language, "{\n")
    return "".join(" " * n + line for n in range(rng.choice((250, 1_000, 1_700))))


def make_one_line(rng: random.Random, language: str) -> str:
    _, opens, within, closes = rng.choice(NESTS[language])
    unit = rng.choice((f"{opens}{within}{closes};", "f(x,1);", '"abc",', "a+", "word "))
    return rng.choice(("", "é", "😀")) + unit * (rng.choice((20_000, 200_000, LARGE)) // len(unit))


def make_text_without_blanks(rng: random.Random, language: str) -> str:
    letters = SIGNS + "abcxyz0123456789" * rng.choice((1, 4))
    return "".join(rng.choices(letters, k=rng.choice((2_000, 20_000, 200_000))))


def make_text_of_signs(rng: random.Random, language: str) -> str:
    few = rng.sample([*SIGNS, "->", "<!--", "=>", "${", "%w[", "> - ", "::", "\n", " ", "ab"], k=rng.randint(1, 5))
    return "".join(rng.choice(few) * rng.randint(1, 80) for _ in range(rng.choice((40, 200, 1_000))))


def make_binary_text(rng: random.Random, language: str) -> str:
    size = rng.choice((4_000, 40_000, 400_000))
    text = bytes(rng.choices(range(256), k=size)).decode("utf-8", "replace")
    # without a NUL it does not look like a binary at once
    return text if rng.random() < 0.3 else text.replace("\0", "\x01")


def make_text_with_conflicts(rng: random.Random, language: str) -> str:
    _, opens, within, closes = rng.choice(NESTS[language])
    part = f"{opens}{within}{closes}\nfunction f(a) {{ return a }}\n"
    return "".join(
        f"<<<<<<< HEAD\n{part}=======\n{part}{n}\n>>>>>>> other\n" for n in range(rng.choice((50, 800, 3_000)))
    )


def make_half_written_text(rng: random.Random, language: str) -> str:
    start = rng.choice(('"""\n', "/* \n", "(\n", "{\n", "def f(\n", "`\n", "<<EOF\n", "<!--\n", "'\n"))
    return start + "".join(f"function f{n}(a) {{\n    return a + {n}\n}}\n" for n in range(rng.choice((300, 3_000))))


def make_foreign_text(rng: random.Random, language: str) -> str:
    lines: tuple[Callable[[int], str], ...] = (
        lambda n: f'{n},"name {n}",{n / 7:.4f},2024-01-0{n % 9 + 1}\n',
        lambda n: f'2024-01-01T00:00:0{n % 9}Z INFO [worker-{n}] GET /a/b?id={n} took {n % 100}ms "ok\n',
        lambda n: "    " + ", ".join(f"0x{rng.getrandbits(32):08x}" for _ in range(4)) + ",\n",
        lambda n: f"INSERT INTO t (a, b) VALUES ({n}, 'it''s {n}');\n",
    )
    line = rng.choice(lines)
    return "".join(line(n) for n in range(rng.choice((500, 5_000, 16_000))))


def make_huge_text(rng: random.Random, language: str) -> str:
    line: Callable[[int], str] = rng.choice(
        (lambda n: f"x{n} = {n};\n", lambda n: f'x{n} = "é{n}"; # 😀\n', lambda n: f"f{n}(a) {{ return {n} }}\n")
    )
    lines = [line(n) for n in range(LARGE // 20)]
    return "".join(lines)[:LARGE]


KINDS: dict[str, Make] = {
    "deep nesting": make_nested_text,
    "deep indentation": make_indented_text,
    "one line": make_one_line,
    "no whitespace": make_text_without_blanks,
    "signs only": make_text_of_signs,
    "binary-like": make_binary_text,
    "conflict markers": make_text_with_conflicts,
    "half written": make_half_written_text,
    "another language": make_foreign_text,
    "2 MB": make_huge_text,
}


def make_hostile_texts(count: int, seed: int) -> Iterator[HostileText]:
    """Yield `count` texts, of each kind and each language in turn."""
    languages = list(NESTS)
    for n in range(count):
        rng = random.Random(f"{seed} {n}")
        kind = list(KINDS)[n % len(KINDS)]
        language = languages[(n // len(KINDS) + n) % len(languages)]
        yield HostileText(kind, language, KINDS[kind](rng, language))


def make_hostile_cases(seed: int) -> Iterator[HostileText]:
    """Yield the texts that once stopped the server, or took seconds for each key."""
    rng = random.Random(seed)

    def numbers(lines: int) -> str:
        return "".join(
            "    " + ", ".join(f"0x{rng.getrandbits(32):08x}" for _ in range(4)) + ",\n" for _ in range(lines)
        )

    yield HostileText("table of numbers, 208 kB", "c", "// table\n" + numbers(4_000))
    yield HostileText("table of numbers, 832 kB", "c", "// table\n" + numbers(16_000))
    yield HostileText("table in braces, 832 kB", "c", "unsigned t[] = {\n" + numbers(16_000) + "};\n")
    yield HostileText("one line, 1.9 MB", "javascript", "var e=1;" + "f(x,1);" * (LARGE // 7))
    yield HostileText("one line and an emoji, 1.9 MB", "javascript", 'var e="😀";' + "f(x,1);" * (LARGE // 7))
    yield HostileText("one line and an emoji, 1.9 MB", "json", '["😀",' + '"abc",' * (LARGE // 6) + "1]")
    yield HostileText("one line and an emoji, 1.9 MB", "plaintext", "😀" + "abc def " * (LARGE // 8))
    yield HostileText("60,000 lines, 1.3 MB", "python", "".join(f'x{n} = "é{n}"  # 😀\n' for n in range(60_000)))
    yield HostileText(
        "wide paragraphs, 1.9 MB", "markdown", "# é\n" + "word " * 100 + "\n" + ("text 😀 " * 20 + "\n") * 9_000
    )
    yield HostileText("3 MB", "python", "".join(f"x{n} = {n}\n" for n in range(220_000)))
    yield HostileText("20 MB", "plaintext", "2024 info line\n" * 1_300_000)
    for language, opens, closes, depth in (
        ("python", "x = " + "(", ")", 100_000), ("python", "x = " + "[", "]", 50_000), ("python", "x = (", "", 20_000),
        ("javascript", "function f() {", "}", 3_000), ("json", "[", "]", 50_000), ("c", "int x = (", ")", 50_000),
        ("cpp", "A<", ">", 3_000), ("html", "<div>", "</div>", 20_000), ("php", "<?php $x = [", "]", 20_000),
        ("ruby", "x = [", "]", 20_000), ("rust", "fn f() {", "}", 5_000),
        ("typescriptreact", "x = <div>", "</div>", 3_000),
    ):  # fmt: skip
        head, sign = opens[: -len(opens.split(" ")[-1])], opens.split(" ")[-1]
        yield HostileText("deep nesting, named", language, head + sign * depth + closes * depth + "\n")
    yield HostileText("deep nesting, named", "python", "x = " + " + ".join(["1"] * 50_000) + "\n")
    yield HostileText("deep nesting, named", "python", "".join(" " * n + "if x:\n" for n in range(1_500)))
    yield HostileText("deep nesting, named", "yaml", "".join(" " * n + "a:\n" for n in range(2_000)))
    yield HostileText("deep nesting, named", "markdown", ">" * 5_000 + " x\n")
    for language in ("python", "javascript", "typescript", "rust", "csharp", "php", "ruby", "go", "css", "shellscript"):
        yield HostileText(
            "half written, named", language, make_half_written_text(random.Random(f"{seed} {language}"), language)
        )
        yield HostileText(
            "another language, named", language, make_foreign_text(random.Random(f"{seed} {language}"), language)
        )
        yield HostileText(
            "conflict markers, named", language, make_text_with_conflicts(random.Random(f"{seed} {language}"), language)
        )

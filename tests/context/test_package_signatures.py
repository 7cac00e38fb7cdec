"""Signatures of the packages that the code to change uses."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, InstructionInputs, PackageScope
from lsp_harness.context.prompt_budget import PromptBudget
from lsp_harness.context.sources.package_signature_source import PackageSignatureSource, shorten_signature
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.source_call import read_fragments
from tests.knowledge.packages import REQUESTS, SITE, install, make_venv, write

CODE = "import os\nimport requests\nimport web\n\n\ndef load(url):\n    %s\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    site = make_venv(tmp_path)
    install(site, "requests", "2.32.3", REQUESTS)
    install(site, "web", "1.0", {"web.py": 'def serve(port: int = 80) -> None:\n    """Serves. For ever."""\n'})
    return tmp_path


async def find_signatures(root: Path, body: str, budget: int = 1000, code: str = CODE):
    document = Document.from_text((root / "a.py").as_uri(), code % body)
    start = document.data.index(b"def load")
    return await find_signature_fragments(
        root, CodeSelection(document, None, Span(start, len(document.data)), "a.py"), budget
    )


async def find_signature_fragments(root: Path, code: CodeSelection, budget: int):
    packages = PackageScope(InstalledPackages({}), root, root / "a.py")
    read = InstructionInputs(code, PromptBudget(Context()), count, packages=packages)
    return await read_fragments(PackageSignatureSource, read, budget)


GET = "# requests 2.32.3 has\nget(url, params=None, **kwargs)  # Sends a GET request.\n"


async def test_a_fragment_has_a_signature_and_a_sentence_by_package_and_version(root: Path):
    body = "web.serve(requests.get(url).status)\n    return os.path.join(url, requests.utils.quote(url))"
    fragments = await find_signatures(root, body)
    assert [(fragment.origin, fragment.reason) for fragment in fragments] == [
        ("web 1.0", "documents what is used here"),
        ("requests 2.32.3", "documents what is used here"),
    ]
    assert [fragment.text for fragment in fragments] == [
        "# web 1.0 has\nserve(port: int = 80) -> None  # Serves\n",
        GET + "utils.quote(value)\n",
    ]


async def test_missing_names_of_a_package_are_listed(root: Path):
    [fragment] = await find_signatures(root, "return requests.fetch(url)")
    assert fragment.text == "# requests 2.32.3 has\n# no fetch; it has: patch(url, data=None, **kwargs)\n"


async def test_sentences_are_left_out_before_names_and_no_line_is_cut(root: Path):
    body = "return requests.get(url), requests.Session(3), web.serve()"
    complete = await find_signatures(root, body)
    assert [len(fragment.text.splitlines()) for fragment in complete] == [3, 2]
    lines = {
        part
        for fragment in complete
        for line in fragment.text.splitlines()
        for part in (line, line.partition("  #")[0])
    }
    cost = sum(fragment.tokens for fragment in complete)
    shortened = 0
    for budget in range(cost + 1):
        fragments = await find_signatures(root, body, budget)
        assert sum(fragment.tokens for fragment in fragments) <= budget
        assert [fragment.tokens for fragment in fragments] == await count([fragment.text for fragment in fragments])
        assert {line for fragment in fragments for line in fragment.text.splitlines()} <= lines
        shortened += any("get(url, params=None, **kwargs)" in fragment.text.splitlines() for fragment in fragments)
    assert shortened
    assert await find_signatures(root, body, 0) == ()
    assert await find_signatures(root, body, cost) == complete


async def test_the_language_itself_and_unused_packages_give_no_fragment(root: Path):
    assert await find_signatures(root, "return os.path.join(url)") == ()
    document = Document.from_text((root / "a.py").as_uri(), CODE % "return requests.get(url)")
    code = CodeSelection(document, None, Span(0, document.data.index(b"def load")), "a.py")
    assert await find_signature_fragments(root, code, 100) == ()


async def test_a_line_with_a_secret_is_left_out(root: Path):
    site = make_venv(root)
    token = "sk-proj-" + "a1B2" * 12
    write(site, {"web.py": f'def serve(port: int = 80):\n    """Takes {token}."""\n\n\ndef stop(): ...\n'})
    fragments = await find_signatures(root, "web.serve(1)\n    web.stop()")
    assert token not in "".join(fragment.text for fragment in fragments)
    assert "stop()" in fragments[0].text


@pytest.mark.parametrize(
    ("called", "names"),
    [
        ("get(url: str, *, timeout: float = 5) -> Response", "get(url, *, timeout)"),
        ("Box(a: dict[str, int] = {1: 2}, /, *args: int, **more: Callable[[int], str])", "Box(a, /, *args, **more)"),
        ("pad(text: string, n?: number): string", "pad(text, n?)"),
        ("map(each: (one: T, at: number) => U, of?: Map<string, T>): U[]", "map(each, of?)"),
        ("apply(f: fn(i32) -> i32, to: Vec<i32>) -> i32", "apply(f, to)"),
        ("stop()", "stop()"),
        ("cut(off: int, somewh…", "cut(off, …)"),
        ("VERSION: str", "VERSION: str"),
    ],
)
def test_a_long_signature_is_shortened_to_its_names(called: str, names: str):
    assert shorten_signature(called) == names


async def test_only_a_limited_number_of_names_is_looked_up(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root / SITE, {"web.py": "".join(f"def call_{n}(): ...\n\n\n" for n in range(20))})
    looked: list[str] = []
    documented = InstalledPackages.find_documentation

    def counting(self: InstalledPackages, root: Path, language: str, module: str, name: str, **extra: Any):
        looked.append(name)
        return documented(self, root, language, module, name, **extra)

    monkeypatch.setattr(InstalledPackages, "find_documentation", counting)
    [fragment] = await find_signatures(root, "\n    ".join(f"web.call_{n}()" for n in range(20)))
    assert looked == [f"call_{n}" for n in range(8)]
    assert fragment.text.splitlines()[1:] == [f"call_{n}()" for n in range(8)]


async def test_signatures_that_are_too_long_are_shortened_to_names_or_left_out(root: Path):
    many = ", ".join(f"parameter_{n}: dict[str, int | None] = {{}}" for n in range(9))
    extra = ", ".join(f"parameter_{n}" for n in range(40))
    write(root / SITE, {"web.py": f"def serve({many}): ...\n\n\ndef stop({extra}): ...\n"})
    [fragment] = await find_signatures(root, "web.serve(1)\n    web.stop()")
    assert fragment.text == f"# web 1.0 has\nserve({', '.join(f'parameter_{n}' for n in range(9))})\n"

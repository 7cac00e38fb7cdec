"""Answers to exact questions about a small folder: places, relations, kinds, and names that do not exist."""

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from lsp_harness.coding.questions.code_answers import MAX_CHANGED_LINES
from lsp_harness.coding.questions.exact_answers import (
    ANSWERERS,
    answer_exactly,
    find_declared_words,
    recognize_question,
)
from lsp_harness.coding.questions.project_facts import MAX_LISTED, ExactAnswer, ProjectFacts
from lsp_harness.coding.questions.question import Question, QuestionSubject
from lsp_harness.coding.questions.question_grammar import read_question
from lsp_harness.text.document import Document
from tests.index.place import IndexedFolder

FILES = {
    "src/box/errors.py": """\
class BoxError(Exception):
    pass


class KeyTooLong(BoxError):
    pass
""",
    "src/box/store.py": '''\
"""Rows of a table."""

from src.box.errors import BoxError, KeyTooLong

LIMIT = 3


def check(key: str, limit: int = LIMIT) -> str:
    """Return a key.

    It has few letters.
    """
    if len(key) > limit:
        raise KeyTooLong(key)
    return key


class Store:
    """Keeps rows."""

    def __init__(self, size: int) -> None:
        self.size = size

    def insert(self, key: str) -> None:
        if not key:
            raise BoxError("empty")
        check(key)


class CachedStore(Store):
    pass
''',
    "src/box/__init__.py": "from src.box.store import Store\n",
    "tests/test_store.py": """\
from src.box.store import Store, check


def test_check():
    assert check("a") == "a"
    assert check("b") == "b"


def test_insert():
    Store(1).insert("a")
""",
    "tests/helpers.py": "def make():\n    return 1\n",
    "tests/conftest.py": """\
import pytest


@pytest.fixture
def test_client():
    return 1
""",
    "web/app.ts": """\
const port = process.env.PORT
// TODO: close the server
router.get("/items/:id", show)
""",
    "web/app.test.ts": """\
it("shows an item", () => {})
""",
    "tool/main.py": """\
@click.command()
@click.option("--verbose")
def sync():
    pass
""",
    "src/lib.rs": """\
pub struct Circle { radius: f64 }

impl Circle {
    pub fn area(&self) -> f64 { self.radius }
}

#[test]
fn area_is_positive() {}
""",
}
PACKAGE_NAMES = {"requests.get": "requests 2.0: def get(url)\n  Send a request."}
GIT = {
    (
        "log",
        "-s",
        "-5",
        "--format=%h %ad %an: %s",
        "--date=short",
        "-L8,15:src/box/store.py",
    ): "abc 2026-01-02 Ann: Second\n",
    (
        "log",
        "-5",
        "-i",
        "-E",
        "--author=ann",
        "--format=%h %ad %an: %s",
        "--date=short",
        "--stat=120",
        "--no-color",
    ): "abc 2026-01-02 Ann: Second\n\n a.py | 2 +-\n",
    ("log", "--max-parents=0", "--format=%h %ad %an: %s", "--date=short"): "def 2026-01-01 Bob: First\n",
    ("log", "-5", "--format=%h %ad %an: %s", "--date=short", "--", "src/box/store.py"): "abc 2026-01-02 Ann: Second\n",
    ("status", "--porcelain=v1", "--untracked-files=all"): " M src/box/store.py\n?? new.py\n",
    ("diff", "--numstat", "HEAD"): "3\t1\tsrc/box/store.py\n",
    ("diff", "--no-color", "--no-ext-diff", "-U0", "HEAD", "--", "src/box/store.py"): (
        "diff --git a/src/box/store.py b/src/box/store.py\n--- a/src/box/store.py\n+++ b/src/box/store.py\n"
        "@@ -5 +5 @@\n-LIMIT = 2\n+LIMIT = 3\n"
    ),
    ("status", "--porcelain=v1", "--untracked-files=all", "--", "src/box/errors.py"): "",
    ("log", "-1", "--format=%h %s (%an, %ad)", "--date=short"): "abc Second (Ann, 2026-01-02)\n",
    ("rev-list", "--count", "HEAD"): "2\n",
    ("log", "-5", "--format=%h %ad %an: %s", "--date=short"): "abc 2026-01-02 Ann: Second\ndef 2026-01-01 Bob: First\n",
    ("show", "--stat=120", "--no-color", "--format=%h %ad %an: %s", "--date=short", "HEAD"): (
        "abc 2026-01-02 Ann: Second\n\n a.py | 2 +-\n 1 file changed\n"
    ),
}


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedFolder]:
    with closing(IndexedFolder(tmp_path_factory.mktemp("ws"), FILES)) as made:
        yield made


def make_facts(indexed: IndexedFolder, git: dict[tuple[str, ...], str] = GIT) -> ProjectFacts:
    def text(path: str) -> Document | None:
        return Document.from_text(f"file:///{path}", FILES[path].encode()) if path in FILES else None

    async def run_git(*arguments: str) -> str:
        return git[arguments]

    async def find_findings(path: str) -> tuple[Sequence[str], str]:
        return [f"{path}:1  F401 unused"] if path.endswith("errors.py") else [], "syntax checked"

    async def run_tests(path: str) -> Sequence[str]:
        return [f"pytest: 2 passed ({path or 'all'})"]

    async def describe_package_name(name: str) -> str:
        return PACKAGE_NAMES.get(name, "")

    return ProjectFacts(indexed.query, "", "box", text, run_git, find_findings, run_tests, describe_package_name)


async def ask(indexed: IndexedFolder, prompt: str) -> ExactAnswer | None:
    facts = make_facts(indexed)
    question = await recognize_question(facts, prompt, await find_declared_words(facts, prompt))
    assert question, prompt
    return await answer_exactly(facts, question)


ANSWERS = {
    "do the tests pass?": ["pytest: 2 passed (all)"],
    "do the store tests still pass": ("tests/test_store.py:\npytest: 2 passed (tests/test_store.py)",),
    "do the parser tests pass": ("box has no file of tests with the name parser.",),
    "show me the code of check": (
        "src/box/store.py:8-15\n 8  def check(key: str, limit: int = LIMIT) -> str:",
        "15      return key",
    ),
    "print CachedStore": ("src/box/store.py:30-31\n30  class CachedStore(Store):\n31      pass",),
    "show errors.py": ("src/box/errors.py:1-6\n1  class BoxError(Exception):",),
    "show me lines 1 to 2 of src/box/errors.py": ("src/box/errors.py:1-2\n1  class BoxError(Exception):\n2      pass",),
    "show me line 90 of errors.py": ("src/box/errors.py has 6 lines.",),
    "show me the code in src/box/loader.py": (
        "There is no file src/box/loader.py in box. src/box has __init__.py, errors.py, store.py.",
    ),
    "who calls frobnicate?": ("There is no symbol frobnicate in box",),
    "where is check?": ("src/box/store.py:8  function check", "limit: int = LIMIT) -> str", "Return a key."),
    "where is Store.insert?": ("src/box/store.py:24  method Store.insert",),
    # a member of the base
    "where is CachedStore.insert?": ("src/box/store.py:24  method Store.insert",),
    "who calls check?": (
        "1 place calls function check (src/box/store.py:8):",
        "Store.insert",
        "2 tests run it:",
        "test_check",
    ),
    "who calls KeyTooLong": ("src/box/store.py:14  check",),
    "what does insert call?": ("src/box/store.py:8  check",),
    "which tests run check?": (
        "2 tests run function check",
        "tests/test_store.py:5  test_check",
        "test_insert through Store.insert",
    ),
    "is CachedStore tested?": ("The index knows no test that surely runs class CachedStore", "tests/test_store.py"),
    "what is in store.py?": ("src/box/store.py:5  ", "src/box/store.py:18  class Store", "method Store.__init__"),
    "list the classes in store.py": ("There are 2 classes in src/box/store.py:", "class CachedStore"),
    "which methods does Store have?": ("has 2 methods:", "Store.__init__", "Store.insert"),
    "which methods does CachedStore have?": ("declares no method; it extends Store",),
    "which methods does Circle have": ("src/lib.rs:4  ", "Circle.area"),
    "which exceptions are there?": ("There are 2 exceptions in box:", "class BoxError", "class KeyTooLong"),
    "how many test files are there?": ("There are 2 test files with code in box:\n  tests/test_store.py",),
    "how many python files are there?": ("There are 7 python files",),
    "which functions are there in src?": ("There are 5 functions in src:", "function check", "method Circle.area"),
    "which classes are in store": ("There are 2 classes in src/box/store.py:",),
    "how many tests are there": (
        "There are 4 tests in box:",
        "tests/test_store.py:4  def test_check():",
        'web/app.test.ts:1  it("shows an item"',
        "src/lib.rs:8  fn area_is_positive()",
    ),
    "how many tests are in src/lib.rs": ("There is 1 test in src/lib.rs:",),
    "which routes are there": ("There is 1 route in box:", 'web/app.ts:3  router.get("/items/:id", show)'),
    "which env vars are there": ("There is 1 setting in box:", "web/app.ts:1  const port = process.env.PORT"),
    "list all fixtures": ("There is 1 fixture in box:", "tests/conftest.py:5  def test_client()"),
    "which todos are there": ("There is 1 note of work to do in box:", "web/app.ts:2  // TODO: close the server"),
    "which cli commands are there": ("There is 1 command in box:", "tool/main.py:3  def sync():"),
    "which command line options are there": (
        "There is 1 option of the command line in box:",
        'tool/main.py:2  @click.option("--verbose")',
    ),
    "signature of requests.get": ("box does not declare requests.get. A package has it:", "def get(url)"),
    "docs of requests.get": ("Send a request.",),
    "where is requests.get": ("requests 2.0",),
    "who wrote check?": ("The last commits that changed function check (src/box/store.py:8):", "Ann: Second"),
    "what did ann change?": ("The last commits of ann:", "a.py | 2 +-"),
    "what are the parameters of check": ("key: str, limit: int = LIMIT",),
    "what are the parameters of Store": ("class Store", "def __init__(self, size: int) -> None"),
    "docstring of check": ("  Return a key.\n\n  It has few letters.",),
    "docstring of insert": ("It has no documentation.",),
    "subclasses of BoxError": ("1 type extends BoxError:", "class KeyTooLong"),
    "subclasses of Exception": ("1 type extends Exception:", "class BoxError", "Indirectly:", "class KeyTooLong"),
    "subclasses of KeyTooLong": ("Nothing in box extends KeyTooLong",),
    "base class of KeyTooLong": ("src/box/errors.py:1  BoxError", "Exception, which box does not declare"),
    "base class of Circle": ("extends nothing",),
    "what does insert raise?": (
        '26  raise BoxError("empty")',
        "14  raise KeyTooLong(key)  (in check, which it calls)",
    ),
    "what does make raise": ("raise nothing by themselves",),
    "what does store.py import": ("1 import:", "from src.box.errors import BoxError, KeyTooLong"),
    "what does errors.py import": ("src/box/errors.py imports nothing.",),
    "who imports store.py": ("src/box/__init__.py", "tests/test_store.py"),
    "who imports test_store.py": ("No file of box imports tests/test_store.py.",),
    "are there errors in errors.py": ("1 finding in src/box/errors.py:", "F401 unused"),
    "are there errors in store.py": ("Our checks find nothing in src/box/store.py (syntax checked).",),
    "which errors can be thrown by store.py?": ("src/box/store.py raises:", "14  raise KeyTooLong(key)"),
    "what is the header comment of store.py": ("src/box/store.py begins with:", "Rows of a table."),
    "what is the header comment of errors.py": ("src/box/errors.py has no header.",),
    "who uses Exception?": ("box does not declare Exception; 1 declaration with this name:", "class BoxError"),
    "who made the first commit?": ("The first commit is def 2026-01-01 Bob: First",),
    "who touched store.py last?": ("The last commits that changed src/box/store.py:", "abc 2026-01-02 Ann: Second"),
    "what changed?": (
        "2 files differ from the last commit:",
        "src/box/store.py  changed +3 -1",
        "new.py  new",
        "\n\nsrc/box/store.py:\n  line 5:\n  -LIMIT = 2\n  +LIMIT = 3",
    ),
    "show me the diff of errors.py": (
        "src/box/errors.py has not changed since the last commit: abc Second (Ann, 2026-01-02).",
    ),
    "what was the last commit": ("There are 2 commits; the last ones:", "abc 2026-01-02 Ann: Second"),
    "what changed in the last commit": ("The last commit is abc 2026-01-02 Ann: Second", "a.py | 2 +-"),
    # what does not exist
    "who calls chekc": ("There is no symbol chekc in box", "check"),
    "who calls chekc_key": ("There is no symbol chekc_key in box", "check"),
    "what is in stores.py": ("There is no file stores.py in box; the most similar names are: src/box/store.py",),
    "is check in errors.py tested?": ("There is no check in errors.py; it is declared in src/box/store.py:8.",),
    "list all classes in src/nothing": ("There is no folder src/nothing with code in box.",),
    "list the enums in store.py": ("There are no enums in src/box/store.py.",),
}


@pytest.mark.parametrize("prompt", ANSWERS)
async def test_the_answer_has_the_facts(indexed_folder: IndexedFolder, prompt: str):
    answer = await ask(indexed_folder, prompt)
    assert answer
    for part in ANSWERS[prompt]:
        assert part in answer.text, answer.text


def test_each_family_is_asked():
    questions = [read_question(prompt) for prompt in ANSWERS]
    assert {question.family for question in questions if question} == set(ANSWERERS)


async def test_a_plain_word_that_is_no_name_is_no_question_about_code(indexed_folder: IndexedFolder):
    assert await ask(indexed_folder, "where is zzz?") is None
    # another form of the word “check” is no slip
    assert await ask(indexed_folder, "where is checking?") is None


async def test_a_clean_folder_says_the_last_commit(indexed_folder: IndexedFolder):
    clean = {
        ("status", "--porcelain=v1", "--untracked-files=all"): "",
        ("log", "-1", "--format=%h %s (%an, %ad)", "--date=short"): "abc Second (Ann, 2026-01-02)\n",
    }
    question = read_question("what changed?")
    assert question
    answer = await answer_exactly(make_facts(indexed_folder, clean), question)
    assert answer == ExactAnswer("Nothing has changed since the last commit: abc Second (Ann, 2026-01-02).")


async def test_the_subject_of_an_answer_is_its_first_declaration(indexed_folder: IndexedFolder):
    answer = await ask(indexed_folder, "who calls check?")
    assert answer
    assert answer.symbol
    assert (answer.symbol.path, answer.symbol.qualified) == ("src/box/store.py", "check")


async def test_a_long_list_is_cut_and_counted(tmp_path_factory: pytest.TempPathFactory):
    text = "".join(f"def f{number}():\n    pass\n\n\n" for number in range(MAX_LISTED + 5))
    with closing(IndexedFolder(tmp_path_factory.mktemp("ws"), {"many.py": text})) as indexed:
        answer = await ask(indexed, "what is in many.py")
    assert answer
    assert answer.text.endswith("\n  … and 5 more")


async def test_one_of_a_file_is_found_by_a_word_of_its_name(indexed_folder: IndexedFolder):
    facts = make_facts(indexed_folder)
    question = await recognize_question(facts, "show me the cached one", (), QuestionSubject("", "src/box/store.py"))
    assert question
    assert question == Question("code", "cached", "src/box/store.py", topic="one")
    answer = await answer_exactly(facts, question)
    assert answer
    assert answer.text.startswith("src/box/store.py:30-31\n30  class CachedStore(Store):")
    answer = await answer_exactly(facts, Question("code", "purple", "src/box/store.py", topic="one"))
    assert answer
    assert "There is no declaration with the word purple" in answer.text


async def test_many_changed_lines_are_only_counted(indexed_folder: IndexedFolder):
    path = "src/box/store.py"
    lines = "".join(f"+LIMIT = {number}\n" for number in range(MAX_CHANGED_LINES + 1))
    git = {
        ("status", "--porcelain=v1", "--untracked-files=all"): f" M {path}\n",
        ("diff", "--numstat", "HEAD"): f"61\t0\t{path}\n",
        ("diff", "--no-color", "--no-ext-diff", "-U0", "HEAD", "--", path): f"@@ -5 +5 @@\n{lines}",
    }
    answer = await answer_exactly(make_facts(indexed_folder, git), Question("changes"))
    assert answer
    assert answer.text == f"1 file differs from the last commit:\n  {path}  changed +61 -0"


async def test_the_lines_of_a_hidden_file_are_not_shown(indexed_folder: IndexedFolder):
    # no model may see it, so `read_text` returns nothing, and git is not asked for its lines
    git = {
        ("status", "--porcelain=v1", "--untracked-files=all"): " M .env\n",
        ("diff", "--numstat", "HEAD"): "1\t0\t.env\n",
    }
    answer = await answer_exactly(make_facts(indexed_folder, git), Question("changes"))
    assert answer
    assert answer.text == "1 file differs from the last commit:\n  .env  changed +1 -0"

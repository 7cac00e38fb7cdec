"""Tests of groups of similar declarations, and of the declarations most similar to one."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.index.declaration_shape import DeclarationHead, Shape, describe_shapes, find_shape
from lsp_harness.index.query.code_patterns import (
    MAX_LINES,
    Example,
    ExampleRequest,
    Pattern,
    find_examples,
    find_patterns,
)
from tests.index.place import IndexedFolder

USERS = """\
app = FastAPI()


@app.get("/users")
async def list_users(db: Session = Depends(get_db)):
    return [UserOut.of(user) for user in db.users()]


# one of them
@app.get("/users/{id}")
async def read_user(id: int, db: Session = Depends(get_db)):
    user = db.user(id)
    if user is None:
        raise HTTPException(404, "no such user")
    return UserOut.of(user)


@app.post(
    "/users",
    status_code=201,
)
def create_user(user: UserIn, db: Session = Depends(get_db)):
    return UserOut.of(db.add(user))


@cache
def settings():
    return Settings()


def get_db(url):
    return connect(url)
"""
ITEMS = """\
router = APIRouter()


@router.get("/items/{id}")
async def read_item(id: int, db: Session = Depends(get_db)):
    item = db.item(id)
    if item is None:
        raise HTTPException(404, "no such item")
    return ItemOut.of(item)


@limited(10)
@router.delete("/items/{id}")
async def delete_item(id: int, db: Session = Depends(get_db)):
    db.delete(id)


def helper(request_id):
    return request_id
"""
MODELS = "from dataclasses import dataclass\nimport dataclasses\n\n\n" + "\n\n".join(
    (
        f'@{mark}\nclass {name}:\n    """Of a shop."""\n\n    name: str\n    price: int\n\n    def total(self):\n'
        f"        return self.price\n"
    )
    for mark, name in (("dataclass", "Item"), ("dataclass(frozen=True)", "Order"), ("dataclasses.dataclass", "Bill"))
)
TESTS = "@pytest.fixture\ndef client():\n    return Client()\n\n\n" + "\n\n".join(
    f"def test_{name}_is_read(client):\n    assert client.get('/{name}').status == 200\n" for name in ("a", "b", "c")
)
TYPESCRIPT = "\n".join(
    (
        f"export const {verb}User = async (req: Request, res: Response) => {{\n"
        f"  res.json(await users.{verb}(req.params.id));\n}};\n"
    )
    for verb in ("get", "create", "remove")
)
NEST = "@Controller()\nexport class Cats {\n" + "".join(
    (
        f'  @{verb}(":id")\n  async {verb.lower()}One(@Param("id") id: string): Promise<Cat> '
        f"{{\n    return this.cats.one(id);\n  }}\n\n"
    )
    for verb in ("Get", "Put", "Patch")
)
GO = "package shop\n\n" + "\n".join(
    (
        f"// {verb}User is one.\nfunc (s *Server) {verb}User(w http.ResponseWriter, r *http.Request) {{\n"
        f"\ts.write(w, s.users.{verb}(r))\n}}\n"
    )
    for verb in ("Get", "Create", "Remove")
)
GO_TESTS = "package shop\n\n" + "\n".join(
    f"func Test{name}(t *testing.T) {{\n\tcheck(t, {name})\n}}\n" for name in ("A", "B", "C")
)
RUST = "\n".join(f'#[get("/{name}")]\nasync fn {name}(id: u32) -> String {{\n    show(id)\n}}\n' for name in "abc")
FILES = {
    "api/users.py": USERS,
    "api/items.py": ITEMS,
    "shop/models.py": MODELS,
    "tests/test_api.py": TESTS,
    "web/users.ts": TYPESCRIPT,
    "web/cats.ts": NEST + "}\n",
    "go/users.go": GO,
    "go/users_test.go": GO_TESTS,
    "rust/web.rs": RUST,
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as result:
        yield result


def find_pattern(indexed: IndexedFolder, name: str) -> Pattern:
    [result] = [pattern for pattern in find_patterns(indexed.reader, 100) if pattern.name == name]
    return result


def make_example_request(
    path: str, before: str, name: str, head: str, text: str, kind: str = "function"
) -> ExampleRequest:
    its = find_shape(
        DeclarationHead({"py": "python", "ts": "typescript", "go": "go"}[path[-2:]], path, kind, name, (), before, head)
    )
    assert its
    return ExampleRequest(path, its, name, f"{before}{name}{head}{text}", frozenset({name}))


def make_handler_request(path: str, name: str, body: str) -> ExampleRequest:
    return make_example_request(
        path, '@app.get("/x/{id}")\nasync def ', name, "(id: int, db: Session = Depends(get_db)):", body
    )


READ = '\n    thing = db.thing(id)\n    if thing is None:\n        raise HTTPException(404, "no such thing")\n'


def list_example_names(examples: list[Example]) -> list[str]:
    return [f"{result.symbol.path} {result.symbol.qualified}" for result in examples]


def test_patterns_that_a_project_has_many_of(indexed_folder: IndexedFolder):
    values = {
        (pattern.language, pattern.name): [it.name for it in pattern.members]
        for pattern in find_patterns(indexed_folder.reader, 100)
    }
    assert values == {
        ("python", "functions decorated with app.get, app.post"): [
            *("read_item", "delete_item"),
            *("list_users", "read_user", "create_user"),
        ],
        ("python", "classes decorated with dataclass, dataclasses.dataclass"): ["Item", "Order", "Bill"],
        ("python", "methods named total"): ["total", "total", "total"],
        ("python", "test functions"): ["test_a_is_read", "test_b_is_read", "test_c_is_read"],
        ("typescript", "functions taking request first"): ["getUser", "createUser", "removeUser"],
        ("typescript", "methods decorated with Get, Patch"): ["getOne", "putOne", "patchOne"],
        ("go", "methods taking http.ResponseWriter first"): ["GetUser", "CreateUser", "RemoveUser"],
        ("go", "test functions"): ["TestA", "TestB", "TestC"],
        ("rust", "functions with the attribute get"): ["a", "b", "c"],
    }


def test_the_most_frequent_patterns_come_first_up_to_the_limit(indexed_folder: IndexedFolder):
    assert [len(pattern.members) for pattern in find_patterns(indexed_folder.reader, 2)] == [5, 3]
    assert find_patterns(indexed_folder.reader, 0) == []


def test_the_representative_is_the_most_similar_to_the_others(indexed_folder: IndexedFolder):
    assert find_pattern(indexed_folder, "functions decorated with app.get, app.post").representative.name in (
        "read_item",
        "read_user",
    )


def test_an_example_is_a_whole_and_most_similar_declaration(indexed_folder: IndexedFolder):
    [first, second] = find_examples(indexed_folder.reader, make_handler_request("api/things.py", "read_thing", READ), 2)
    assert list_example_names([first, second]) == ["api/users.py read_user", "api/items.py read_item"]
    # with the comment above it
    assert first.text.startswith('# one of them\n@app.get("/users/{id}")\nasync def read_user(')
    assert second.text == ITEMS[ITEMS.index('@router.get("/items/{id}")') : ITEMS.index("\n\n@limited")]
    assert first.pattern == "functions decorated with app.get, app.post"


def test_code_and_its_copies_are_no_examples_of_themselves(indexed_folder: IndexedFolder):
    examples = find_examples(indexed_folder.reader, make_handler_request("api/users.py", "read_user", READ), 9)
    assert "api/users.py read_user" not in list_example_names(examples)
    assert "api/items.py read_item" in list_example_names(examples)
    start, end = ITEMS.index("(id: int"), ITEMS.index("\n\n\n@limited")
    copied = make_example_request("far.py", '@router.get("/items/{id}")\nasync def ', "read_item", "", ITEMS[start:end])
    assert "api/items.py read_item" not in list_example_names(find_examples(indexed_folder.reader, copied, 9))


def test_code_with_a_similar_name_and_another_body_is_no_example(tmp_path: Path):
    files = {
        f"{n}.py": f"def make_{n}(x):\n    return {n} * alpha_{n} + beta_{n} // gamma_{n}(x, {n}.y)\n" for n in "abc"
    }
    like = {f"like_{n}.py": f"def make_{n}_total(order):\n    return sum(order.{n}s)\n" for n in "de"}
    with closing(IndexedFolder(tmp_path, files | like)) as indexed:
        it = make_example_request("x.py", "def ", "make_big_total", "(order):", "\n    return sum(order.prices)\n")
        assert list_example_names(find_examples(indexed.reader, it, 9)) == [
            "like_d.py make_d_total",
            "like_e.py make_e_total",
        ]


def test_two_alike_are_no_pattern(tmp_path: Path):
    files = {"a.py": ITEMS.replace("@limited(10)\n", "").replace("@router.delete", "@deleting")}
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        assert find_patterns(indexed.reader, 9) == []
        assert find_examples(indexed.reader, make_handler_request("b.py", "read_thing", READ), 9) == []


def test_a_class_is_shown_with_its_methods(indexed_folder: IndexedFolder):
    before, body = "@dataclass\nclass ", ':\n    """Of a shop."""\n\n    name: str\n    size: int\n'
    [result] = find_examples(
        indexed_folder.reader, make_example_request("shop/more.py", before, "Price", ":", body, "class"), 1
    )
    assert result.text == MODELS[MODELS.index("@dataclass\nclass Item") : MODELS.index("\n\n@dataclass(frozen=True)")]


def test_tests_are_examples_of_tests_only(indexed_folder: IndexedFolder):
    text = "\n    assert client.get('/d').status == 200\n"
    examples = find_examples(
        indexed_folder.reader, make_example_request("tests/test_d.py", "def ", "test_d_is_read", "(client):", text), 1
    )
    assert list_example_names(examples) == ["tests/test_api.py test_a_is_read"]
    assert (
        find_examples(
            indexed_folder.reader, make_example_request("d.py", "def ", "test_d_is_read", "(client):", text), 1
        )
        == []
    )


def test_examples_are_found_in_other_languages(indexed_folder: IndexedFolder):
    text = " => {\n  res.json(await users.find(req.params.id));\n}"
    it = make_example_request("web/x.ts", "export const ", "findUser", " = async (req: Request, res: Response)", text)
    assert list_example_names(find_examples(indexed_folder.reader, it, 1)) == ["web/users.ts getUser"]
    it = make_example_request(
        "go/x.go",
        "func (s *Server) ",
        "FindUser",
        "(w http.ResponseWriter, r *http.Request)",
        " {\n\ts.write(w, s.users)\n}",
        "method",
    )
    [result] = find_examples(indexed_folder.reader, it, 1)
    assert result.text.startswith("// GetUser is one.\nfunc (s *Server) GetUser(")


def test_code_that_is_long_or_had_a_secret_is_no_example(tmp_path: Path):
    key = "sk-proj-" + "a1B2" * 12
    long = READ + "".join(f"    step({n})\n" for n in range(MAX_LINES))
    head = '@app.get("/x")\ndef read_{0}(id: int, db: Session = Depends(get_db)):'
    files = {
        "long.py": head.format("long") + long,
        "secret.py": head.format("secret") + READ + f'    call("{key}", thing)\n',
        "short.py": head.format("short") + READ + "    return ThingOut.of(thing, db.owner(thing), now())\n",
    }
    with closing(IndexedFolder(tmp_path, files)) as indexed:
        assert list_example_names(
            find_examples(indexed.reader, make_handler_request("x.py", "read_thing", READ), 9)
        ) == ["short.py read_short"]
        [result] = find_patterns(indexed.reader, 9)
        assert result.representative.name == "read_short"
        assert key not in "".join(indexed.view.texts.read_with_comments(it) for it in result.members)


@pytest.mark.parametrize(
    ("language", "path", "kind", "before", "head", "expected"),
    [
        ("python", "a.py", "method", "@staticmethod\n    def ", "parse_all(text):", "methods named parse_…"),
        ("python", "a.py", "function", "async def ", "parse_all(text):", "async functions named parse_…"),
        ("python", "a.py", "method", "def ", "show(self, request, id):", "methods taking request first"),
        ("python", "a.py", "function", '@mock.patch("x")\ndef ', "use(it):", "functions decorated with mock.patch"),
        ("python", "conftest.py", "function", "@pytest.fixture\ndef ", "it():", (
            "functions decorated with pytest.fixture"
        )),
        ("python", "tests/x.py", "class", "class ", "UserFactory(object):", "classes named …Factory in tests"),
        ("java", "A.java", "method", '@Override\n  @GetMapping("/x")\n  public User ', "one(Long id)", (
            "methods annotated with GetMapping"
        )),
        ("java", "A.java", "method", "@Test\n  void ", "works()", "test methods"),
        ("csharp", "a.cs", "method", '[HttpGet("x")]\n  public X ', "Get(int id)", (
            "methods with the attribute HttpGet"
        )),
        ("rust", "a.rs", "function", "/// It works.\n#[tokio::test]\nasync fn ", "it_works()", "test functions"),
        ("go", "a.go", "function", "func ", "ListAll(c *gin.Context)", "functions taking gin.Context first"),
        ("go", "a.go", "function", "func ", "ListAll(ctx context.Context)", "functions named List…"),
    ],
)  # fmt: skip
def test_a_kind_of_declaration_is_described_by_its_common_signs(
    language: str, path: str, kind: str, before: str, head: str, expected: str
):
    name = head.partition("(")[0]
    bases = ("object",) if "object" in head else ()
    its = find_shape(DeclarationHead(language, path, kind, name, bases, before, head[len(name) :]))
    assert its
    assert describe_shapes([its]) == expected


def test_a_declaration_without_signs_has_no_shape():
    assert find_shape(DeclarationHead("python", "a.py", "class", "Circle", (), "class ", ":")) is None
    assert find_shape(DeclarationHead("python", "a.py", "method", "__init__", (), "def ", "(self, x):")) is None


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["python", "java", "go", "rust", "csharp", "lua"]))
def test_a_broken_text_has_a_description_or_none(before: str, head: str, language: str):
    its = find_shape(DeclarationHead(language, "a", "function", "read_it", (), before, head))
    assert isinstance(its, Shape)
    assert describe_shapes([its, its]).startswith(("functions ", "async functions ", "test functions"))


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["@app.get('/')\n", "@app.task\n", ""]), st.sampled_from(["get", "test", "make", "run"])
        ),
        max_size=24,
    ),
    st.integers(0, 4),
)
def test_patterns_have_no_common_members_and_their_number_is_limited(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str]], most: int
):
    files = {
        f"{'tests/' * (n % 2)}f{n}.py": f"{mark}def {word}_{n}(x):\n    return x.{word} + {n}\n"
        for n, (mark, word) in enumerate(made)
    }
    with closing(IndexedFolder(tmp_path_factory.mktemp("project"), files)) as indexed:
        everything = find_patterns(indexed.reader, 100)
        members = [(it.path, it.n) for item in everything for it in item.members]
        assert len(members) == len(set(members)) <= len(made)
        assert all(len(item.members) >= 3 and item.representative in item.members for item in everything)
        assert find_patterns(indexed.reader, most) == everything[:most]
        it = make_example_request("f0.py", "@app.get('/')\ndef ", "get_0", "(x):", "\n    return x.get + 0\n")
        examples = find_examples(indexed.reader, it, most)
        assert len(examples) <= most
        assert all((item.symbol.path, item.symbol.name) != ("f0.py", "get_0") for item in examples)

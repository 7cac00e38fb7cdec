"""Docstrings, tests and explanations of code, with a script for a model."""

from pathlib import Path

import pytest

from lsp_harness.errors import NoAnswer
from lsp_harness.inference.request import Infill
from tests.harness.bench import Make
from tests.harness.spoken import AREA, apply_document_edit, ignore_progress, open_selection, read_prompt_events
from tests.harness.tools import FLOW_TYPES, make_settings


# -- docstrings
@pytest.mark.parametrize(
    ("name", "text", "said", "expected"),
    [
        (
            "a.py",
            "def f(x):\n    <|>return x\n",
            "Give x back.",
            'def f(x):\n    """Give x back."""\n    return x\n',
        ),
        (
            "a.py",
            "class A:\n    def f(self):\n        <|>return 1\n",
            "One.\n\n        Args:\n            none\n        ",
            (
                'class A:\n    def f(self):\n        """One.\n\n        Args:\n            none\n        """\n'
                "        return 1\n"
            ),
        ),
        (
            "a.js",
            "class A {\n  <|>f(x) {\n    return x;\n  }\n}\n",
            "Gives it.\n   * @param x what",
            "class A {\n  /**\n   * Gives it.\n   * @param x what\n   */\n  f(x) {\n    return x;\n  }\n}\n",
        ),
        ("a.go", "func f() {<|>\n}\n", "f does nothing.", "// f does nothing.\nfunc f() {\n}\n"),
        ("a.py", "def f():\r\n    <|>pass\r\n", "Nothing.", 'def f():\r\n    """Nothing."""\r\n    pass\r\n'),
    ],
)
async def test_a_docstring_is_inserted_at_the_place_of_its_language(
    bench: Make, name: str, text: str, said: str, expected: str
):
    b = bench(said, said, said)

    document_edit = await b.harness.edits.docstring(*open_selection(b, text, name), ignore_progress)

    assert apply_document_edit(document_edit) == expected


@pytest.mark.parametrize(
    "text",
    ['def f():\n    <|>"""Has one."""\n', "x = <|>1\n", "def f(): <|>return 1\n", 'def f():\n    <|>r"""Raw."""\n'],
)
async def test_no_docstring_is_written_where_one_exists_or_has_no_place(bench: Make, text: str):
    b = bench()
    with pytest.raises(NoAnswer, match="no function here without a docstring"):
        await b.harness.edits.docstring(*open_selection(b, text), ignore_progress)


async def test_a_docstring_that_breaks_the_code_or_never_ends_is_rejected(bench: Make):
    b = bench("word " * 40, "\\x", "")
    with pytest.raises(NoAnswer, match="No candidate passed"):
        await b.harness.edits.docstring(*open_selection(b, "def f():\n    <|>return 1\n"), ignore_progress)


async def test_the_context_limits_the_number_of_docstring_candidates(bench: Make):
    where = "def f(x):\n    <|>return x\n"
    b = bench("Give x back.", "Give it.")
    b.engine.extra_props["n_ctx"] = 200

    await b.harness.edits.docstring(*open_selection(b, where), ignore_progress)

    assert [request.sampling.n for request in b.engine.foreground_requests] == [1, 1]
    assert [one["candidates"] for one in read_prompt_events(b)] == [[1], [2]]
    b.engine.extra_props["n_ctx"] = 120
    with pytest.raises(NoAnswer, match="reserved for the answer, but the model's context has only 120"):
        await b.harness.edits.docstring(*open_selection(b, where), ignore_progress)
    assert len(b.engine.foreground_requests) == 2


# -- tests
async def test_tests_are_written_to_a_new_file_with_the_needed_import(bench: Make):
    b = bench("():\n    assert area(1) == 3\n", "():\n    pass\n", "():\n    assert area(0) == 0\n    assert area(1)\n")

    document_edit = await b.harness.edits.tests(*open_selection(b, AREA, "shapes.py"), ignore_progress)

    assert document_edit.is_new
    assert document_edit.document.uri == (b.folder / "test_shapes.py").as_uri()
    # of those that pass, the one that asserts most
    assert apply_document_edit(document_edit) == (
        "from shapes import area\n\n\ndef test_area():\n    assert area(0) == 0\n    assert area(1)\n"
    )


async def test_tests_are_added_to_an_existing_file(bench: Make):
    (tests := Path(bench().folder) / "tests").mkdir()
    (tests / "test_shapes.py").write_text("import math\n\n\ndef test_pi():\n    assert math.pi\n")
    b = bench(*["():\n    assert Box().size() == 0\n    x = (\n"] * 3)

    document_edit = await b.harness.edits.tests(
        *open_selection(b, "class Box:\n    def <|>size(self):\n        return 0\n", "shapes.py"), ignore_progress
    )

    assert not document_edit.is_new
    assert apply_document_edit(document_edit) == (
        "import math\n\nfrom shapes import Box\n\n\ndef test_pi():\n    assert math.pi\n\n\n"
        "def test_box_size():\n    assert Box().size() == 0\n"
    )


async def test_the_last_lines_of_a_long_test_file_are_shown(bench: Make):
    long = "".join(f"# {n} {'word ' * 200}\n" for n in range(60))
    (Path(bench().folder) / "test_shapes.py").write_text(f"from shapes import area\n{long}")
    b = bench(*["():\n    assert area(1) == 3\n"] * 3)

    document_edit = await b.harness.edits.tests(*open_selection(b, AREA, "shapes.py"), ignore_progress)

    assert apply_document_edit(document_edit).endswith(f"{long}\n\ndef test_area():\n    assert area(1) == 3\n")
    request = b.engine.foreground_requests[0]
    assert isinstance(request, Infill)
    # whole lines within completion.prefix_tokens
    assert request.context.prefix == f"{long.splitlines()[-1]}\n\n\ndef test_area"
    assert [one["sections"]["prefix"] for one in read_prompt_events(b)] == [204] * 2
    sections = sum(read_prompt_events(b)[0]["sections"].values())
    assert sections < read_prompt_events(b)[0]["prompt"] < sections + 10


async def test_in_a_small_context_the_test_file_is_left_out_and_fewer_tests_are_written(bench: Make):
    words = "".join(f"# {n} {'word ' * 20}\n" for n in range(60))
    (Path(bench().folder) / "test_shapes.py").write_text(f"from shapes import area\n{words}")
    b = bench(*["():\n    assert area(1) == 3\n"] * 2)
    b.engine.extra_props["n_ctx"] = 500

    await b.harness.edits.tests(*open_selection(b, AREA, "shapes.py"), ignore_progress)

    assert [one["candidates"] for one in read_prompt_events(b)] == [[1], [2]]
    assert all(one["prompt"] + one["answer"] * len(one["candidates"]) <= 500 for one in read_prompt_events(b))
    assert 2 < read_prompt_events(b)[0]["sections"]["prefix"] < 200
    b.engine.extra_props["n_ctx"] = 345
    with pytest.raises(NoAnswer, match=r"def test_area does not fit into 0 tokens; raise completion\.prefix_tokens"):
        await b.harness.edits.tests(*open_selection(b, AREA, "shapes.py"), ignore_progress)
    assert len(b.engine.foreground_requests) == 2


@pytest.mark.parametrize("text", ["x = <|>1\n", "def f():\n    def g():\n        <|>return 1\n    return g\n"])
async def test_code_that_a_test_cannot_import_gets_no_tests(bench: Make, text: str):
    b = bench()
    with pytest.raises(NoAnswer, match="no function here that a test could import"):
        await b.harness.edits.tests(*open_selection(b, text), ignore_progress)


# -- explain
async def test_an_explanation_says_that_it_was_not_checked(bench: Make):
    b = bench("It multiplies.")
    text = await b.harness.edits.explain(*open_selection(b, AREA), ignore_progress)
    assert text == "It multiplies.\n\n*These sentences are the model's. They have not been checked.*\n"
    assert "return 3 * r ** 2" in b.engine.prompt(0)


async def test_the_log_has_the_prompt_of_an_explanation(bench: Make):
    b = bench("It multiplies.")
    await b.harness.edits.explain(*open_selection(b, AREA), ignore_progress)
    logged = [event for events in b.harness.services.session.log.turns.values() for event in events]
    [asked, told] = [event for event in logged if event.type not in FLOW_TYPES]
    assert (asked.type, asked.data["kind"], asked.data["path"]) == ("invocation.received", "explain", "a.py")
    assert (told.type, told.cause) == ("context.built", asked.id)
    assert list(told.data["sections"]) == ["system", "code", "task"]
    [whole] = await b.engine.count([b.engine.prompt(0)])
    assert (told.data["prompt"], told.data["answer"], told.data["context"]) == (whole, 140, 8192)


async def test_an_explanation_that_is_cut_off_ends_with_a_sentence(bench: Make):
    b = bench({"text": "It multiplies. Then it ret", "stop": "limit"})
    assert (await b.harness.edits.explain(*open_selection(b, AREA), ignore_progress)).startswith("It multiplies.\n")


@pytest.mark.parametrize(("share", "shown"), [(384, True), (0, False)])
async def test_an_explanation_gets_the_used_code_but_no_examples(bench: Make, share: int, shown: bool):
    b = bench("It multiplies.", config=make_settings(context={"related_budget": share}))
    head = "def square(r: float):\n    return r * r\n\n\n"
    await b.harness.edits.explain(
        *open_selection(b, f"{head}def <|>area(r):\n    return 3 * square(r)\n"), ignore_progress
    )
    prompt = b.engine.prompt(0)
    assert ("def square(r: float): ..." in prompt) == shown
    assert "How such code is written here" not in prompt
    assert prompt.endswith("Explain this code.\n")

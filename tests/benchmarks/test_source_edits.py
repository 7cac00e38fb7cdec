"""Tests of the random edits that measurements make in the sources of other projects."""

import ast
from pathlib import Path

from benchmarks.source_edits import Source, SourceEdit, draw_edits, find_form_changes, find_mutations

TEXT = '''"""A module."""


def area(width, height=2):
    """Return an area."""
    größe = width * height
    if größe == width and height > 1:
        return größe + 1
    return f"{größe}"


def outer(values):
    count = len(values)

    def inner():
        return count

    return inner
'''


def find_texts(find: object, kind: str) -> list[str]:
    source = Source("a.py", TEXT.encode())
    edits: list[SourceEdit] = [edit for edit in find(source) if edit.kind == kind]  # pyright: ignore[reportCallIssue]
    return [edit.apply(source.data).decode() for edit in edits]


def test_each_mutation_is_another_program():
    same = ast.dump(ast.parse(TEXT))
    source = Source("a.py", TEXT.encode())
    texts = [edit.apply(source.data).decode() for edit in find_mutations(source)]
    assert len(set(texts)) == len(texts) > 8
    assert all(ast.dump(ast.parse(text)) != same for text in texts)


def test_a_mutation_is_at_its_operator():
    assert TEXT.replace("width * height", "width + height") in find_texts(find_mutations, "operator")
    assert TEXT.replace("height > 1", "height <= 1") in find_texts(find_mutations, "comparison")
    assert TEXT.replace("return größe + 1", "return None") in find_texts(find_mutations, "return")


def test_defaults_and_docstrings_stay():
    assert all("height=2" in text and "Return an area." in text for text in find_texts(find_mutations, "constant"))


def test_a_change_of_the_form_keeps_the_program():
    same = ast.dump(ast.parse(TEXT))
    for kind in ("parentheses", "comment", "blank line"):
        texts = find_texts(find_form_changes, kind)
        assert texts
        assert all(ast.dump(ast.parse(text)) == same for text in texts)


def test_operands_are_swapped_where_the_order_does_not_matter():
    assert find_texts(find_form_changes, "operands") == [TEXT.replace("größe == width", "width == größe")]


def test_only_local_names_are_renamed():
    # one is in a text with expressions, the other one in an inner function
    assert find_texts(find_form_changes, "local name") == []
    source = Source("a.py", b"def f(a):\n    b = a\n    return b * b\n")
    [edit] = [edit for edit in find_form_changes(source) if edit.kind == "local name"]
    assert edit.apply(source.data) == b"def f(a):\n    b_value = a\n    return b_value * b_value\n"


def test_the_same_seed_draws_the_same_edits_of_all_kinds(tmp_path: Path):
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    (tmp_path / "broken.py").write_text("def :")
    files = [file, tmp_path / "broken.py"]
    first = list(draw_edits(tmp_path, files, find_mutations, "seed"))
    assert first == list(draw_edits(tmp_path, files, find_mutations, "seed"))
    assert first != list(draw_edits(tmp_path, files, find_mutations, "other"))
    kinds = {edit.kind for edit in first}
    assert {edit.kind for edit in first[: len(kinds)]} == kinds

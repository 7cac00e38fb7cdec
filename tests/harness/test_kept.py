"""Files that are kept from the model: by their name, or by an ignore file."""

import pytest

from lsp_harness.errors import NoAnswer
from lsp_harness.pipeline.offers import Offer
from tests.harness.bench import AREA, Make, fixed
from tests.harness.tools import checked

UNUSED = """
    import os
    #      ^^ F401 `os` imported but unused
    x = 1
    """


@pytest.mark.parametrize(
    ("name", "rules", "why"),
    [
        ("private/a.py", {".gitignore": "private/\n"}, "ignored by .gitignore"),
        ("a.py", {".lspharnessignore": "*.py\n"}, "ignored by .lspharnessignore"),
        ("a.env", {}, "secret by its name"),
        (".env", {}, "secret by its name"),
    ],
)
async def test_nothing_of_a_kept_file_reaches_the_model_or_the_log(
    bench: Make, name: str, rules: dict[str, str], why: str
) -> None:
    b = bench()
    b.harness.eager = True
    for file, text in rules.items():
        (b.folder / file).write_text(text)
    src = b.open(AREA, name)
    uri = src.document.uri
    snapshot = b.harness.snapshot(uri)
    assert b.harness.kept_from_model(snapshot).startswith(why)
    for automatic in (True, False):
        assert await b.harness.complete(snapshot, len("def area(r):\n    "), automatic=automatic) == []
    b.harness.warm(uri, 5)
    b.harness._warm(uri)
    offers = await b.harness.offers(snapshot, src.findings)
    assert [offer for offer in offers if offer.how == "model"] == []
    with pytest.raises(NoAnswer, match=why):
        await fixed(b, src)
    assert b.engine.asked == b.engine.ahead == []
    assert b.engine.counted == []
    assert not b.harness.log.path.exists()


async def test_the_linters_own_fix_of_an_ignored_file_is_not_in_the_log(bench: Make) -> None:
    b = bench()
    (b.folder / ".gitignore").write_text("a.py\n")
    heard: list[str] = []
    b.harness.log.listeners.append(lambda event: heard.append(event.type))
    src = b.open(UNUSED)
    proposal = await fixed(b, src, Offer("", "linter", src.finding))
    assert proposal.summary.startswith("the linter's own fix")
    # and what is held against it afterwards is not there either
    b.type(src, "def (\n", 0)
    b.harness.applied(src.document.uri, proposal.id)
    await b.settled(src)
    assert b.published[-1][1]
    assert heard.count("verify.completed") == 2
    assert "edit.applied" in heard
    assert not b.harness.log.path.exists()


async def test_a_file_that_is_no_longer_ignored_is_given_to_the_model(bench: Make) -> None:
    b = bench("3 * r")
    rules = b.folder / ".gitignore"
    rules.write_text("a.py\n")
    src = b.open("def area(r):\n    return <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)
    assert await b.harness.complete(snapshot, src.cursor) == []
    rules.unlink()
    assert [found.text for found in await b.harness.complete(snapshot, src.cursor)] == ["3 * r"]


async def test_a_folder_that_joins_the_workspace_brings_its_rules(bench: Make) -> None:
    b = bench("3 * r")
    src = b.open("def area(r):\n    return <|>\n", "sub/a.py")
    (b.folder / ".lspharnessignore").write_text("sub/\n")
    b.harness.roots.clear()
    snapshot = b.harness.snapshot(src.document.uri)
    assert [found.text for found in await b.harness.complete(snapshot, src.cursor)] == ["3 * r"]
    b.harness.roots.append(b.folder)
    assert b.harness.kept_from_model(snapshot) == "ignored by .lspharnessignore and not given to the model"


async def test_a_file_that_is_not_kept_is_in_the_log(bench: Make) -> None:
    b = bench()
    src = b.open(UNUSED)
    await fixed(b, src, Offer("", "linter", src.finding))
    assert checked(b.harness.log.path)

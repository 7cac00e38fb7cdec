"""The error cache in use: an accepted fix of the model is repeated without the model, and checked again."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.harness.edits.proposals import reject_proposal
from lsp_harness.kernel.results import Proposal
from lsp_harness.knowledge.learned.learned_fixes import LearnedFixes
from lsp_harness.text.edit import apply
from tests.harness.bench import Bench, Make, propose_fix
from tests.harness.tools import make_edit_settings, make_settings, read_checked_log, select_event_data
from tests.support import markup

REPAIRED = make_settings(make_edit_settings(1), generation={"repairs": True}, verification={"debounce_ms": 0})
CASES: dict[str, tuple[str, str, str, str, str]] = {
    "a.py": (
        """
        def read(path):
            return open(path).read()
            #      ^^^^ W1514 using open without specifying an encoding
        """,
        'return open(path, encoding="utf-8").read()',
        "b.py",
        """
        class Cart:
            def load(self, name):
                if name:
                    return open(name).read()
                    #      ^^^^ W1514 using open without specifying an encoding
        """,
        """\
class Cart:
    def load(self, name):
        if name:
            return open(name, encoding="utf-8").read()
""",
    ),
    "a.ts": (
        """
        function f(items: string[]) {
          return items.length();
          //           ^^^^^^ TS2349 this expression is not callable
        }
        """,
        "return items.length;",
        "b.ts",
        """
        const size = (names: string[]) => {
          const n = 1;
          return names.length();
          //           ^^^^^^ TS2349 this expression is not callable
        };
        """,
        "const size = (names: string[]) => {\n  const n = 1;\n  return names.length;\n};\n",
    ),
    "a.go": (
        """
        package a

        func f(done bool) bool {
        	return done == true
        	//     ^^^^^^^^^^^^ S1002 should omit comparison to `true`
        }
        """,
        "return done",
        "b.go",
        """
        package b

        func g(isReady bool) bool {
        	for {
        		return isReady == true
        		//     ^^^^^^^^^^^^^^^ S1002 should omit comparison to `true`
        	}
        }
        """,
        "package b\n\nfunc g(isReady bool) bool {\n\tfor {\n\t\treturn isReady\n\t}\n}\n",
    ),
}
"""File of the first error → its text, the fix of the model, the file and text of the second error, and its fix."""


def accept(b: Bench, src: markup.Source, proposal: Proposal) -> None:
    """Apply a proposal, as an editor does."""
    for number, edit in enumerate(sorted(proposal.edits, reverse=True)):
        b.harness.change(src.document.uri, edit, 2 + number)
    b.harness.record(src.document.uri, proposal.id, "applied")


async def learn(b: Bench, name: str = "a.ts") -> None:
    first = b.open(CASES[name][0], name)
    proposal = await propose_fix(b, first)
    assert proposal.is_by_model
    accept(b, first, proposal)
    assert len(b.engine.foreground_requests) >= 1


def read_events(b: Bench) -> list[Any]:
    return read_checked_log(b.harness.services.session.log.path)


@pytest.mark.process
@pytest.mark.parametrize("name", CASES)
async def test_a_learned_fix_needs_no_model_and_is_verified_again(bench: Make, name: str) -> None:
    _, reply, second_name, second_text, expected = CASES[name]
    await learn(bench(reply, config=REPAIRED), name)

    # another process, whose engine has no reply at all
    b = bench(config=REPAIRED)
    second = b.open(second_text, second_name)
    [offer] = await b.harness.fixes.offer(b.harness.snapshot(second.document.uri), [second.finding])
    proposal = await propose_fix(b, second, offer)

    assert (offer.source, proposal.is_by_model) == ("repair", False)
    assert apply(second.document.data, proposal.edits).decode() == expected
    # only the tool that reported it can say whether it is gone
    assert proposal.summary.startswith("learned fix: form ✓, behaviour not checked (parse ✓, kept ✓")
    assert b.engine.foreground_requests == []
    events = read_events(b)
    assert select_event_data(events, "model.started") == []
    [verified] = select_event_data(events, "verify.completed")
    assert (verified["passed"], verified["hash"]) == (True, proposal.verdict.hash)
    [fix] = LearnedFixes(b.folder).usable()
    assert (fix.tried, fix.passed, fix.failed) == (1, 1, 0)


async def test_a_fix_that_was_not_accepted_is_not_learned(bench: Make) -> None:
    b = bench(CASES["a.ts"][1], config=REPAIRED)
    await propose_fix(b, b.open(CASES["a.ts"][0], "a.ts"))
    assert LearnedFixes(b.folder).usable() == []


@pytest.mark.parametrize("setting", [{"knowledge": {"error_cache": False}}, {"generation": {"repairs": False}}])
async def test_the_settings_switch_the_error_cache_off(bench: Make, setting: dict[str, Any]) -> None:
    await learn(bench(CASES["a.ts"][1], config=REPAIRED))
    off: Config = make_settings(REPAIRED, **setting)
    b = bench(CASES["a.ts"][1].replace("items", "names"), config=off)
    second = b.open(CASES["a.ts"][3], "b.ts")
    proposal = await propose_fix(b, second)
    assert proposal.is_by_model
    assert len(b.engine.foreground_requests) == 1
    [fix] = LearnedFixes(b.folder).usable()
    assert fix.tried == 0


async def test_no_fix_is_learned_if_the_setting_is_off(bench: Make) -> None:
    b = bench(CASES["a.ts"][1], config=make_settings(REPAIRED, knowledge={"error_cache": False}))
    await learn(b)
    assert LearnedFixes(b.folder).usable() == []


@pytest.mark.process
async def test_a_learned_fix_that_is_rejected_twice_is_dropped(bench: Make) -> None:
    b = bench("return open(clean(path))", config=REPAIRED)
    text = """
        def read(path):
            return open(path)
            #      ^^^^ W1514 a path that nobody cleaned
        """
    first = b.open("def clean(path):\n    return path\n" + "\n" * 9 + dedent(text[1:]))
    accept(b, first, await propose_fix(b, first))
    # nothing is called `clean` in these files
    for failures in (1, 2):
        b = bench("return open(path.strip())", config=REPAIRED)
        proposal = await propose_fix(b, b.open(text, f"c{failures}.py"))
        assert proposal.is_by_model
        rejected = select_event_data(read_events(b), "candidate.rejected")
        assert [data["reason"] for data in rejected] == ["LINT: F821 Undefined name `clean`"]
        assert [fix.failed for fix in LearnedFixes(b.folder).usable()] == [1] * (failures < 2)
    b = bench("return open(path.strip())", config=REPAIRED)
    await propose_fix(b, b.open(text, "c3.py"))
    assert select_event_data(read_events(b), "candidate.rejected") == []


async def test_a_refusal_of_the_user_counts_as_a_failure(bench: Make) -> None:
    await learn(bench(CASES["a.ts"][1], config=REPAIRED))
    b = bench(config=REPAIRED)
    second = b.open(CASES["a.ts"][3], "b.ts")
    proposal = await propose_fix(b, second)
    b.harness.fixes.unlearn(reject_proposal(b.harness.documents.find(second.document.uri), proposal.id, "no"))
    [fix] = LearnedFixes(b.folder).usable()
    assert (fix.passed, fix.failed) == (1, 1)


async def test_two_accepted_fixes_of_one_error_ask_no_model_either(bench: Make) -> None:
    await learn(bench("return items.length;", config=REPAIRED))
    b = bench("return items.length.valueOf();", config=make_settings(REPAIRED, knowledge={"error_cache": False}))
    first = b.open(CASES["a.ts"][0], "c.ts")
    proposal = await propose_fix(b, first)
    b.harness.configure(REPAIRED)
    accept(b, first, proposal)
    assert len(LearnedFixes(b.folder).usable()) == 2
    b = bench(config=REPAIRED)
    proposal = await propose_fix(b, b.open(CASES["a.ts"][3], "b.ts"))
    assert not proposal.is_by_model


async def test_a_workspace_without_trust_uses_no_fixes(bench: Make, tmp_path: Path) -> None:
    await learn(bench(CASES["a.ts"][1], config=REPAIRED))
    b = bench(config=REPAIRED, is_trusted=False)
    second = b.open(CASES["a.ts"][3], "b.ts")
    assert await b.harness.fixes.offer(b.harness.snapshot(second.document.uri), [second.finding]) == []
    assert b.harness.services.learned_fixes(tmp_path) is None

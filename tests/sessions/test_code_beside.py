"""New methods, tests and doc comments of the driver `code` in a language whose tests stand in the same file."""

from pathlib import Path

import pytest

from lsp_harness.coding.plan.understanding import understand_by_facts
from lsp_harness.errors import NoAnswer
from tests.sessions.conftest import OpenScripted, ask

RUST = """\
pub struct Stack {
    items: Vec<u8>,
}

impl Stack {
    pub fn pop(&mut self) -> Option<u8> {
        self.items.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pops() {
        assert_eq!(Stack { items: vec![1] }.pop(), Some(1));
    }
}
"""
NO_TEST = "pub fn pop_all(&mut self) {}"
NEW_TEST = "#[test]\nfn pops_nothing() {\n    assert_eq!(Stack { items: vec![] }.pop(), None);\n}"
METHOD = "pub fn push(&mut self, item: u8) {\n    self.items.push(item);\n}"


@pytest.mark.parametrize(
    ("prompt", "replies", "text"),
    [
        # a member goes into its type, and what stands around it in the answer is left out
        ("add a method push to Stack", [f"impl Stack {{\n    {METHOD.replace(chr(10), chr(10) + '    ')}\n}}"],
         RUST.replace("self.items.pop()\n    }\n",
                      "self.items.pop()\n    }\n\n    " + METHOD.replace("\n", "\n    ") + "\n")),
        # code that is no test does not count
        ("write a unit test for Stack::pop", [NO_TEST, NEW_TEST],
         RUST.replace("Some(1));\n    }\n", "Some(1));\n    }\n\n    " + NEW_TEST.replace("\n", "\n    ") + "\n")),
    ],
)  # fmt: skip
async def test_members_and_tests_are_written_where_they_belong(
    open_scripted: OpenScripted, project: Path, prompt: str, replies: list[str], text: str
):
    (project / "stack.rs").write_text(RUST)
    sorting = [] if understand_by_facts(prompt) else [{"text": "generate"}]
    answers = [{"text": f"```rust\n{reply}\n```"} for reply in [*replies, *replies[-1:] * 8]]
    opened = await open_scripted(*sorting, *answers, driver="code")
    stopped = await ask(opened, prompt)
    assert (project / "stack.rs").read_text() == text, stopped


async def test_a_method_of_rust_gets_a_doc_comment(open_scripted: OpenScripted, project: Path):
    (project / "stack.rs").write_text(RUST)
    opened = await open_scripted(*[{"text": "Removes the last item."}] * 4, driver="code")
    stopped = await ask(opened, "write a doc comment for Stack::pop")
    documented = RUST.replace("    pub fn pop", "    /// Removes the last item.\n    pub fn pop")
    assert (project / "stack.rs").read_text() == documented, stopped


async def test_tests_need_a_test_file_that_shows_their_form(open_scripted: OpenScripted, project: Path):
    (project / "shape.ts").write_text("export function area(width: number) {\n  return width;\n}\n")
    opened = await open_scripted(driver="code")
    with pytest.raises(NoAnswer, match=r"shape\.ts has no test file yet; create one with a first test, then ask again"):
        await ask(opened, "write tests for area")

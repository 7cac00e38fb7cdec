"""A test that checked something and does not any more fails the check, in each language whose tests are read."""

from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change
from lsp_harness.verify.project_tests.lost_tests import count_checks, find_emptied_tests

JAVASCRIPT = """\
describe("totals", () => {
  test("sum", () => {
    const result = total([1, 2]);
    assert.strictEqual(result, 3);
  });
  it("is async", async () => {
    await expect(load()).rejects.toThrow();
  });
});
test.skip("later", () => {});
test.each([[1], [2]])("each %d", (n) => {
  n.should.equal(n);
});
"""
RUST = """\
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        assert_eq!(total(&[1, 2]), 3);
    }

    // a remark
    #[tokio::test]
    async fn loads() {
        load().await.unwrap();
    }

    #[test]
    #[should_panic]
    fn panics() {
        total(&[]);
    }

    fn helper() {
        assert!(true);
    }
}
"""
GO = """\
package calc

import "testing"

func TestTotal(t *testing.T) {
\tif Total(1, 2) != 3 {
\t\tt.Fatalf("wrong")
\t}
}

func helper(t *testing.T) { t.Fatal("x") }
"""
ALL = {'"totals" > "sum"', '"totals" > "is async"', '"each %d"'}
PYTHON = "class TestSum:\n    def test_sum(self):\n        assert total([1, 2]) == 3\n"


def change_of(name: str, before: str, after: str, tmp_path: Path) -> Change:
    file = tmp_path / name
    texts = [Document.from_text(file.as_uri(), text.encode()) for text in (before, after)]
    return Change.from_documents(texts[0], texts[1], file, tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "checks"),
    [
        ("calc.test.js", JAVASCRIPT, ALL),
        ("calc.test.ts", JAVASCRIPT, ALL),
        ("calc.test.tsx", JAVASCRIPT, ALL),
        ("lib.rs", RUST, {"sums", "loads"}),
        ("calc_test.go", GO, {"TestTotal"}),
        ("test_calc.py", PYTHON, {"TestSum::test_sum"}),
        ("broken.py", "def test_a(:\n", set[str]()),
        ("notes.txt", "test", set[str]()),
    ],
)
def test_tests_with_checks_are_found(name: str, text: str, checks: set[str]) -> None:
    counts = count_checks(Document.from_text(f"file:///{name}", text))
    assert {test for test, count in counts.items() if count} == checks


@pytest.mark.parametrize(
    ("name", "text", "old", "new", "test"),
    [
        ("calc.test.js", JAVASCRIPT, "    assert.strictEqual(result, 3);\n", "", '"totals" > "sum"'),
        ("calc.test.ts", JAVASCRIPT, "await expect(load()).rejects.toThrow()", "await load()", '"totals" > "is async"'),
        ("lib.rs", RUST, "assert_eq!(total(&[1, 2]), 3)", "total(&[1, 2])", "sums"),
        ("calc_test.go", GO, 't.Fatalf("wrong")', "_ = 1", "TestTotal"),
        ("test_calc.py", PYTHON, "assert total([1, 2]) == 3", "total([1, 2])", "TestSum::test_sum"),
        ("test_calc.py", PYTHON, "assert total([1, 2]) == 3", "assert True", "TestSum::test_sum"),
    ],
)
def test_emptied_test_is_named(name: str, text: str, old: str, new: str, test: str, tmp_path: Path) -> None:
    assert old in text
    change = change_of(name, text, text.replace(old, new), tmp_path)
    (problem,) = find_emptied_tests(change)
    assert (problem.test, problem.message) == (f"{name}::{test}", "it checks nothing any more")
    assert not find_emptied_tests(change, "remove the checks of this test")


@pytest.mark.parametrize(
    ("name", "text", "old", "new"),
    [
        ("calc.test.js", JAVASCRIPT, "assert.strictEqual(result, 3)", "expect(result).toBe(3)"),
        ("calc.test.js", JAVASCRIPT, 'test("sum"', 'test("total"'),
        ("lib.rs", RUST, "load().await.unwrap()", "assert!(load().await.is_ok())"),
        ("calc_test.go", GO, 't.Fatalf("wrong")', "require.Fail(t)"),
        ("test_calc.py", PYTHON, "assert total([1, 2]) == 3", "self.check(total, 3)"),
    ],
)
def test_a_test_with_other_kinds_of_checks_is_not_emptied(
    name: str, text: str, old: str, new: str, tmp_path: Path
) -> None:
    assert old in text
    assert not find_emptied_tests(change_of(name, text, text.replace(old, new), tmp_path))

"""Layouts of projects in Rust and Go."""

from benchmarks.layouts.layout import Layout, ProposedEdit

MANIFEST = '[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n'
LOCK = 'version = 4\n\n[[package]]\nname = "{name}"\nversion = "1.0.0"\n'
CALC = """pub fn total(prices: &[i64]) -> i64 {
    let mut result = 0;
    for price in prices {
        result = result + price;
    }
    result
}

pub fn label(name: &str) -> String {
    name.trim().to_uppercase()
}
"""
LOOP = """    let mut result = 0;
    for price in prices {
        result = result + price;
    }
    result
"""
SUM = "    prices.iter().sum()\n"
OTHER_FORM = """    let mut subtotal = 0;
    for price in prices {
        subtotal = price + subtotal;
    }
    subtotal
"""
REPORT = """use {calc}::{label, total};

pub fn render(name: &str, prices: &[i64]) -> String {
    format!("{}: {}", label(name), total(prices))
}
"""
NOTHING = """    #[test]
    fn nothing() {
        assert_eq!(total(&[]), 0);
    }
"""
UNIT_TESTS = f"""
#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn adds() {{
        assert_eq!(total(&[1, 2, 3]), 6);
    }}

{NOTHING}}}
"""
RENDER_TEST = """
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders() {
        assert_eq!(render(" tea ", &[2, 3]), "TEA: 5");
    }
}
"""
CARGO = ("cargo", "test", "--offline", "--quiet")


def make_edits(calc: str, tests: str, lost: tuple[str, str]) -> tuple[ProposedEdit, ...]:
    """Return the edits of a crate with `CALC`.

    Args:
        calc: The path of the module.
        tests: The path of its tests.
        lost: The text of a test, and what replaces it.
    """
    return (
        ProposedEdit("right", calc, ((LOOP, SUM),)),
        ProposedEdit("caught", calc, (("result + price", "result - price"),)),
        ProposedEdit("form", calc, ((LOOP, OTHER_FORM),)),
        ProposedEdit("lost", tests, (lost,)),
        ProposedEdit("importer", calc, (("pub fn label(", "pub fn make_label("),)),
    )


LIBRARY = "pub mod calc;\npub mod report;\n"
INNER_REPORT = REPORT.replace("{calc}", "crate::calc")
UNIT = Layout(
    "cargo-unit-tests",
    {
        "Cargo.toml": MANIFEST.format(name="shop"),
        "Cargo.lock": LOCK.format(name="shop"),
        "src/lib.rs": LIBRARY,
        "src/calc.rs": CALC + UNIT_TESTS,
        "src/report.rs": INNER_REPORT + RENDER_TEST,
    },
    make_edits("src/calc.rs", "src/calc.rs", (NOTHING, "")),
    CARGO,
    needs=("cargo",),
)
INTEGRATION = Layout(
    "cargo-tests-folder",
    {
        "Cargo.toml": MANIFEST.format(name="shop"),
        "Cargo.lock": LOCK.format(name="shop"),
        "src/lib.rs": LIBRARY,
        "src/calc.rs": CALC,
        "src/report.rs": INNER_REPORT,
        "tests/calc.rs": "use shop::calc::total;\n\n#[test]\nfn adds() {\n    assert_eq!(total(&[1, 2, 3]), 6);\n}\n\n"
        "#[test]\nfn nothing() {\n    assert_eq!(total(&[]), 0);\n}\n",
        "tests/report.rs": "use shop::report::render;\n\n#[test]\nfn renders() {\n"
        '    assert_eq!(render(" tea ", &[2, 3]), "TEA: 5");\n}\n',
    },
    make_edits("src/calc.rs", "tests/calc.rs", ("#[test]\nfn nothing()", "#[test]\n#[ignore]\nfn nothing()")),
    CARGO,
    needs=("cargo",),
)
WORKSPACE = Layout(
    "cargo-workspace",
    {
        "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["core", "app"]\n',
        "Cargo.lock": 'version = 4\n\n[[package]]\nname = "app"\nversion = "1.0.0"\ndependencies = [\n '
        '"core-shop",\n]\n\n'
        '[[package]]\nname = "core-shop"\nversion = "1.0.0"\n',
        "core/Cargo.toml": MANIFEST.format(name="core-shop"),
        "core/src/lib.rs": "pub mod calc;\n",
        "core/src/calc.rs": CALC + UNIT_TESTS,
        "app/Cargo.toml": MANIFEST.format(name="app") + '\n[dependencies]\ncore-shop = { path = "../core" }\n',
        "app/src/lib.rs": REPORT.replace("{calc}", "core_shop::calc") + RENDER_TEST,
    },
    make_edits("core/src/calc.rs", "core/src/calc.rs", ("fn nothing()", "fn no_prices()")),
    CARGO,
    needs=("cargo",),
)
DOC = """/// Returns the sum of some prices.
///
/// ```
/// assert_eq!(shop::calc::total(&[1, 2, 3]), 6);
/// ```
///
/// ```
/// assert_eq!(shop::calc::total(&[]), 0);
/// ```
"""
DOCTEST = Layout(
    "cargo-doctest",
    {
        "Cargo.toml": MANIFEST.format(name="shop"),
        "Cargo.lock": LOCK.format(name="shop"),
        "src/lib.rs": LIBRARY,
        "src/calc.rs": DOC + CALC,
        "src/report.rs": INNER_REPORT,
    },
    make_edits("src/calc.rs", "src/calc.rs", ("/// ```\n/// assert_eq!(shop::calc::total(&[]), 0);\n/// ```\n", "")),
    CARGO,
    needs=("cargo",),
)
GO_CALC = """package calc

import "strings"

func Total(prices []int) int {
	result := 0
	for _, price := range prices {
		result = result + price
	}
	return result
}

func Label(name string) string {
	return strings.ToUpper(strings.TrimSpace(name))
}
"""
GO_LOOP = """	result := 0
	for _, price := range prices {
		result = result + price
	}
	return result
"""
GO_OTHER = """	total := 0
	for index := 0; index < len(prices); index++ {
		total += prices[index]
	}
	return total
"""
GO_FORM = """	subtotal := 0
	for _, price := range prices {
		subtotal = price + subtotal
	}
	return subtotal
"""
GO_NOTHING = """
func TestNothing(t *testing.T) {
	if Total(nil) != 0 {
		t.Fatal("not nothing")
	}
}
"""
GO = Layout(
    "go-module",
    {
        "go.mod": "module example.org/shop\n\ngo 1.19\n",
        "calc/calc.go": GO_CALC,
        "calc/calc_test.go": 'package calc\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n'
        '\tif got := Total([]int{1, 2, 3}); got != 6 {\n\t\tt.Fatalf("got %d", got)\n\t}\n}\n' + GO_NOTHING,
        "report/report.go": 'package report\n\nimport (\n\t"fmt"\n\n\t"example.org/shop/calc"\n)\n\n'
        "func Render(name string, prices []int) string {\n"
        '\treturn fmt.Sprintf("%s: %d", calc.Label(name), calc.Total(prices))\n}\n',
        "report/report_test.go": 'package report\n\nimport "testing"\n\nfunc TestRender(t *testing.T) {\n'
        '\tif got := Render(" tea ", []int{2, 3}); got != "TEA: 5" {\n\t\tt.Fatal(got)\n\t}\n}\n',
    },
    (
        ProposedEdit("right", "calc/calc.go", ((GO_LOOP, GO_OTHER),)),
        ProposedEdit("caught", "calc/calc.go", (("result + price", "result - price"),)),
        ProposedEdit("form", "calc/calc.go", ((GO_LOOP, GO_FORM),)),
        ProposedEdit("lost", "calc/calc_test.go", ((GO_NOTHING, ""),)),
        ProposedEdit("importer", "calc/calc.go", (("func Label(", "func MakeLabel("),)),
    ),
    ("go", "test", "./..."),
    needs=("go",),
)
LAYOUTS = (UNIT, INTEGRATION, WORKSPACE, DOCTEST, GO)
"""All layouts in Rust and Go."""

"""The HTML page of results. It has no scripts, fonts or images from other sites, and a light and a dark theme."""

from collections.abc import Sequence
from html import escape

from benchmarks.engine.figures import Figure, Result
from benchmarks.engine.plot import plot_distribution

STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --paper: #ffffff; --faint: #d6dbe1; --soft: #5b6670;
  --line0: #1f6fb2; --line1: #c2571a; --line2: #2f8f4e; --line3: #8a4fb0; --good: #1d7a3f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --paper: #14181c; --faint: #333b43; --soft: #9aa5af;
    --line0: #6bb2ef; --line1: #f0955a; --line2: #6fcf8e; --line3: #c497e8; --good: #6fcf8e; --bad: #ff8a80; }
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h2 { margin-top: 3rem; border-top: 1px solid var(--faint); padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top;
  padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--faint); }
td.n, th.n { text-align: right; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.met { color: var(--good); } .missed { color: var(--bad); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.5rem; margin-top: 1rem; }
figure { margin: 0; } svg { width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 11px; } .rule { stroke: var(--faint); }
.line { fill: none; stroke-width: 2; } .line0 { stroke: var(--line0); } .line1 { stroke: var(--line1); }
.line2 { stroke: var(--line2); } .line3 { stroke: var(--line3); }
"""
HEADINGS = ("figure", "ours", "beside", "of", "ratio", "goal", "")
NUMBER_COLUMNS = ("ours", "beside", "ratio")


def format_number(value: float | None, unit: str = "") -> str:
    """Return a value as text, or a dash if it was not measured."""
    if value is None:
        return "–"
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def make_figure_cells(figure: Figure) -> tuple[str, ...]:
    """Return the cells of a figure in the order of `HEADINGS`."""
    verdict = {True: "met", False: "missed", None: "not measured" if figure.goal else ""}[figure.met]
    return (
        figure.name,
        format_number(figure.value, figure.unit),
        format_number(figure.beside, figure.unit) if figure.against else "",
        figure.against if figure.beside is not None else "",
        format_number(figure.ratio) if figure.ratio is not None else "",
        str(figure.goal or ""),
        verdict,
    )


def render_page(results: Sequence[Result]) -> str:
    """Return the page as HTML."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lsp-harness benchmarks</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>lsp-harness benchmarks</h1>"
        f"{''.join(_render_section(result) for result in results)}</body></html>\n"
    )


def _render_section(result: Result) -> str:
    rows = "".join(_render_row(make_figure_cells(figure)) for figure in result.figures)
    head = "".join(f"<th{_choose_column_class(at)}>{heading}</th>" for at, heading in enumerate(HEADINGS))
    charts = "".join(
        f"<figure>{svg}<figcaption>{escape(chart)}: share of samples up to a value</figcaption></figure>"
        for chart, lines in result.series.items()
        if (svg := plot_distribution(chart, lines))
    )
    machine = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.machine.items())
    notes = "".join(f'<p class="note">{escape(text)}</p>' for text in (*result.notes, machine) if text)
    return (
        f"<h2>{escape(result.name)}</h2><p>{escape(result.title)}</p><table><tr>{head}</tr>{rows}</table>"
        f'<div class="charts">{charts}</div>{notes}'
    )


def _render_row(texts: Sequence[str]) -> str:
    verdict = texts[-1]
    kind = f' class="{verdict}"' if verdict in ("met", "missed") else ""
    row_cells = "".join(f"<td{_choose_column_class(at)}>{escape(text)}</td>" for at, text in enumerate(texts[:-1]))
    return f"<tr>{row_cells}<td{kind}>{escape(verdict)}</td></tr>"


def _choose_column_class(column: int) -> str:
    return ' class="n"' if HEADINGS[column] in NUMBER_COLUMNS else ""

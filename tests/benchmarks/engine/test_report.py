"""Tests of the HTML page and its charts."""

from html.parser import HTMLParser

import pytest

from benchmarks.engine.figures import Figure, Goal, Result
from benchmarks.engine.plot import plot_distribution
from benchmarks.engine.report import format_number, make_figure_cells, render_page

FIGURES = (
    Figure("fast <enough>", 1.0, 40.0, "llama-server", "ms", Goal(0.05, "ratio")),
    Figure("slow", 300.0, 40.0, "llama-server", "ms", Goal(100)),
    Figure("unknown", 5.0, None, "llama-server", "", Goal(0.5, "ratio")),
)
RESULT = Result(
    "typing", "8 keys", FIGURES, ["a <note>"], {"time, ms": {"ours": [1.0, 2.0], "theirs": []}}, {"cores": 2}
)


class Page(HTMLParser):
    """A parser of HTML that keeps open tags, links and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_well_formed_and_needs_no_other_files() -> None:
    html = render_page([RESULT, RESULT])
    read = Page(html)
    assert (read.open, read.links) == ([], [])
    assert "script" not in read.tags
    assert "@import" not in html
    assert "url(" not in html
    assert html.count("<svg") == 2
    assert "prefers-color-scheme: dark" in html
    assert "fast <enough>" in read.text
    assert "a <note>" in read.text


def test_a_row_names_the_compared_server_and_the_state_of_the_goal() -> None:
    assert make_figure_cells(FIGURES[0]) == (
        "fast <enough>",
        "1 ms",
        "40 ms",
        "llama-server",
        "0.025",
        "ratio ≤ 0.05",
        "met",
    )
    assert make_figure_cells(FIGURES[1])[-2:] == ("≤ 100", "missed")
    assert make_figure_cells(FIGURES[2]) == ("unknown", "5", "–", "", "", "ratio ≤ 0.5", "not measured")
    assert 'class="met"' in render_page([RESULT])
    assert 'class="missed"' in render_page([RESULT])


def test_numbers_are_rounded_for_people() -> None:
    assert [format_number(value) for value in (None, 0.0, 0.04567, 12.345, 1234.5)] == [
        "–",
        "0",
        "0.0457",
        "12.3",
        "1,234",
    ]


def test_a_plot_has_a_line_for_each_side_that_has_samples() -> None:
    svg = plot_distribution("time", {"ours": [1.0, 2.0], "theirs": [3.0], "none": []})
    assert svg.count("<polyline") == 2
    assert ">theirs<" in svg
    assert ">none<" not in svg
    assert plot_distribution("time", {"none": []}) == ""


def test_far_apart_samples_get_a_logarithmic_axis() -> None:
    svg = plot_distribution("time", {"ours": [0.0, 5.0], "theirs": [5000.0]})
    assert [label for label in ("1", "10", "100", "1,000") if f">{label}<" in svg] == ["1", "10", "100", "1,000"]


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-3.0, 4.0], [0.001, 0.002]])
def test_any_samples_can_be_drawn(values: list[float]) -> None:
    svg = plot_distribution("time", {"ours": values})
    points = svg.split('points="')[1].split('"')[0].split()
    assert all(0 <= float(part) <= 560 for point in points for part in point.split(","))

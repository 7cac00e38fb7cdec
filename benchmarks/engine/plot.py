"""Charts as SVG text: the share of samples up to a value, with one line for each series."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 58
"""Margins around the plot. The legend is in the bottom margin."""
LEGEND_COLUMNS = 2
"""Names side by side in the legend, which has two rows."""
SHARE_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of a chart: sample values from `start` to `end` on x, shares from 0 to 1 on y."""

    start: float
    end: float
    is_logarithmic: bool

    def x(self, value: float) -> float:
        """Return the x coordinate of a value. A value below `start` on a logarithmic axis is at the left edge."""
        if self.is_logarithmic:
            share = math.log(max(value, self.start) / self.start) / math.log(self.end / self.start)
        else:
            share = (value - self.start) / (self.end - self.start)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, share: float) -> float:
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def share_rule(self, share: float) -> str:
        """Return the horizontal rule at a share, with its label."""
        y = self.y(share)
        return _render_rule(LEFT, y, WIDTH - RIGHT, y) + _render_label(f"{share:.0%}", LEFT - 6, y + 4, "end")

    def value_rule(self, value: float) -> str:
        """Return the vertical rule at a value, with its label."""
        x, bottom = self.x(value), self.y(0)
        return _render_rule(x, TOP, x, bottom) + _render_label(_format_value(value), x, bottom + 16, "middle")

    def tick_values(self) -> list[float]:
        """Return the values with a rule: powers of ten, or at most about six round values."""
        if self.is_logarithmic:
            powers = range(math.ceil(math.log10(self.start)), math.floor(math.log10(self.end)) + 1)
            return [10.0**power for power in powers]
        step = 10 ** math.floor(math.log10((self.end - self.start) / 2))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.end - self.start) / (step * factor) <= 6)
        first = math.ceil(self.start / step)
        return [number * step for number in range(first, math.floor(self.end / step) + 1)]


def plot_distribution(chart: str, lines: Mapping[str, Sequence[float]]) -> str:
    """Return a cumulative distribution as SVG, or an empty text without samples.

    The axis of values is logarithmic if the samples span more than two orders of magnitude. It then begins at 1, and
    smaller values are at its left edge.

    Args:
        chart: The name of the chart, for screen readers.
        lines: Name of a line → samples.
    """
    samples = {name: sorted(values) for name, values in lines.items() if values}
    if not samples:
        return ""
    low, high = min(values[0] for values in samples.values()), max(values[-1] for values in samples.values())
    if high > 100 * max(low, 1.0):
        axes = _Axes(1.0, high, is_logarithmic=True)
    else:
        axes = _Axes(min(low, 0.0), high if high > min(low, 0.0) else low + 1.0, is_logarithmic=False)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart)}">',
        *(axes.share_rule(share) for share in SHARE_TICKS),
        *(axes.value_rule(value) for value in axes.tick_values()),
    ]
    for number, (name, values) in enumerate(samples.items()):
        parts.append(f'<polyline class="line line{number}" points="{_step_points(values, axes)}"/>')
        parts.append(_render_legend(number, name))
    return "".join([*parts, "</svg>"])


def _step_points(values: Sequence[float], axes: _Axes) -> str:
    points = [(axes.x(values[0]), axes.y(0.0))]
    for rank, value in enumerate(values):
        x = axes.x(value)
        points += [(x, axes.y(rank / len(values))), (x, axes.y((rank + 1) / len(values)))]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _render_legend(number: int, name: str) -> str:
    row, column = divmod(number, LEGEND_COLUMNS)
    x, y = LEFT + column * (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS, HEIGHT - 22 + 16 * row
    line = f'<line class="line line{number}" x1="{x}" x2="{x + 16}" y1="{y - 4}" y2="{y - 4}"/>'
    return f'{line}<text x="{x + 21}" y="{y}">{escape(name)}</text>'


def _render_rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _render_label(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _format_value(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"

"""Plots as SVG text: the share of samples that stay below a value, one line a side."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 58
Coordinate = Callable[[float], float]
LEGEND_COLUMNS = 2
"""Names side by side; there is room for two rows."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def plot_distribution(chart: str, lines: Mapping[str, Sequence[float]]) -> str:
    """A cumulative distribution; empty where there is nothing to plot.

    The axis is logarithmic where the samples reach over two orders of magnitude. Values below the axis' first one,
    which on a logarithmic axis are those below 1, stand at its left edge.
    """
    drawn = {name: sorted(values) for name, values in lines.items() if values}
    if not drawn:
        return ""
    low, high = min(v[0] for v in drawn.values()), max(v[-1] for v in drawn.values())
    logarithmic = high > 100 * max(low, 1.0)
    start, end = (1.0, high) if logarithmic else (min(low, 0.0), high if high > min(low, 0.0) else low + 1.0)

    def x(value: float) -> float:
        share = (
            math.log(max(value, start) / start) / math.log(end / start)
            if logarithmic
            else (value - start) / (end - start)
        )
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(chart)}">',
        *(_render_rule(LEFT, y(t), WIDTH - RIGHT, y(t), f"{t:.0%}", LEFT - 6, y(t) + 4, "end") for t in TICKS),
        *(
            _render_rule(x(v), TOP, x(v), y(0), _format_value(v), x(v), y(0) + 16, "middle")
            for v in _axis_values(start, end, logarithmic)
        ),
    ]
    for number, (name, values) in enumerate(drawn.items()):
        parts.append(f'<polyline class="line line{number}" points="{_step_points(values, x, y)}"/>')
        row, column = divmod(number, LEGEND_COLUMNS)
        at, down = LEFT + column * (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS, HEIGHT - 22 + 16 * row
        parts.append(f'<line class="line line{number}" x1="{at}" x2="{at + 16}" y1="{down - 4}" y2="{down - 4}"/>')
        parts.append(f'<text x="{at + 21}" y="{down}">{escape(name)}</text>')
    return "".join([*parts, "</svg>"])


def _step_points(values: Sequence[float], x: Coordinate, y: Coordinate) -> str:
    points = [(x(values[0]), y(0.0))]
    for rank, value in enumerate(values):
        points += [(x(value), y(rank / len(values))), (x(value), y((rank + 1) / len(values)))]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)


def _render_rule(x1: float, y1: float, x2: float, y2: float, label: str, x: float, y: float, anchor: str) -> str:
    return (
        f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{label}</text>'
    )


def _axis_values(start: float, end: float, logarithmic: bool) -> list[float]:
    if logarithmic:
        return [10.0**power for power in range(math.ceil(math.log10(start)), math.floor(math.log10(end)) + 1)]
    step = 10 ** math.floor(math.log10((end - start) / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if (end - start) / (step * factor) <= 6)
    first = math.ceil(start / step)
    return [number * step for number in range(first, math.floor(end / step) + 1)]


def _format_value(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"

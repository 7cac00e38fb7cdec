"""The result of a benchmark: figures, each with a value for comparison and a goal, and the samples."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

REFERENCE = "llama-server"
"""Name of the server for comparison in figures and charts."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return a percentile, linear between the nearest ranks as the default of numpy; None without values."""
    if not values:
        return None
    ordered = sorted(values)
    rank = (len(ordered) - 1) * share
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)


def p50(values: Sequence[float]) -> float | None:
    """Return the median, or None without values."""
    return percentile(values, 0.5)


def p95(values: Sequence[float]) -> float | None:
    """Return the 95th percentile, or None without values."""
    return percentile(values, 0.95)


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound for our value, or for its ratio to the value for comparison."""

    bound: float
    of: Literal["value", "ratio"] = "value"
    is_minimum: bool = False
    """The bound is a minimum; otherwise it is a maximum."""

    def __str__(self) -> str:
        sign = "≥" if self.is_minimum else "≤"
        return f"{'ratio ' if self.of == 'ratio' else ''}{sign} {self.bound:.3g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, or None if it was not measured. `beside` is the value for comparison."""

    name: str
    value: float | None
    beside: float | None = None
    against: str = ""
    """The thing on which `beside` was measured."""
    unit: str = "ms"
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        """Return the ratio of the value to `beside`, or None if one of them is missing."""
        if self.value is None or not self.beside:
            return None
        return self.value / self.beside

    @property
    def met(self) -> bool | None:
        """Return whether the goal is met; None without a goal or without a measured value."""
        if self.goal is None:
            return None
        value = self.value if self.goal.of == "value" else self.ratio
        if value is None:
            return None
        return value >= self.goal.bound if self.goal.is_minimum else value <= self.goal.bound


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one run. `series` holds the samples to plot: chart → line → values."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    series: Mapping[str, Mapping[str, Sequence[float]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[float]]]
    )
    machine: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, with ratios and whether goals are met."""
        body = asdict(self)
        body["figures"] = [asdict(figure) | {"ratio": figure.ratio, "met": figure.met} for figure in self.figures]
        return body


def read_result(body: Mapping[str, Any]) -> Result:
    """Return the result from the JSON of `to_json`. Raise KeyError or TypeError for other JSON."""
    figures: list[Figure] = []
    for row in body["figures"]:
        values = {key: row[key] for key in ("name", "value", "beside", "against", "unit")}
        figures.append(Figure(**values, goal=Goal(**row["goal"]) if row["goal"] else None))
    return Result(body["name"], body["title"], figures, body["notes"], body["series"], body["machine"])

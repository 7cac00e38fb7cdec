"""What a benchmark says: figures, each with what it stands beside and what it should be, and the samples behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

REFERENCE = "llama-server"


def percentile(values: Sequence[float], share: float) -> float | None:
    """Linear between the nearest ranks, as numpy's default; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def p50(values: Sequence[float]) -> float | None:
    return percentile(values, 0.5)


def p95(values: Sequence[float]) -> float | None:
    return percentile(values, 0.95)


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on our value, or on its ratio to what it stands beside."""

    bound: float
    of: Literal["value", "ratio"] = "value"
    least: bool = False
    """The bound is the least allowed, not the most."""

    def __str__(self) -> str:
        sign = "≥" if self.least else "≤"
        return f"{'ratio ' if self.of == 'ratio' else ''}{sign} {self.bound:.3g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; None was not measured."""

    name: str
    value: float | None
    beside: float | None = None
    against: str = ""
    """What `beside` was measured on."""
    unit: str = "ms"
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        if self.value is None or not self.beside:
            return None
        return self.value / self.beside

    @property
    def met(self) -> bool | None:
        """None where there is no goal, or nothing was measured to hold against it."""
        if self.goal is None:
            return None
        value = self.value if self.goal.of == "value" else self.ratio
        if value is None:
            return None
        return value >= self.goal.bound if self.goal.least else value <= self.goal.bound


@dataclass(frozen=True, slots=True)
class Result:
    """One run. `series` are the samples to plot: chart → line → values."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    series: Mapping[str, Mapping[str, Sequence[float]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[float]]]
    )
    machine: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        """With ratios and verdicts, for programs."""
        body = asdict(self)
        body["figures"] = [asdict(figure) | {"ratio": figure.ratio, "met": figure.met} for figure in self.figures]
        return body


def from_json(body: Mapping[str, Any]) -> Result:
    """The inverse. Raises KeyError or TypeError on anything else."""
    figures: list[Figure] = []
    for row in body["figures"]:
        own = {key: row[key] for key in ("name", "value", "beside", "against", "unit")}
        figures.append(Figure(**own, goal=Goal(**row["goal"]) if row["goal"] else None))
    return Result(body["name"], body["title"], figures, body["notes"], body["series"], body["machine"])

"""What the engine has done since it started, as counters and histograms; how much it holds now, as gauges.

Names and units follow Prometheus: seconds, bytes, and `_total` on whatever only grows. No label comes from a user:
clients, paths of files and texts are never among them.
"""

from collections import Counter as Counts
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from lsp_harness.inference.request import Priority, Usage

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60)
"""Seconds. Fine where somebody waits at the keyboard."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the engine holds now: requests, resident sequences, KV cells and parked ones in tokens, texts to embed."""

    pending: int = 0
    sequences: int = 0
    cells_used: int = 0
    cells_total: int = 0
    parked: int = 0
    texts_pending: int = 0


class Meter:
    """Told of everything once. Any thread may tell and read."""

    def __init__(self) -> None:
        # a second line with the time of creation for every counter, which nobody here asks for
        disable_created_metrics()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = self._counter("requests", "Requests to the model that ended.", "class", "outcome")
        self._calls = self._counter("http_requests", "Calls by route and status.", "route", "status")
        self._prompt = self._counter("prompt_tokens", "Prompt tokens that were evaluated or reused.", "source")
        self._shifted = self._counter("shifted_tokens", "Reused prompt tokens that were at other positions before.")
        self._generated = self._counter("generated_tokens", "Tokens that were generated.")
        self._drafted = self._counter("drafted_tokens", "Tokens that were proposed by a draft.")
        self._accepted = self._counter("accepted_tokens", "Drafted tokens that the model would have chosen itself.")
        self._waited = self._histogram("queue_wait_seconds", "From the arrival of a request to its first step.")
        self._first = self._histogram("first_token_seconds", "From the arrival of a request to its first token.")
        self._total = self._histogram("request_seconds", "From the arrival of a request to its end.")
        self._pending = self._gauge("pending_requests", "Requests that wait or are at work.")
        self._sequences = self._gauge("resident_sequences", "Token sequences that need not be evaluated again.")
        self._used = self._gauge("kv_cells_used", "KV cells, of a token each, that hold something.")
        self._cells = self._gauge("kv_cells", "KV cells in all.")
        self._parked = self._gauge("parked_tokens", "Tokens of sequences kept outside of the KV cells.")
        self._texts = self._gauge("pending_texts", "Texts that wait to be embedded.")
        for source in ("evaluated", "reused"):
            self._prompt.labels(source)

    def finished(
        self,
        priority: Priority,
        outcome: str,
        usage: Usage,
        waited_ms: float,
        first_ms: float | None,
        total_ms: float,
    ) -> None:
        """A request to the model has ended. Times count from its arrival; `first_ms` is None when no token came."""
        self._requests.labels(priority, outcome).inc()
        self._prompt.labels("evaluated").inc(usage.evaluated)
        self._prompt.labels("reused").inc(usage.reused)
        self._shifted.inc(usage.shifted)
        self._generated.inc(usage.generated)
        self._drafted.inc(usage.drafted)
        self._accepted.inc(usage.accepted)
        self._waited.labels(priority).observe(waited_ms / 1000)
        if first_ms is not None:
            self._first.labels(priority).observe(first_ms / 1000)
        self._total.labels(priority).observe(total_ms / 1000)

    def called(self, route: str, status: int) -> None:
        """An HTTP call was answered."""
        self._calls.labels(route, str(status)).inc()

    def totals(self) -> dict[str, Any]:
        """The counters, for `/props`: requests by outcome, and tokens."""
        outcomes = Counts[str]()
        for labels, value in _samples(self._requests):
            outcomes[labels["outcome"]] += int(value)
        prompt = {labels["source"]: int(value) for labels, value in _samples(self._prompt)}
        return {
            "requests": dict(outcomes),
            "prompt_tokens_evaluated": prompt["evaluated"],
            "prompt_tokens_reused": prompt["reused"],
            "prompt_tokens_shifted": _value(self._shifted),
            "tokens_generated": _value(self._generated),
            "tokens_drafted": _value(self._drafted),
            "tokens_accepted": _value(self._accepted),
        }

    def exposition(self, load: Load) -> bytes:
        """Everything, in Prometheus' text format."""
        self._pending.set(load.pending)
        self._sequences.set(load.sequences)
        self._used.set(load.cells_used)
        self._cells.set(load.cells_total)
        self._parked.set(load.parked)
        self._texts.set(load.texts_pending)
        return generate_latest(self._registry)

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(f"lsp_harness_{name}", says, labels, registry=self._registry)

    def _gauge(self, name: str, says: str) -> Gauge:
        return Gauge(f"lsp_harness_{name}", says, registry=self._registry)

    def _histogram(self, name: str, says: str) -> Histogram:
        return Histogram(f"lsp_harness_{name}", says, ["class"], registry=self._registry, buckets=BUCKETS)


def _samples(counter: Counter) -> list[tuple[dict[str, str], float]]:
    return [(sample.labels, sample.value) for metric in counter.collect() for sample in metric.samples]


def _value(counter: Counter) -> int:
    return int(sum(value for _, value in _samples(counter)))

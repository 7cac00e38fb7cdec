"""The metrics of the engine: counters and histograms since its start, and gauges of what it holds now.

Names and units follow Prometheus: seconds, bytes, and `_total` for counters. No label comes from a user: clients, file
paths and texts are never labels.
"""

from collections import Counter as Counts
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from lsp_harness.inference.request import Priority, Usage

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60)
"""Bounds of the histograms. They are close together where a user waits at the keyboard."""


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """The contents of the engine at one moment."""

    pending: int = 0
    """Requests that wait or are in progress."""
    sequences: int = 0
    """Cached sequences, in the cells and in host memory."""
    cells_used: int = 0
    cells_total: int = 0
    host_tokens: int = 0
    """Tokens of the sequences in host memory."""
    texts_pending: int = 0
    """Texts that wait to be embedded."""


class Meter:
    """Counters of requests and HTTP calls. Any thread may use them."""

    def __init__(self) -> None:
        # Without this every counter gets a second line with the time of its creation.
        disable_created_metrics()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = self._make_counter("requests", "Requests to the model that ended.", "class", "outcome")
        self._calls = self._make_counter("http_requests", "Calls by route and status.", "route", "status")
        self._prompt = self._make_counter("prompt_tokens", "Prompt tokens that were evaluated or reused.", "source")
        self._shifted = self._make_counter(
            "shifted_tokens", "Reused prompt tokens that were at other positions before."
        )
        self._generated = self._make_counter("generated_tokens", "Tokens that were generated.")
        self._drafted = self._make_counter("drafted_tokens", "Tokens that were proposed by a draft.")
        self._accepted = self._make_counter(
            "accepted_tokens", "Drafted tokens that the model would have chosen itself."
        )
        self._waited = self._make_histogram("queue_wait_seconds", "From the arrival of a request to its first step.")
        self._first = self._make_histogram("first_token_seconds", "From the arrival of a request to its first token.")
        self._total = self._make_histogram("request_seconds", "From the arrival of a request to its end.")
        self._pending = self._make_gauge("pending_requests", "Requests that wait or are at work.")
        self._sequences = self._make_gauge("resident_sequences", "Token sequences that need not be evaluated again.")
        self._used = self._make_gauge("kv_cells_used", "KV cells, of a token each, that hold something.")
        self._cells = self._make_gauge("kv_cells", "KV cells in all.")
        self._parked = self._make_gauge("parked_tokens", "Tokens of sequences kept outside of the KV cells.")
        self._texts = self._make_gauge("pending_texts", "Texts that wait to be embedded.")
        for source in ("evaluated", "reused"):
            self._prompt.labels(source)

    def record_request(
        self,
        priority: Priority,
        outcome: str,
        usage: Usage,
        waited_ms: float,
        first_token_ms: float | None,
        total_ms: float,
    ) -> None:
        """Record a request to the model that has ended (see `RequestObserver.record_request`)."""
        self._requests.labels(priority, outcome).inc()
        self._prompt.labels("evaluated").inc(usage.evaluated)
        self._prompt.labels("reused").inc(usage.reused)
        self._shifted.inc(usage.shifted)
        self._generated.inc(usage.generated)
        self._drafted.inc(usage.drafted)
        self._accepted.inc(usage.accepted)
        self._waited.labels(priority).observe(waited_ms / 1000)
        if first_token_ms is not None:
            self._first.labels(priority).observe(first_token_ms / 1000)
        self._total.labels(priority).observe(total_ms / 1000)

    def record_call(self, route: str, status: int) -> None:
        """Record an HTTP call that was answered."""
        self._calls.labels(route, str(status)).inc()

    def totals(self) -> dict[str, Any]:
        """Return the field `totals` of `/props`: requests by outcome, and tokens."""
        outcomes = Counts[str]()
        for labels, value in _read_samples(self._requests):
            outcomes[labels["outcome"]] += int(value)
        prompt = {labels["source"]: int(value) for labels, value in _read_samples(self._prompt)}
        return {
            "requests": dict(outcomes),
            "prompt_tokens_evaluated": prompt["evaluated"],
            "prompt_tokens_reused": prompt["reused"],
            "prompt_tokens_shifted": _read_value(self._shifted),
            "tokens_generated": _read_value(self._generated),
            "tokens_drafted": _read_value(self._drafted),
            "tokens_accepted": _read_value(self._accepted),
        }

    def render(self, load: EngineLoad) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        self._pending.set(load.pending)
        self._sequences.set(load.sequences)
        self._used.set(load.cells_used)
        self._cells.set(load.cells_total)
        self._parked.set(load.host_tokens)
        self._texts.set(load.texts_pending)
        return generate_latest(self._registry)

    def _make_counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"lsp_harness_{name}", help_text, labels, registry=self._registry)

    def _make_gauge(self, name: str, help_text: str) -> Gauge:
        return Gauge(f"lsp_harness_{name}", help_text, registry=self._registry)

    def _make_histogram(self, name: str, help_text: str) -> Histogram:
        return Histogram(f"lsp_harness_{name}", help_text, ["class"], registry=self._registry, buckets=BUCKETS_S)


def _read_samples(counter: Counter) -> list[tuple[dict[str, str], float]]:
    return [(sample.labels, sample.value) for metric in counter.collect() for sample in metric.samples]


def _read_value(counter: Counter) -> int:
    return int(sum(value for _, value in _read_samples(counter)))

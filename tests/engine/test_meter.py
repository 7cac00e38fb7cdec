"""Tests of the metrics and of their text format."""

import time
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from lsp_harness.engine.http.app import count_calls, list_metrics_routes
from lsp_harness.engine.meter import EngineLoad, Meter
from lsp_harness.inference.request import Usage


def read(text: str) -> dict[str, float]:
    """Return samples in the form `name{label=value}` → value, as Prometheus reads them."""
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            values[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return values


def scrape(meter: Meter, load: EngineLoad | None = None) -> dict[str, float]:
    result = read(meter.render(load or EngineLoad()).decode())
    return {name.removeprefix("lsp_harness_"): value for name, value in result.items()}


@pytest.fixture
def meter() -> Meter:
    meter = Meter()
    meter.record_request(
        "interactive", "eos", Usage(evaluated=3, reused=97, generated=16, drafted=8, accepted=6, shifted=40), 2, 90, 400
    )
    meter.record_request("interactive", "cancelled", Usage(evaluated=10), 4, None, 30)
    meter.record_request("background", "eos", Usage(evaluated=100, generated=1), 2000, 2500, 2600)
    return meter


def test_requests_are_counted_by_class_and_outcome(meter: Meter):
    result = scrape(meter)
    assert {name: value for name, value in result.items() if name.startswith("requests_total")} == {
        "requests_total{class=interactive,outcome=eos}": 1,
        "requests_total{class=interactive,outcome=cancelled}": 1,
        "requests_total{class=background,outcome=eos}": 1,
    }


def test_tokens_are_added_up(meter: Meter):
    result = scrape(meter)
    assert (result["prompt_tokens_total{source=evaluated}"], result["prompt_tokens_total{source=reused}"]) == (113, 97)
    assert result["shifted_tokens_total"] == 40
    assert (result["generated_tokens_total"], result["drafted_tokens_total"], result["accepted_tokens_total"]) == (
        17,
        8,
        6,
    )


def test_times_are_reported_in_seconds_and_only_if_measured(meter: Meter):
    result = scrape(meter)
    assert result["queue_wait_seconds_sum{class=interactive}"] == pytest.approx(0.006)
    assert result["first_token_seconds_count{class=interactive}"] == 1
    assert result["first_token_seconds_bucket{class=interactive,le=0.1}"] == 1
    assert result["first_token_seconds_bucket{class=interactive,le=0.05}"] == 0
    assert result["request_seconds_count{class=interactive}"] == 2
    assert result["request_seconds_sum{class=background}"] == pytest.approx(2.6)


def test_the_memory_in_use_is_reported_at_each_reading(meter: Meter):
    first = scrape(
        meter, EngineLoad(pending=2, sequences=3, cells_used=500, cells_total=8192, host_tokens=900, texts_pending=7)
    )
    names = ("pending_requests", "resident_sequences", "kv_cells_used", "kv_cells", "parked_tokens", "pending_texts")
    assert [first[name] for name in names] == [2, 3, 500, 8192, 900, 7]
    assert scrape(meter)["pending_requests"] == 0
    assert first["process_resident_memory_bytes"] > 2**20
    assert first["process_start_time_seconds"] <= time.time()


def test_totals_equal_the_sums_of_the_metrics(meter: Meter):
    assert meter.totals() == {
        "requests": {"eos": 2, "cancelled": 1},
        "prompt_tokens_evaluated": 113,
        "prompt_tokens_reused": 97,
        "prompt_tokens_shifted": 40,
        "tokens_generated": 17,
        "tokens_drafted": 8,
        "tokens_accepted": 6,
    }
    assert Meter().totals()["prompt_tokens_reused"] == 0
    assert Meter().totals()["requests"] == {}


async def test_the_metrics_route_counts_requests_by_route():
    meter = Meter()

    async def refuse(_: Any) -> Response:
        return Response(status_code=400)

    app = Starlette(routes=[*list_metrics_routes(meter, lambda: EngineLoad(pending=4)), Route("/completion", refuse)])
    transport = httpx2.ASGITransport(count_calls(app, meter, {"/metrics", "/completion"}))
    async with httpx2.AsyncClient(transport=transport, base_url="http://engine") as http:
        for path in ("/completion", "/completion", "/made/up", "/metrics"):
            await http.get(path)
        response = await http.get("/metrics")

    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    result = read(response.text)
    assert result["lsp_harness_pending_requests"] == 4
    assert {name: value for name, value in result.items() if "http" in name} == {
        "lsp_harness_http_requests_total{route=/completion,status=400}": 2,
        "lsp_harness_http_requests_total{route=other,status=404}": 1,
        "lsp_harness_http_requests_total{route=/metrics,status=200}": 1,
    }

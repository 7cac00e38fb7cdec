"""The frames of events, which clients of a session receive."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.events.event_codec import EVENT_CLASSES, FRAMES, encode_event, encode_frame
from lsp_harness.wire.event import Event


@pytest.mark.parametrize("type", [type for type in EVENT_CLASSES if type in FRAMES])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_frame_is_json_with_the_number_of_its_event(type: str, data: st.DataObject) -> None:
    _, fields = encode_event(data.draw(st.builds(EVENT_CLASSES[type])))
    frame = encode_frame(Event("e1", 7, "now", "s1", 3, None, None, type, fields), "r1")
    assert frame is not None
    assert (frame["session_id"], frame["seq"], frame["turn"], frame["id"]) == ("s1", 7, 3, "r1")
    assert json.loads(json.dumps(frame))["type"] == frame["type"]


@pytest.mark.parametrize("type", FRAMES)
def test_an_event_of_another_version_has_a_frame_too(type: str) -> None:
    frame = encode_frame(Event("e1", None, "now", "s1", None, None, None, type, {"usage": 3, "outcomes": "x"}))
    assert frame
    assert "id" not in frame


def test_a_frame_has_the_fields_of_its_event() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2, "cached_tokens": 3}
    cost = encode_frame(Event("e", 1, "", "s", 0, None, None, "model.completed", {"model": "m", "usage": usage}))
    assert cost is not None
    assert (cost["type"], cost["cached_tokens"], cost["cost"], cost["model"]) == ("cost_update", 3, 0.0, "m")
    failed = encode_frame(Event("e", 1, "", "s", 0, None, None, "tool.failed", {"call_id": "c", "output": "no"}))
    assert failed is not None
    assert (failed["type"], failed["error"], failed["output"]) == ("tool_end", True, "no")
    assert encode_frame(Event("e", 1, "", "s", 0, None, None, "from.2030", {})) is None

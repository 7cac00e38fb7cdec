"""Client events and their frames."""

from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.events.event_codec import EVENT_CLASSES as SESSION_EVENTS
from lsp_harness.events.event_codec import FRAMES, encode_event, encode_frame
from lsp_harness.wire import client_events
from lsp_harness.wire.client_event_codec import ENVELOPE, EVENT_CLASSES, parse_event, to_wire
from lsp_harness.wire.client_events import (
    ClientEvent,
    CostUpdate,
    SessionChange,
    ToolEnd,
    ToolStart,
    TurnStop,
    UnknownEvent,
)
from lsp_harness.wire.event import Event
from lsp_harness.wire.frame_lines import decode_line, encode_line

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
SMALL = st.integers(min_value=0, max_value=2**53)
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    str | None: st.none() | TEXTS,
    int: SMALL,
    int | None: st.none() | SMALL,
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    bool | None: st.none() | st.booleans(),
    tuple[str, ...]: st.lists(TEXTS, max_size=3).map(tuple),
    Any: st.none() | JSON_VALUES,
}
OBJECTS = st.dictionaries(TEXTS.map(lambda key: f"key {key}"), JSON_VALUES, max_size=3)


def read_frame_type(type: str) -> str:
    return FRAMES[type]({}, Event("", None, "", "", None, None, None, type))["type"]


def draw_event(cls: type[ClientEvent]) -> st.SearchStrategy[ClientEvent]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: VALUES.get(hints[field.name], OBJECTS) for field in fields(cls)})


@pytest.mark.parametrize("cls", EVENT_CLASSES.values(), ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_an_event_survives_the_wire(cls: type[ClientEvent], data: st.DataObject):
    event = data.draw(draw_event(cls))
    assert parse_event(decode_line(encode_line(to_wire(event)))) == event


def test_each_class_of_events_has_a_frame_and_is_public():
    classes = {cls for cls in vars(client_events).values() if isinstance(cls, type) and issubclass(cls, ClientEvent)}
    assert set(EVENT_CLASSES.values()) == classes - {ClientEvent, UnknownEvent}
    assert {cls.__name__ for cls in classes} == set(client_events.__all__)


@given(JSON_VALUES | st.fixed_dictionaries({"type": st.sampled_from([*EVENT_CLASSES, "ready", "from_2030"])}) | OBJECTS)
def test_parsing_never_fails(frame: Any):
    assert isinstance(parse_event(frame), ClientEvent)


@given(
    st.sampled_from(list(EVENT_CLASSES)),
    st.dictionaries(
        st.sampled_from(
            sorted({field.name for cls in EVENT_CLASSES.values() for field in fields(cls)} | set(ENVELOPE.values()))
        ),
        JSON_VALUES,
    ),
)
def test_values_of_another_type_are_replaced(name: str, values: dict[str, Any]):
    event = parse_event({**values, "type": name})
    hints = get_type_hints(type(event))
    for field in fields(event):
        value = getattr(event, field.name)
        if hints[field.name] in (str, int, float, bool):
            assert type(value) is hints[field.name]


def test_an_unknown_type_of_event_keeps_its_frame():
    event = parse_event({"type": "from_2030", "session_id": "s", "seq": 3, "value": [1]})
    assert event == UnknownEvent(
        raw={"type": "from_2030", "session_id": "s", "seq": 3, "value": [1]}, session_id="s", seq=3
    )
    assert to_wire(event) == event.raw  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", EVENT_CLASSES)
def test_a_frame_without_a_required_field_is_unknown(name: str):
    cls = EVENT_CLASSES[name]
    required = [field for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING]
    expected = UnknownEvent if required else cls
    assert type(parse_event({"type": name})) is expected


@pytest.mark.parametrize("frame", [None, 5, "text", [], {}, {"type": 5}, {"type": "text", "content": 5}, {1: 2}])
def test_a_value_that_is_no_frame_is_unknown(frame: Any):
    assert isinstance(parse_event(frame), UnknownEvent)


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (
            {"type": "turnStop", "turnNumber": 2, "reason": "max_turns"},
            TurnStop(2, "max_turns"),
        ),
        (
            {"type": "cost_update", "inputTokens": 5, "outputTokens": 6, "cost": 1, "model": "m"},
            CostUpdate(5, 6, 1.0, "m"),
        ),
        (
            {"type": "tool_start", "toolName": "bash", "toolInput": {"maxLines": 1}, "callId": "c"},
            ToolStart("bash", "c", {"maxLines": 1}),
        ),
        ({"type": "toolEnd", "toolName": "bash", "isError": True}, ToolEnd("bash", error=True)),
        ({"type": "tool_end", "tool": "bash", "toolName": "other"}, ToolEnd("bash")),
        ({"type": "text", "content": "a", "sessionId": "s"}, client_events.TextDelta("a", session_id="s")),
    ],
)
def test_names_of_older_programs_are_read(frame: dict[str, Any], event: ClientEvent):
    assert parse_event(frame) == event


@pytest.mark.parametrize("type", [type for type in FRAMES if read_frame_type(type) in EVENT_CLASSES])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_events_of_a_session_are_understood(type: str, data: st.DataObject):
    sent: dict[str, Any] = {"call_id": "c", "content": "a"}
    if type in SESSION_EVENTS:
        _, sent = encode_event(data.draw(st.builds(SESSION_EVENTS[type])))
    frame = encode_frame(Event("e", 1, "", "s", 2, None, None, type, sent), "p")
    assert frame
    event = parse_event(decode_line(encode_line(frame)))
    assert not isinstance(event, UnknownEvent), frame
    names = {field.name for field in fields(event)} | {"type", *ENVELOPE.values()}
    assert frame.keys() - names == (set() if not isinstance(event, SessionChange) else event.details.keys())
    assert (event.session_id, event.seq, event.turn, event.prompt_id) == ("s", 1, 2, "p")


def test_events_cannot_be_changed():
    event = client_events.TextDelta("a")
    with pytest.raises(AttributeError):
        event.content = "b"  # type: ignore[misc]
    assert not hasattr(event, "__dict__")

"""The schema of events and the page about them, which are made from the classes."""

import json
from pathlib import Path

import pytest

from lsp_harness.events import event_schema
from lsp_harness.events.event_codec import EVENT_CLASSES
from lsp_harness.events.model_events import ModelCompleted, TokenUsage, ToolCall
from lsp_harness.events.session_events import InvocationReceived, TurnStopped
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.wire.event import encode
from tools import events_page

DOCS = Path(__file__).parents[2] / "docs"
jsonschema = pytest.importorskip("jsonschema")


def test_the_committed_page_is_current():
    assert (DOCS / "events.md").read_text() == events_page.render(), "run `make docs`"


def test_valid_events_fit_the_schema_and_invalid_ones_do_not(tmp_path: Path):
    log = SessionLog(tmp_path)
    turn = log.turn()
    turn.append(InvocationReceived("message", "hello"))
    turn.append(ModelCompleted("m", "", (ToolCall("c", "read", {"path": "a"}),), TokenUsage(3, 2)))
    turn.append(TurnStopped(0, "completed"))
    log.close()
    validator = jsonschema.Draft202012Validator(event_schema.build_schema())
    validator.check_schema(event_schema.build_schema())
    lines = [json.loads(encode(event)) for event in read_log(log.path)]
    assert [list(validator.iter_errors(line)) for line in lines] == [[], [], []]
    # a type of a later version is an event, too
    assert validator.is_valid(lines[0] | {"type": "new.type"})
    del lines[0]["data"]["text"]
    assert not validator.is_valid(lines[0])
    assert not validator.is_valid(lines[1] | {"data": {"model": "m", "ms": "long"}})


def test_the_schema_has_every_type_with_its_description():
    schema = event_schema.build_schema()
    assert list(schema["$defs"]) == sorted(EVENT_CLASSES)
    stopped = schema["$defs"]["turn.stopped"]
    assert stopped["properties"]["reason"] == {"type": "string", "description": "Why it ended."}
    assert stopped["required"] == ["number", "reason"]
    # a field that is told in two lines
    assert stopped["properties"]["detail"]["description"].endswith("or the message of an error.")

"""One case for each kind of grammar: its request, and the reader of its answers. The limits are small."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from lsp_harness.inference import grammar
from lsp_harness.inference.json_schema import from_json_schema

WORDS = ("tests/test_queue.py", "src/queue.py", "README.md", "Makefile")
FINDING: Any = {
    "type": "object",
    "properties": {
        "file": {"enum": list(WORDS)},
        "line": {"type": "integer", "minimum": 1, "maximum": 500},
        "certain": {"type": ["boolean", "null"]},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "notes": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 12}, "maxItems": 2},
    },
    "required": ["file", "line", "notes"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class GrammarCase:
    """A case of a grammar. `read` returns None for an invalid answer; an answer has at most `longest` tokens."""

    name: str
    ask: str
    grammar: str
    read: Callable[[str], object | None]
    longest: int = 8


def read_finding(text: str) -> object | None:
    data = json.loads(text)
    fits = (
        set(FINDING["required"]) <= data.keys() <= FINDING["properties"].keys()
        and data["file"] in WORDS
        and type(data["line"]) is int
        and 1 <= data["line"] <= 500
        and data.get("certain") in (True, False, None)
        and 0 <= data.get("score", 0) <= 1
        and len(data["notes"]) <= 2
        # of bytes that are no text at all, llama.cpp counts fewer characters than there are marks for them
        and all(isinstance(note, str) and note and len(note.replace("\ufffd", "")) <= 12 for note in data["notes"])
    )
    return data if fits else None


def read_object(text: str) -> object | None:
    data = json.loads(text)
    return data if isinstance(data, dict) else None


CASES = (
    GrammarCase(
        "choice",
        "Which of the items 0 to 11 is best? Answer with its number.",
        grammar.choice_grammar(12),
        lambda text: grammar.parse_choice(text, 12),
    ),
    GrammarCase(
        "one_of",
        f"Where is the fault? Answer with one of {', '.join(WORDS)}.",
        grammar.one_of_grammar(WORDS),
        lambda text: grammar.parse_one_of(text, WORDS),
        32,
    ),
    GrammarCase(
        "code_block",
        "Write a Python function that adds two numbers. Answer with one code block.",
        grammar.code_block_grammar(max_lines=3, max_chars=12),
        grammar.find_code_block,
        300,
    ),
    GrammarCase(
        "json_schema",
        f"Describe the finding as JSON after this schema: {json.dumps(FINDING)}",
        from_json_schema(FINDING),
        read_finding,
        600,
    ),
    GrammarCase(
        "json",
        "Describe a queue as a JSON object.",
        from_json_schema({"type": "object"}, max_chars=12, max_items=2),
        read_object,
        900,
    ),
)


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of a run. `failed` are the answers that could not be parsed."""

    tokens: Sequence[int]
    failed: Sequence[str]


async def generate_at_random(
    http: httpx2.AsyncClient,
    case: GrammarCase,
    count: int,
    *,
    at_once: int = 8,
    temperature: float = 2.0,
    top_k: int = 0,
) -> Tally:
    """Generate `count` answers by the engine, limited only by the temperature and the grammar."""
    messages = [{"role": "user", "content": case.ask}]
    prompt = (await http.post("/apply-template", json={"messages": messages})).json()["prompt"]
    tokens: list[int] = []
    failed: list[str] = []
    for seed in range(0, count, at_once):
        n = min(at_once, count - seed)
        settings = {"temperature": temperature, "top_k": top_k, "top_p": 1.0, "seed": seed, "n_cmpl": n}
        body = settings | {"prompt": prompt, "grammar": case.grammar, "n_predict": case.longest}
        answer = (await http.post("/completion", json=body)).raise_for_status().json()
        for candidate in answer if isinstance(answer, list) else [answer]:
            tokens.append(candidate["tokens_predicted"])
            if not _can_read(case, candidate["content"]):
                failed.append(candidate["content"])
    return Tally(tokens, failed)


def _can_read(case: GrammarCase, text: str) -> bool:
    try:
        return case.read(text) is not None
    except ValueError:
        return False

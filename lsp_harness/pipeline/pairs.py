"""What editors put in behind the cursor by themselves when a bracket or a quote is typed."""

CLOSING = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'", "`": "`"}
PAIRS = frozenset({*(f"{opening}{closing}".encode() for opening, closing in CLOSING.items()), b"<>"})
"""Put in for one key, the cursor between the two."""


def closers(typed: str) -> str:
    """What such an editor has behind the cursor after this was typed, character by character."""
    stack: list[str] = []
    for character in typed:
        if stack and character == stack[-1]:
            stack.pop()
        elif character in CLOSING:
            stack.append(CLOSING[character])
    return "".join(reversed(stack))


def inside(new: bytes) -> int:
    """Bytes of a typed text that are before the cursor."""
    return 1 if new in PAIRS else len(new)

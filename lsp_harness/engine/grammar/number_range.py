"""Numbers between two bounds, as GBNF: JSON's decimal notation without an exponent."""

DIGITS = 15
"""Of an integer part: so many fit into a double."""
MOST = 10**DIGITS - 1
FRACTION = f'("." [0-9]{{1,{DIGITS}}})?'
ZEROS = f'("." "0"{{1,{DIGITS}}})?'


def integers(least: int | None, most: int | None) -> str:
    """Integers from `least` to `most`, both included; `MOST` in size where a bound is missing."""
    least = -MOST if least is None else max(least, -MOST)
    most = MOST if most is None else min(most, MOST)
    signed: list[str] = []
    if least < 0:
        signed.append(f'"-" ({_naturals(max(1, -most), -least)})')
    if most >= 0:
        signed.append(_naturals(max(0, least), most))
    return " | ".join(signed)


def decimals(least: int | None, most: int | None) -> str:
    """Decimal fractions from `least` to `most`, both included."""
    least = -MOST if least is None else max(least, -MOST)
    most = MOST if most is None else min(most, MOST)
    signed: list[str] = []
    if least < 0:
        signed.append(f'"-" ({_magnitudes(max(0, -most), -least)})')
    if most >= 0:
        signed.append(_magnitudes(max(0, least), most))
    return " | ".join(signed)


def _magnitudes(least: int, most: int) -> str:
    whole = f'"{most}" {ZEROS}'
    return f"({_naturals(least, most - 1)}) {FRACTION} | {whole}" if least < most else whole


def _naturals(least: int, most: int) -> str:
    """Integers from `least` to `most`, neither negative, without leading zeros."""
    if most == MOST and least <= 1:
        large = f"[1-9] [0-9]{{0,{DIGITS - 1}}}"
        return large if least else f'"0" | {large}'
    spans: list[str] = []
    for size in range(len(str(least)), len(str(most)) + 1):
        low = max(least, 10 ** (size - 1) if size > 1 else 0)
        spans.append(_digits(str(low), str(min(most, 10**size - 1))))
    return " | ".join(spans)


def _digits(least: str, most: str) -> str:
    """Digit strings of one length from `least` to `most`."""
    if not least:
        return ""
    rest = len(least) - 1
    tail = f" [0-9]{{{rest}}}" if rest else ""
    if least[0] == most[0]:
        return f'"{least[0]}" {_digits(least[1:], most[1:])}'.rstrip()
    low, high = int(least[0]), int(most[0])
    spans: list[str] = []
    if least[1:].strip("0"):
        spans.append(f'"{low}" {_digits(least[1:], "9" * rest)}')
        low += 1
    if most[1:].strip("9"):
        spans.append(f'"{high}" {_digits("0" * rest, most[1:])}')
        high -= 1
    if low <= high:
        spans.append(f"[{low}-{high}]{tail}")
    return spans[0] if len(spans) == 1 else f"({' | '.join(spans)})"

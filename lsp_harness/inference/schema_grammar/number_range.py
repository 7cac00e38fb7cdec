"""Numbers between two bounds as GBNF, in JSON's decimal notation without an exponent."""

MAX_DIGITS = 15
"""Digits of an integer part. A double holds this many exactly."""
MAX_MAGNITUDE = 10**MAX_DIGITS - 1
FRACTION = f'("." [0-9]{{1,{MAX_DIGITS}}})?'
ZERO_FRACTION = f'("." "0"{{1,{MAX_DIGITS}}})?'


def integer_range(minimum: int | None, maximum: int | None) -> str:
    """Return the rule for the integers from `minimum` to `maximum`. A missing bound is `MAX_MAGNITUDE` in size."""
    minimum, maximum = _clamp(minimum, maximum)
    signed: list[str] = []
    if minimum < 0:
        signed.append(f'"-" ({_natural_range(max(1, -maximum), -minimum)})')
    if maximum >= 0:
        signed.append(_natural_range(max(0, minimum), maximum))
    return " | ".join(signed)


def decimal_range(minimum: int | None, maximum: int | None) -> str:
    """Return the rule for the decimal fractions from `minimum` to `maximum`, see `integer_range`."""
    minimum, maximum = _clamp(minimum, maximum)
    signed: list[str] = []
    if minimum < 0:
        signed.append(f'"-" ({_magnitude_range(max(0, -maximum), -minimum)})')
    if maximum >= 0:
        signed.append(_magnitude_range(max(0, minimum), maximum))
    return " | ".join(signed)


def _clamp(minimum: int | None, maximum: int | None) -> tuple[int, int]:
    return (
        -MAX_MAGNITUDE if minimum is None else max(minimum, -MAX_MAGNITUDE),
        MAX_MAGNITUDE if maximum is None else min(maximum, MAX_MAGNITUDE),
    )


def _magnitude_range(minimum: int, maximum: int) -> str:
    """Return the rule for decimal fractions that are not negative."""
    upper_end = f'"{maximum}" {ZERO_FRACTION}'
    return f"({_natural_range(minimum, maximum - 1)}) {FRACTION} | {upper_end}" if minimum < maximum else upper_end


def _natural_range(minimum: int, maximum: int) -> str:
    """Return the rule for integers that are not negative, without leading zeros."""
    if maximum == MAX_MAGNITUDE and minimum <= 1:
        positive = f"[1-9] [0-9]{{0,{MAX_DIGITS - 1}}}"
        return positive if minimum else f'"0" | {positive}'
    alternatives: list[str] = []
    for size in range(len(str(minimum)), len(str(maximum)) + 1):
        low = max(minimum, 10 ** (size - 1) if size > 1 else 0)
        alternatives.append(_digit_range(str(low), str(min(maximum, 10**size - 1))))
    return " | ".join(alternatives)


def _digit_range(minimum: str, maximum: str) -> str:
    """Return the rule for the digit strings from `minimum` to `maximum`, which have the same length."""
    if not minimum:
        return ""
    rest = len(minimum) - 1
    tail = f" [0-9]{{{rest}}}" if rest else ""
    if minimum[0] == maximum[0]:
        return f'"{minimum[0]}" {_digit_range(minimum[1:], maximum[1:])}'.rstrip()
    low, high = int(minimum[0]), int(maximum[0])
    alternatives: list[str] = []
    if minimum[1:].strip("0"):
        alternatives.append(f'"{low}" {_digit_range(minimum[1:], "9" * rest)}')
        low += 1
    if maximum[1:].strip("9"):
        alternatives.append(f'"{high}" {_digit_range("0" * rest, maximum[1:])}')
        high -= 1
    if low <= high:
        alternatives.append(f"[{low}-{high}]{tail}")
    return alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"

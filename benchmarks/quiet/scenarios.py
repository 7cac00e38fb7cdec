"""The two halves: thresholds and rules were chosen by `chosen`; `held` was looked at when they were settled."""

from pathlib import Path
from typing import Literal, get_args

from tests.support.quiet import Scenario, read

Half = Literal["chosen", "held"]
HALVES: tuple[Half, ...] = get_args(Half)
FOLDER = Path(__file__).parent


def read_scenarios(half: Half) -> list[Scenario]:
    return [scenario for file in sorted((FOLDER / half).glob("*.txt")) for scenario in read(file)]

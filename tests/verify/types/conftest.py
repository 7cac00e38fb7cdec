"""A desk for each test, whose type checkers end with it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.verify.types.desk import Desk

Make = Callable[..., Desk]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    desks: list[Desk] = []

    def create(*manner: str, **options: Any) -> Desk:
        desks.append(Desk(tmp_path, *manner, **options))
        return desks[-1]

    yield create
    for desk in desks:
        await desk.gate.aclose()
        await desk.pool.aclose()


@pytest.fixture
async def desk(make: Make) -> Desk:
    """Return a desk whose checker is ready."""
    desk = make()
    await desk.warm()
    return desk

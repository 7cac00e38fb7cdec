"""Options of the whole test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="rewrite what golden case files expect")


@pytest.fixture(scope="session")
def golden_update(request: pytest.FixtureRequest) -> bool:
    """Whether expected parts are being rewritten."""
    return bool(request.config.getoption("--golden-update"))

import pytest

from tests.certificates import Authority


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()

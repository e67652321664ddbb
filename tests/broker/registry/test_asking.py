"""What a path names is checked before it is read as a number."""

import pytest
from starlette.requests import Request

from broker.registry.errors import RegistryError
from broker.registry.rest.asking import version_of


@pytest.mark.parametrize("text", ["9" * 5_000, "0", "-2", "one", "2147483648"])
def test_a_version_that_is_none_is_refused_however_long_it_is(text):
    with pytest.raises(RegistryError) as refusal:
        version_of(Request({"type": "http", "path_params": {"version": text}}))
    assert refusal.value.code == 42202

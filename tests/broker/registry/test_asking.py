"""What a path names is checked before it is read as a number."""

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from broker.common.request_bodies import RequestBodies
from broker.registry.errors import RegistryError
from broker.registry.rest.app import make_app
from broker.registry.rest.asking import version_of


@pytest.mark.parametrize("text", ["9" * 5_000, "0", "-2", "one", "2147483648"])
def test_a_version_that_is_none_is_refused_however_long_it_is(text):
    with pytest.raises(RegistryError) as refusal:
        version_of(Request({"type": "http", "path_params": {"version": text}}))
    assert refusal.value.code == 42202


def test_a_body_that_has_no_room_among_the_others_is_to_come_again_later():
    client = TestClient(make_app(None, bodies=RequestBodies(size=0, floor=0)))
    answer = client.post("/subjects/orders/versions", json={"schema": "x" * 100_000})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert (answer.json()["error_code"], "later" in answer.json()["message"]) == (50301, True)

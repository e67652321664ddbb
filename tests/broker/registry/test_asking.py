"""What a path names is checked before it is read as a number."""

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from broker.common.request_bodies import RequestBodies
from broker.common.shared_budget import ANONYMOUS, Owner
from broker.common.unread_answers import UnreadAnswers
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


def test_an_answer_that_has_no_room_among_those_that_were_not_read_is_to_be_asked_for_again_later():
    answers = UnreadAnswers(size=0, floor=0, uncounted=1)
    client = TestClient(make_app(None, answers=answers))
    assert client.get("/").json() == {}
    answers.budget.hold(Owner(ANONYMOUS, "testclient"), 1)
    answer = client.get("/")
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["error_code"]) == (503, "5", 50301)


async def test_a_client_that_goes_in_the_middle_of_its_body_writes_no_traceback(capsys):
    """60 bytes of a request would be 4 KB of the log."""
    messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    async def send(_message):
        """No client reads it."""

    scope = {"type": "http", "method": "POST", "path": "/subjects/s/versions", "raw_path": b"/subjects/s/versions"}
    scope |= {"headers": [], "client": ("10.0.0.1", 1), "server": ("w", 1), "scheme": "http", "query_string": b""}
    await make_app(None)(scope, receive, send)
    assert not messages
    assert "Traceback" not in "".join(capsys.readouterr())

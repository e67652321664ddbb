"""A locked REST answers nobody who does not show a name and its password; workers show theirs to each other."""

import base64

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.client.logins import ClientLogins
from broker.connect.rest.forwarding import request_headers
from broker.connect.rest.serving import Locked

LOGINS = ClientLogins({"console": "sesame"})


def client(logins: ClientLogins = LOGINS, **options) -> TestClient:
    app = Starlette(routes=[Route("/connectors", lambda _request: PlainTextResponse("[]"))])
    return TestClient(Locked(app, logins), **options)


def test_who_shows_nothing_or_another_password_is_told_401_as_kafka_says_it():
    wrong = base64.b64encode(b"console:other").decode()
    for headers in ({}, {"Authorization": f"Basic {wrong}"}, {"Authorization": "Bearer sesame"}):
        answer = client().get("/connectors", headers=headers)
        assert answer.status_code == 401
        assert answer.json() == {"error_code": 401, "message": "User cannot access the resource."}


def test_a_worker_is_let_in_by_another():
    assert client().get("/connectors", headers=request_headers(LOGINS)).text == "[]"
    assert "Authorization" not in request_headers(None)


def test_each_further_wrong_password_of_an_address_is_answered_later():
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    logins = ClientLogins({"console": "sesame"}, pause)
    wrong = {"Authorization": f"Basic {base64.b64encode(b'console:other').decode()}"}
    guesser, other = client(logins, client=("10.0.0.1", 1)), client(logins, client=("10.0.0.2", 1))
    assert {guesser.get("/connectors", headers=wrong).status_code for _ in range(12)} == {401}
    assert pauses == [0.1, 0.1, 0.1, 0.2, 0.4, 0.8, 1.6, *[3.2] * 5]
    assert other.get("/connectors", headers=wrong).status_code == 401
    assert pauses[-1] == 0.1


def test_who_knows_the_password_or_shows_none_never_waits():
    async def pause(_seconds):
        raise AssertionError("it waits")

    logins = ClientLogins({"console": "sesame"}, pause)
    assert client(logins).get("/connectors").status_code == 401
    assert client(logins).get("/connectors", headers=request_headers(logins)).status_code == 200

"""A locked REST answers nobody who does not show a name and its password; workers show theirs to each other."""

import base64

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.client.logins import Logins
from broker.connect.rest.forwarding import request_headers
from broker.connect.rest.serving import Locked

LOGINS = Logins({"console": "sesame"})


def client() -> TestClient:
    app = Starlette(routes=[Route("/connectors", lambda _request: PlainTextResponse("[]"))])
    return TestClient(Locked(app, LOGINS))


def test_who_shows_nothing_or_another_password_is_told_401_as_kafka_says_it():
    wrong = base64.b64encode(b"console:other").decode()
    for headers in ({}, {"Authorization": f"Basic {wrong}"}, {"Authorization": "Bearer sesame"}):
        answer = client().get("/connectors", headers=headers)
        assert answer.status_code == 401
        assert answer.json() == {"error_code": 401, "message": "User cannot access the resource."}


def test_a_worker_is_let_in_by_another():
    assert client().get("/connectors", headers=request_headers(LOGINS)).text == "[]"
    assert "Authorization" not in request_headers(None)

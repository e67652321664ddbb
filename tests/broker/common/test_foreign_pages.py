"""A page that somebody opens beside an open REST changes nothing there; programs, and pages that are allowed, do."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.common.foreign_pages import NoForeignPages

HERE = "http://127.0.0.1:8083"


def client(*allowed: str) -> TestClient:
    route = Route("/connectors", lambda _request: PlainTextResponse("done"), methods=["GET", "POST", "PUT", "DELETE"])
    return TestClient(NoForeignPages(Starlette(routes=[route]), allowed), base_url=HERE)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8000", "", "http://[", "*"])
def test_a_page_from_elsewhere_changes_nothing(method, origin):
    answer = client().request(method, "/connectors", headers={"Origin": origin, "Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["error_code"]) == (403, 403)


@pytest.mark.parametrize("origin", [None, HERE, "http://ui.example"])
def test_programs_its_own_pages_and_those_that_are_allowed_do(origin):
    headers = {} if origin is None else {"Origin": origin}
    assert client("http://ui.example").post("/connectors", headers=headers).text == "done"


def test_where_all_are_allowed_all_are():
    assert client("*").delete("/connectors", headers={"Origin": "http://evil.example"}).text == "done"


def test_what_is_only_read_is_left_to_the_browser():
    assert client().get("/connectors", headers={"Origin": "http://evil.example"}).text == "done"

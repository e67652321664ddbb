"""A page that somebody opens beside an open REST changes nothing there; programs, and pages that are allowed, do."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.common.foreign_pages import NoForeignPages

HERE = "http://127.0.0.1:8083"


def client(*allowed: str, is_locked: bool = False, here: str = HERE) -> TestClient:
    route = Route("/connectors", lambda _request: PlainTextResponse("done"), methods=["GET", "POST", "PUT", "DELETE"])
    app = NoForeignPages(Starlette(routes=[route]), allowed, is_locked=is_locked)
    return TestClient(app, base_url=here)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:8000", "", "http://[", "*"])
def test_a_page_from_elsewhere_changes_nothing(method, origin):
    answer = client().request(method, "/connectors", headers={"Origin": origin, "Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["error_code"]) == (403, 403)


@pytest.mark.parametrize("origin", [None, HERE, "http://ui.example"])
def test_programs_its_own_pages_and_those_that_are_allowed_do(origin):
    headers = {} if origin is None else {"Origin": origin}
    assert client("http://ui.example").post("/connectors", headers=headers).text == "done"


@pytest.mark.parametrize(
    "here", ["http://127.0.0.1:8083", "http://[::1]:8083", "http://localhost:8083", "http://10.0.0.5"]
)
def test_a_page_of_an_address_is_its_own(here):
    assert client(here=here).put("/connectors", headers={"Origin": here}).text == "done"


@pytest.mark.parametrize(
    "name", ["http://evil.example:8083", "http://evil.example", "http://localhost.evil.example:8083"]
)
def test_a_page_whose_name_was_made_to_stand_for_this_host_is_from_elsewhere(name):
    """To the browser it is of one origin with what it asks; only who has a password is known by more than that."""
    headers = {"Origin": name, "Content-Type": "text/plain"}
    assert client(here=name).post("/connectors", headers=headers).status_code == 403
    assert client(name, here=name).post("/connectors", headers=headers).text == "done"
    assert client(here=name, is_locked=True).post("/connectors", headers=headers).text == "done"


def test_where_all_are_allowed_all_are():
    assert client("*").delete("/connectors", headers={"Origin": "http://evil.example"}).text == "done"


def test_what_is_only_read_is_left_to_the_browser():
    assert client().get("/connectors", headers={"Origin": "http://evil.example"}).text == "done"

"""A server without a login is asked by addresses and by its own names, and by nobody else's."""

import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.common.foreign_pages import OnlyOwnNames
from broker.common.own_names import OwnNames

NAMES = OwnNames("rest.allowed.hosts", ("More.example",), ("Connect-1.example", ""))


@pytest.mark.parametrize(
    "place",
    [
        "127.0.0.1:8083",
        "10.0.0.5",
        "[::1]:8083",
        "localhost:8083",
        "LOCALHOST",
        "connect-1.example:8083",
        "more.example",
        "MORE.example.:80",
        f"{socket.gethostname()}:8083",
    ],
)
def test_it_is_asked_by_addresses_and_by_names_of_its_own(place):
    assert NAMES.refusal([place]) == ""


@pytest.mark.parametrize(
    "place", ["evil.example:8083", "127.0.0.1.evil.example", "localhost.evil.example", "", "[", "a.more.example"]
)
def test_another_name_is_refused_and_told_where_it_would_be_named(place):
    assert "rest.allowed.hosts" in NAMES.refusal([place])
    assert NAMES.refusal(["127.0.0.1", place])


def test_who_names_no_host_is_no_browser():
    assert NAMES.refusal([]) == ""


def test_where_all_are_allowed_all_are():
    assert OwnNames("x", ("*",)).refusal(["evil.example"]) == ""


def test_a_page_by_a_foreign_name_reads_nothing():
    route = Route("/connectors", lambda _request: PlainTextResponse("read"))
    app = OnlyOwnNames(Starlette(routes=[route]), NAMES)
    refused = TestClient(app, base_url="http://evil.example:8083").get("/connectors")
    assert (refused.status_code, refused.json()["error_code"]) == (403, 403)
    assert TestClient(app, base_url="http://127.0.0.1:8083").get("/connectors").text == "read"

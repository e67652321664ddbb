"""Headers that are put onto every answer, as KIP-577 has them written."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from broker.common.configured_headers import WithHeaders
from broker.common.errors import StartupError
from broker.common.header_rules import read_rules


def answer(text):
    def home(_request):
        return PlainTextResponse("", headers={"X-Here": "before"})

    app = Starlette(routes=[Route("/", home)])
    return TestClient(WithHeaders(app, read_rules(text), lambda: 0.0)).get("/").headers


def test_they_are_set_added_and_dated():
    result = answer(
        'set X-Here: after, add X-XSS-Protection: 1; mode=block, "add Cache-Control: no-cache, no-store", '
        "setDate Expires: 86400000, add X-Frame-Options: DENY, add X-Frame-Options: SAMEORIGIN"
    )
    assert result.get_list("x-here") == ["after"]
    assert result["x-xss-protection"] == "1; mode=block"
    assert result["cache-control"] == "no-cache, no-store"
    assert result["expires"] == "Fri, 02 Jan 1970 00:00:00 GMT"
    assert result.get_list("x-frame-options") == ["DENY", "SAMEORIGIN"]


def test_none_are_none():
    assert read_rules("") == ()


@pytest.mark.parametrize(
    "text",
    [
        "X-Frame-Options: DENY",
        "put X: y",
        "set : y",
        "set X",
        "setDate Expires: tomorrow",
        "set X: a\u00e4",
        "set X: a\x01",
    ],
)
def test_what_is_no_rule_ends_the_start(text):
    with pytest.raises(StartupError, match=r"response\.http\.headers\.config"):
        read_rules(text)

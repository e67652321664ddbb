"""Tokens: read, fetched and kept for as long as they count; the client's secret goes to nobody but the endpoint."""

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from broker.client.security.bearer import TokenSource
from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import BearerSettings
from broker.client.security.secret import Secret

_NOW_S = 1_000_000.0


def jwt(**claims) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".sig"


class Endpoint(HTTPServer):
    def __init__(self, status: int, answer: bytes, location: str = ""):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.answer, self.location = status, answer, location
        self.requests: list[tuple[str, dict]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/token"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self):
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.requests.append((self.headers["Authorization"], parse_qs(form)))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(self.server.answer)

    do_GET = do_POST

    def log_message(self, *_each):
        pass


@contextmanager
def endpoint(answer: object, status: int = 200, location: str = ""):
    served = Endpoint(status, answer if isinstance(answer, bytes) else json.dumps(answer).encode(), location)
    thread = threading.Thread(target=served.serve_forever, args=[0.01])
    thread.start()
    try:
        yield served
    finally:
        served.shutdown()
        thread.join(20)
        served.server_close()


def source(url: str, now_s: list[float] | None = None, **more) -> TokenSource:
    now = now_s or [_NOW_S]
    return TokenSource(BearerSettings(url, "my client", Secret("s:e same"), **more), now_s=lambda: now[0])


def test_a_token_is_fetched_for_the_clients_credentials_and_kept_while_it_counts():
    now = [_NOW_S]
    answer = {"access_token": jwt(sub="ann", exp=_NOW_S + 100), "expires_in": 7}
    with endpoint(answer) as served:
        tokens = source(served.url, now, scope="kafka")
        assert tokens.token()[1:] == ("ann", _NOW_S + 100)
        now[0] += 79
        assert tokens.token().text.reveal() == answer["access_token"]
        assert len(served.requests) == 1
        now[0] += 2
        tokens.token()
        basic = base64.b64encode(b"my+client:s%3Ae+same").decode()
        assert served.requests == [(f"Basic {basic}", {"grant_type": ["client_credentials"], "scope": ["kafka"]})] * 2


def test_a_token_that_is_no_jwt_ends_when_its_endpoint_says():
    with endpoint({"access_token": "opaque", "expires_in": 60}) as served:
        assert source(served.url).token()[1:] == ("", _NOW_S + 60)


def test_a_file_is_read_again_for_a_new_token(tmp_path):
    now, path = [_NOW_S], tmp_path / "a token"
    path.write_text(jwt(sub="ann", exp=_NOW_S + 10) + "\n")
    tokens = source(path.as_uri(), now, extensions=(("pool", "7"),))
    assert tokens.first_message() == f"n,,\x01auth=Bearer {path.read_text().strip()}\x01pool=7\x01\x01"
    path.write_text(jwt(sub="ben", exp=_NOW_S + 100))
    assert tokens.token().principal == "ann"
    now[0] += 9
    assert tokens.token().principal == "ben"


@pytest.mark.parametrize(
    ("answer", "status", "sentence"),
    [
        ({"access_token": jwt(exp=_NOW_S - 1)}, 200, "has expired"),
        ({"error": "x"}, 200, "without an access_token"),
        ([], 200, "no JSON object"),
        (b"<html>", 200, "gives no token"),
        ({}, 401, "HTTP 401"),
        ({"access_token": "a\x01b=c"}, 200, "gives no token"),
        ({"access_token": ""}, 200, "gives no token"),
    ],
)
def test_an_endpoint_that_gives_none_is_one_sentence(answer, status, sentence):
    with endpoint(answer, status) as served, pytest.raises(ClientConfigError, match=sentence) as refused:
        source(served.url).token()
    assert "same" not in str(refused.value)


def test_credentials_are_not_carried_to_where_an_endpoint_points():
    with endpoint({"access_token": "stolen"}) as other, endpoint({}, 302, other.url) as served:
        with pytest.raises(ClientConfigError, match="HTTP 302"):
            source(served.url).token()
        assert other.requests == []


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(ClientConfigError, match=r"token file .*none cannot be read: No such file"):
        source((tmp_path / "none").as_uri()).token()

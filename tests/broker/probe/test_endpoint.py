"""The probe's pages: answered one caller at a time, and no caller keeps the next one waiting for long."""

import json
import socket

import pytest
from prometheus_client import CollectorRegistry, Counter

from broker.common.errors import NotNowError
from broker.common.own_names import OwnNames
from broker.probe import endpoint as endpoint_module
from broker.probe.endpoint import ProbeEndpoint


class FakeStatus:
    def __init__(self) -> None:
        self.wrong = ""
        self.since: list[int] = []

    def status(self, since: int) -> dict[str, object]:
        self.since.append(since)
        if since == 13:
            raise ValueError("no such minute")
        return {"since": since}


@pytest.fixture
def status_source() -> FakeStatus:
    return FakeStatus()


@pytest.fixture
def endpoint(status_source, monkeypatch):
    monkeypatch.setattr(endpoint_module, "_TIMEOUT_S", 0.3)
    registry = CollectorRegistry()
    Counter("records", "Written.", registry=registry).inc(7)
    made = ProbeEndpoint(
        ("127.0.0.1", 0), registry, status_source.status, lambda: status_source.wrong, OwnNames("names", ())
    )
    made.start()
    yield made
    made.stop()


def answer_to(endpoint: ProbeEndpoint, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", endpoint.port), 10) as caller:
        caller.sendall(request)
        answer = b""
        while part := caller.recv(65_536):
            answer += part
        return answer


def get(endpoint: ProbeEndpoint, address: str, host: str = "127.0.0.1") -> tuple[int, str, str]:
    """Status, head and body."""
    head, _, body = answer_to(endpoint, f"GET {address} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()).partition(
        b"\r\n\r\n"
    )
    return int(head.split()[1]), head.decode(), body.decode()


def test_each_address_has_its_answer(endpoint, status_source):
    status, head, body = get(endpoint, "/metrics")
    assert (status, "records_total 7.0" in body) == (200, True)
    assert f"Content-Length: {len(body)}" in head
    assert "Connection: close" in head
    assert json.loads(get(endpoint, "/status?since=1700")[2]) == {"since": 1700}
    assert get(endpoint, "/healthz")[::2] == (200, "ok\n")
    status_source.wrong = "no broker answers"
    assert get(endpoint, "/healthz")[::2] == (503, "no broker answers\n")
    assert get(endpoint, "/else")[0] == 404
    assert b" 404 " in answer_to(endpoint, b"POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def test_a_moment_that_is_none_is_the_beginning(endpoint, status_source):
    for since in ("", "-1", "1e3", "9" * 16):
        get(endpoint, f"/status?since={since}")
    assert status_source.since == [0, 0, 0, 0]


def test_a_page_elsewhere_that_a_name_leads_here_from_is_refused(endpoint):
    assert get(endpoint, "/status", host="evil.example")[0] == 403


@pytest.mark.parametrize("words", [b"", b"GET /metrics HTTP/1.1\r\nHost: 127", b"GET /" + b"x" * 20_000])
def test_who_asks_badly_gets_nothing_and_the_next_one_an_answer(endpoint, words):
    with socket.create_connection(("127.0.0.1", endpoint.port), 10) as caller:
        try:
            caller.sendall(words)
            assert caller.recv(10) == b""
        except ConnectionResetError:
            pass  # it did not read to the end
    assert get(endpoint, "/healthz")[0] == 200


def test_who_asks_what_cannot_be_told_ends_nothing(endpoint):
    assert answer_to(endpoint, b"GET /status?since=13 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == b""
    assert get(endpoint, "/healthz")[0] == 200


def test_a_port_that_is_taken_is_told_of(endpoint):
    with pytest.raises(NotNowError, match="cannot be used"):
        ProbeEndpoint(("127.0.0.1", endpoint.port), CollectorRegistry(), lambda _: {}, str, OwnNames("names", ()))

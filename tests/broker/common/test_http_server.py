"""A server that is told to end ends at once, though it looks once a second only."""

import threading
import time
from urllib.request import urlopen

import pytest
import uvicorn

from broker.common import http_server
from broker.common.http_server import RestingServer
from tests.barnabas_cluster import await_true


async def answer(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def server(monkeypatch):
    """One that would never look by itself."""
    monkeypatch.setattr(http_server, "TICK_S", 600)
    server = RestingServer(uvicorn.Config(answer, port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    await_true(lambda: server.started, "serves", 30)
    yield server, thread
    server.should_exit = True
    thread.join(30)


def test_it_serves_with_a_date_and_ends_when_it_is_told(server):
    server, thread = server
    port = server.servers[0].sockets[0].getsockname()[1]
    with urlopen(f"http://127.0.0.1:{port}/") as told:
        assert time.strptime(told.headers["date"], "%a, %d %b %Y %H:%M:%S %Z")
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def test_one_that_is_told_before_it_serves_does_not_stay():
    server = RestingServer(uvicorn.Config(answer, port=0, log_level="critical", lifespan="off"))
    server.should_exit = True
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()

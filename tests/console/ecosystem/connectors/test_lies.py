"""A worker that hangs, lies, floods or is away: the console says so, and goes on with what it knew."""

import json
import socket

import pytest

from console.ecosystem.connectors import asking, client
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.configuration import ConnectSettings
from console.ecosystem.connectors.models import ConnectLook, Connector
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, RefusedError
from console.state.clusters.models import ClusterState
from tests.console.confirming import digest_in
from tests.console.ecosystem.connectors.lying_server import LyingServer, connector
from tests.zookeeper_server import free_ports

pytestmark = pytest.mark.django_db


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


@pytest.fixture
def short(monkeypatch):
    """Nobody is waited for longer than a test lasts; `undo` gives the honest their time again."""
    with monkeypatch.context() as patched:
        patched.setattr(asking.ask, "__defaults__", (None, 1.0))
        patched.setattr(client, "_GREETING_S", 1.0)
        yield patched


def hang(server: LyingServer):
    def answer(handler) -> None:
        server.over.wait(20)

    return answer


def drip(server: LyingServer):
    """A byte of its headers now and then: each is in time."""

    def answer(handler) -> None:
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not server.over.wait(0.05):
                handler.wfile.write(b"x")
                handler.wfile.flush()
        except OSError:
            pass

    return answer


def flood(server: LyingServer):
    def answer(handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        try:
            while not server.over.is_set():
                handler.wfile.write(b"x" * 1_000_000)
        except OSError:
            pass

    return answer


def garbage(_server: LyingServer):
    return lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")


def compressed(_server: LyingServer):
    def answer(handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}")

    return answer


LIES = {
    "no JSON": (200, b"<html>"),
    "nested without end": (200, b"[" * 200_000),
    "a list": (200, []),
    "a number": (200, 5),
    "connectors that are none": (200, {"a": 5}),
    "tasks that are none": (200, {"a": {"info": {}, "status": {"tasks": [5]}}}),
    "a task without a number": (200, {"a": {"info": {}, "status": {"tasks": [{"state": "RUNNING"}]}}}),
    "a state that is none": (200, {"a": {"info": {}, "status": {"connector": {"state": 7}}}}),
    "a configuration of a million keys": (200, {"a": {"info": {"config": {str(n): "" for n in range(10_000)}}}}),
    "an error": (500, {"error_code": 500, "message": "out of memory"}),
    "an error that is none": (503, b"\xff\xfe"),
    "a redirect": (302, b""),
    "no permission": (401, b""),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_no_answer_is_told_and_what_was_known_stays(lie, connect, collector, browser):
    connect.connectors["known"] = connector("known")
    collector.look("connectors")
    connect.answers["GET", "/connectors"] = LIES[lie]
    with pytest.raises(GatewayError):
        collector.look("connectors")
    assert Connector.objects.get().name == "known"
    assert ClusterState.objects.get().connectors_error
    for address in ("/connectors/", "/connectors/known/", "/"):
        assert browser.get(address).status_code == 200
    assert "Could not be refreshed" in text_of(browser.get("/connectors/"))
    assert "Kafka Connect does not answer" in text_of(browser.get("/"))
    del connect.answers["GET", "/connectors"]
    collector.look("connectors")
    assert ClusterState.objects.get().connectors_error == ""


@pytest.mark.parametrize("lie", [hang, drip, flood, garbage, compressed])
def test_who_hangs_floods_or_speaks_otherwise_is_not_waited_for(lie, connect, short, monkeypatch):
    monkeypatch.setattr(asking, "ANSWER_BYTES_MAX", 3_000_000)
    connect.answers["GET", "/connectors"] = lie(connect)
    connect.answers["GET", "/"] = lie(connect)
    with pytest.raises(ClusterUnreachableError):
        connect_client().connectors()
    assert all(isinstance(worker, str) for worker in connect_client().workers().values())
    connect.answers.clear()
    short.undo()
    assert connect_client().connectors().connectors == ()


def test_a_worker_that_is_away_is_told_and_another_answers_for_it(connect, settings, collector, short):
    connect.connectors["known"] = connector("known")
    (nobody,) = free_ports(1)
    with LyingServer() as hanging:
        hanging.answers["GET", "/connectors"] = hanging.answers["GET", "/"] = hang(hanging)
        settings.CONNECT = ConnectSettings((f"http://127.0.0.1:{nobody}", hanging.address, connect.address))
        collector.look("connectors")
        collector.look("connectors")
        assert len([path for _, path, _ in hanging.requests if path.startswith("/connectors")]) == 1
    assert Connector.objects.get().name == "known"
    assert [bool(worker[3]) for worker in ConnectLook.objects.get().workers] == [True, True, False]


def test_a_change_that_nobody_answers_is_not_sent_again_elsewhere(connect, settings, browser, short):
    connect.connectors["lines"] = connector("lines")
    Connector.objects.create(name="lines", kind="source", state="RUNNING")
    with LyingServer() as other:
        other.connectors = connect.connectors
        settings.CONNECT = ConnectSettings((connect.address, other.address))
        connect.answers["PUT", "/connectors/lines/pause"] = hang(connect)
        shown = browser.get("/connectors/lines/+do/pause/")
        done = browser.post("/connectors/lines/+do/pause/", {"digest": digest_in(shown)})
        assert "Whether it was done is not known" in text_of(done)
        assert (len(connect.changes()), other.changes()) == (1, [])


def test_a_connection_that_is_refused_was_no_question(connect, settings, browser):
    connect.connectors["lines"] = connector("lines")
    Connector.objects.create(name="lines", kind="source", state="RUNNING")
    (nobody,) = free_ports(1)
    settings.CONNECT = ConnectSettings((f"http://127.0.0.1:{nobody}", connect.address))
    shown = browser.get("/connectors/lines/+do/pause/")
    assert browser.post("/connectors/lines/+do/pause/", {"digest": digest_in(shown)}).status_code == 302
    assert [change[:2] for change in connect.changes()] == [("PUT", "/connectors/lines/pause")]


def test_too_many_names_and_too_long_ones_are_left_out_and_counted(connect, collector, browser):
    for name in ("x" * 256, "", "lines", "../../topics", "ünal/∕ %2F?#"):
        connect.connectors[name] = connector(name)
    collector.look("connectors")
    assert ConnectLook.objects.get().left_out == 2
    text = text_of(browser.get("/connectors/"))
    assert "2 more are not shown" in text
    for row in Connector.objects.all():
        from django.urls import reverse

        assert browser.get(reverse("connector", args=[row.name])).status_code == 200
        browser.get(reverse("connector-details", args=[row.name]))
    assert ("GET", "/connectors/..%2F..%2Ftopics/offsets", None) in connect.requests


def test_a_trace_of_a_megabyte_is_cut_and_kept_for_few(connect, collector):
    tasks = tuple(("FAILED", f"java.lang.Error: {n}\n" + "x" * 1_000_000) for n in range(12))
    connect.connectors["big"] = connector("big", tasks=tasks)
    collector.look("connectors")
    traces = [task[3] for task in Connector.objects.get().tasks]
    assert max(map(len, traces)) < 13_000
    assert all(trace.startswith("java.lang.Error") for trace in traces)


def test_a_row_is_written_only_when_it_reads_differently(connect, collector, django_assert_max_num_queries):
    for number in range(50):
        connect.connectors[f"c{number}"] = connector(f"c{number}")
    collector.look("connectors")
    with django_assert_max_num_queries(30) as queries:
        collector.look("connectors")
    assert not [query for query in queries if "connectors_connector" in query["sql"] and "INSERT" in query["sql"]]


def test_the_password_is_sent_and_one_that_is_wrong_is_said(connect, settings, tmp_path):
    file = tmp_path / "connect-password"
    file.write_text("console:s3cret:word\n")
    file.chmod(0o600)
    settings.CONNECT = ConnectSettings((connect.address,), file)
    connect_client().connectors()
    assert connect.headers[-1]["Authorization"] == "Basic Y29uc29sZTpzM2NyZXQ6d29yZA=="
    count = len(connect.headers)
    file.chmod(0o644)
    with pytest.raises(RefusedError, match="can be read by others"):
        connect_client().connectors()
    assert len(connect.headers) == count


def test_no_proxy_of_the_environment_is_asked(connect, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert connect_client().connectors().connectors == ()


def test_a_redirect_is_not_followed(connect):
    with LyingServer() as elsewhere:

        def lead(handler) -> None:
            handler.wfile.write(
                f"HTTP/1.1 302 Found\r\nLocation: {elsewhere.address}/\r\nContent-Length: 0\r\n\r\n".encode()
            )

        connect.answers["GET", "/connectors"] = lead
        with pytest.raises(RefusedError):
            connect_client().connectors()
        assert elsewhere.requests == []


def test_a_port_that_takes_connections_and_never_answers_stops_nothing_else(settings, short):
    with socket.create_server(("127.0.0.1", 0), backlog=1) as silent, LyingServer() as honest:
        settings.CONNECT = ConnectSettings((f"http://127.0.0.1:{silent.getsockname()[1]}", honest.address))
        assert connect_client().connectors().connectors == ()


def test_without_workers_there_are_no_connectors(collector, browser, settings):
    Connector.objects.create(name="old", kind="source", state="RUNNING")
    ClusterState.objects.update(connectors_error="gone")
    settings.CONNECT = ConnectSettings()
    collector.look("connectors")
    assert not Connector.objects.exists()
    assert "BARNABAS_CONNECT" in text_of(browser.get("/connectors/"))
    assert "Kafka Connect" not in text_of(browser.get("/"))


def test_half_of_a_character_that_a_worker_tells_is_kept_and_shown(connect, collector, browser):
    half = json.loads(r'"\ud800"')
    connect.connectors["known"] = connector("known", tasks=[("FAILED", half)], **{"file": half, half: "x"})
    collector.look("connectors")
    for address in ("/connectors/", "/connectors/known/", "/"):
        assert browser.get(address).status_code == 200

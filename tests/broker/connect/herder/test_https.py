"""Workers whose REST speaks https alone: asked by who trusts them, by browsers of those named, and by one another."""

import http.client
import json
import ssl

import pytest

from tests.barnabas_cluster import await_true
from tests.broker.connect.herder.test_distributed import properties, source
from tests.broker.connect.workers import start_worker
from tests.certificates import Authority, inline
from tests.zookeeper_server import free_ports

_PAGE = "https://page.example"


class HttpsClient:
    def __init__(self, port, authority):
        self._port = port
        self.context = ssl.create_default_context(cadata=authority.pem)

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=60, context=self.context)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def is_there(self):
        try:
            return self.ask("GET", "/connectors")[0] == 200
        except OSError:
            return False


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture
def secured(authority):
    server = authority.server()
    own = {
        "keystore.type": "PEM", "keystore.certificate.chain": inline(server.chain_pem),
        "keystore.key": inline(server.key_pem()), "truststore.type": "PEM",
        "truststore.certificates": inline(authority.pem),
    }  # fmt: skip
    return {f"listeners.https.ssl.{key}": value for key, value in own.items()}


@pytest.fixture
def start(cluster, tmp_path, secured, authority):
    started = []

    def begin(group, shown=None, **more):
        (port,) = free_ports(1)
        own = properties(cluster, group) | secured | {"listeners": f"https://127.0.0.1:{port}"} | more
        started.append(start_worker(tmp_path / f"worker-{len(started)}", "distributed", own))
        requested_asked = HttpsClient(port, authority)
        if shown:
            requested_asked.context.load_cert_chain(*shown)
        await_true(lambda: started[-1].process.poll() is None and requested_asked.is_there(), "https answers", 60)
        return requested_asked

    yield begin
    for item in started:
        assert item.stop() == 0


def test_two_workers_ask_each_other_by_https(start, tmp_path):
    workers = [start("https"), start("https")]
    (tmp_path / "in.txt").write_text("one\n")
    for number, worker in enumerate(workers):
        path, config = f"/connectors/in{number}/config", source(tmp_path, "in", "https-lines")
        await_true(lambda: worker.ask("PUT", path, config)[0] in (200, 201), "made, by the leader", 60)  # noqa: B023

    def owners():
        statuses = [json.loads(workers[0].ask("GET", f"/connectors/in{n}/status")[1]) for n in (0, 1)]
        return {
            task["worker_id"] for status in statuses for task in status.get("tasks", ()) if task["state"] == "RUNNING"
        }

    await_true(lambda: len(owners()) == 2, "a task on each", 60)
    for worker in workers:
        for number in (0, 1):
            assert worker.ask("POST", f"/connectors/in{number}/tasks/0/restart")[0] == 204


def test_loggers_are_apart_and_browsers_are_let_in_by_name(start, authority):
    (port,) = free_ports(1)
    worker = start(
        "browsers",
        **{
            "admin.listeners": f"https://127.0.0.1:{port}",
            "access.control.allow.origin": _PAGE,
            "access.control.allow.methods": "GET,PUT",
            "response.http.headers.config": "set X-Frame-Options: DENY",
        },
    )
    admin = HttpsClient(port, authority)
    assert [registry.ask("GET", "/admin/loggers")[0] for registry in (worker, admin)] == [404, 200]
    assert [registry.ask("GET", "/connectors")[0] for registry in (worker, admin)] == [200, 404]
    preflight = {"Origin": _PAGE, "Access-Control-Request-Method": "PUT"}
    status, _, headers = worker.ask("OPTIONS", "/connectors/x/config", **preflight)
    assert (status, headers["access-control-allow-origin"], headers["x-frame-options"]) == (200, _PAGE, "DENY")
    assert worker.ask("OPTIONS", "/connectors", **preflight | {"Access-Control-Request-Method": "DELETE"})[0] == 400
    others = worker.ask("GET", "/connectors", Origin="https://other.example")[2]
    assert "access-control-allow-origin" not in others
    assert worker.ask("GET", "/connectors", Origin=_PAGE)[2]["access-control-allow-origin"] == _PAGE
    pause = "PUT", "/connectors/x/pause", None
    assert [worker.ask(*pause, Origin=page)[0] for page in (_PAGE, "https://other.example")] == [404, 403]


def test_who_must_show_a_certificate_and_does_not_is_not_answered(start, authority, tmp_path):
    chain, key = authority.client("alice").write(tmp_path, "alice")
    worker = start("shown", shown=(chain, key), **{"listeners.https.ssl.client.auth": "required"})
    worker.context = ssl.create_default_context(cadata=authority.pem)
    with pytest.raises(OSError, match=r"(?i)certificate|reset|EOF|closed"):
        worker.ask("GET", "/connectors")

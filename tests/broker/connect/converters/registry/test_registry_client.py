"""What is asked of a registry over the wire: in TLS, with a login, of several addresses, and what its answers mean."""

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from broker.connect.api import ConfigError, DataError, RetriableError
from broker.connect.converters.registry.client import TaskRegistryClient
from broker.connect.converters.registry.settings import CONFIG, read_settings
from broker.registry.schema import Content
from tests.certificates import Authority

INT = Content("AVRO", '"int"')


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.requests.append((self.path, self.headers.get("Authorization")))
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args):
        return


@pytest.fixture
def served():
    """A server that answers as `answers` says, the last for ever."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.requests, server.answers = [], [(200, {"id": 7})]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def url_of(server, scheme="http"):
    return f"{scheme}://127.0.0.1:{server.server_port}"


def registry(urls, slept=None, **props):
    properties = {key.replace("_", "."): value for key, value in props.items()}
    settings, _ = read_settings(CONFIG, {"schema.registry.url": urls, **properties}, False)
    return TaskRegistryClient(settings, (slept if slept is not None else []).append)


def test_a_login_is_shown_and_the_subject_is_quoted(served):
    made = registry(url_of(served), basic_auth_user_info="me:ses:ame", normalize_schemas="true")
    assert made.register("a/b c-value", INT) == 7
    expected = "Basic " + base64.b64encode(b"me:ses:ame").decode()
    assert served.requests == [("/subjects/a%2Fb%20c-value/versions?normalize=true", expected)]


def test_the_next_address_is_asked_where_one_is_away(served):
    assert registry(f"http://127.0.0.1:1, {url_of(served)}/").look_up("s", INT) == 7


@pytest.mark.parametrize("answer", [(503, {}), (500, b""), (200, b"<html>"), (429, {}), (404, {"detail": "x"})])
def test_who_is_not_well_is_asked_again_after_a_longer_pause_each_time(served, answer):
    served.answers = [answer, answer, (200, {"id": 7})]
    slept: list[float] = []
    assert registry(url_of(served), slept).register("s", INT) == 7
    assert 0.5 <= slept[0] <= 1 <= slept[1] <= 2
    served.answers = [answer]
    with pytest.raises(RetriableError):
        registry(url_of(served), retries_max_wait_ms="1000").register("s", INT)


@pytest.mark.parametrize("status", [401, 403])
def test_a_login_that_is_refused_is_no_records_fault_and_is_not_tried_again_at_once(served, status):
    served.answers = [(status, {"error_code": status, "message": "no"})]
    with pytest.raises(RetriableError, match=str(status)) as raised:
        registry(url_of(served), basic_auth_user_info="me:sesame").register("s", INT)
    assert len(served.requests) == 1
    assert "sesame" not in str(raised.value)


@pytest.mark.parametrize(
    "answer", [(409, {"error_code": 409, "message": "incompatible"}), (200, {}), (200, {"id": "x"})]
)
def test_what_the_registry_refuses_is_the_records_fault(served, answer):
    served.answers = [answer]
    with pytest.raises(DataError):
        registry(url_of(served)).register("s", INT)
    assert len(served.requests) == 1


def test_only_a_registry_that_a_known_authority_vouches_for_is_told_the_login(served, tmp_path):
    authority = Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.server().write(tmp_path, "server"))
    served.socket = context.wrap_socket(served.socket, server_side=True)
    props = {"basic_auth_user_info": "me:sesame", "max_retries": "0"}
    with pytest.raises(RetriableError):
        registry(url_of(served, "https"), **props).register("s", INT)
    assert served.requests == []
    trusted = {"schema.registry.ssl.truststore.location": authority.write(tmp_path)}
    assert registry(url_of(served, "https"), **props, **trusted).register("s", INT) == 7


@pytest.mark.parametrize(
    "props",
    [
        {},
        {"schema.registry.url": ""},
        {"schema.registry.url": "ftp://h"},
        {"schema.registry.url": "http://me:sesame@h"},
        {"schema.registry.url": "http://far.example", "basic.auth.user.info": "me:sesame"},
        {"schema.registry.url": "http://127.0.0.1:1", "basic.auth.user.info": "sesame"},
        {"schema.registry.url": "http://h", "value.subject.name.strategy": "Odd"},
        {"schema.registry.url": "https://h", "schema.registry.ssl.truststore.location": "/nowhere.pem"},
    ],
)
def test_settings_that_cannot_be_meant_are_refused_without_telling_secrets(props):
    with pytest.raises(ConfigError) as raised:
        read_settings(CONFIG, props, False)
    assert "sesame" not in str(raised.value)

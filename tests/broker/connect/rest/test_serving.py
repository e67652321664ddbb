"""Which listeners a worker's REST has, and what is refused before it begins."""

import pytest

from broker.client.rest_listeners import RestListener
from broker.common.errors import StartupError
from broker.connect.rest.serving import RestSockets, read_rest
from broker.connect.settings import STANDALONE, read_settings
from tests.certificates import Authority, inline

WORKER = {"key.converter": "JsonConverter", "value.converter": "JsonConverter", "offset.storage.file.filename": "/x"}


def rest(**more):
    properties = {key.replace("_", "."): value for key, value in more.items()}
    return read_rest(read_settings(WORKER | properties, STANDALONE))


def store(prefix=""):
    server = Authority().server()
    return {
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.certificate.chain": inline(server.chain_pem),
        f"{prefix}ssl.keystore.key": inline(server.key_pem()),
    }


def test_without_a_word_it_is_http_on_this_host_with_loggers_and_nothing_for_browsers():
    result = rest()
    assert result.listeners == (RestListener("http", "127.0.0.1", 8083),)
    assert (result.admin, result.tls, result.origins, result.headers) == (None, None, (), ())
    assert rest(admin_listeners="").admin == ()


def test_it_is_asked_by_every_name_that_is_configured():
    properties = {
        "listeners": "http://plain.example:1",
        "admin.listeners": "http://admin.example:2",
        "rest.advertised.host.name": "told.example",
        "rest.allowed.hosts": "more.example",
        "access.control.allow.origin": "http://page.example:8083",
    }
    names = rest(**properties).names
    hosts = ("plain.example", "admin.example", "told.example", "more.example", "page.example")
    assert [names.refusal([f"{host}:8083"]) for host in hosts] == [""] * 5
    assert "rest.allowed.hosts" in names.refusal(["evil.example:8083"])
    assert rest(access_control_allow_origin="*").names.refusal(["evil.example"]) == ""


def test_workers_ask_one_another_by_http_unless_https_is_all_there_is_or_said():
    both = {"listeners": "https://0.0.0.0:8443,http://127.0.0.1:8083"} | store()
    assert rest(**both).advertised.scheme == "http"
    assert rest(**both, rest_advertised_listener="https").advertised.port == 8443
    assert rest(listeners="https://127.0.0.1", **store("listeners.https.")).advertised.scheme == "https"


def test_the_store_of_the_listeners_takes_the_place_of_the_clients_as_a_whole():
    with pytest.raises(StartupError, match=r"needs ssl\.keystore\.location"):
        rest(listeners="https://127.0.0.1:1", **store(), **{"listeners.https.ssl.keystore.type": "PEM"})
    assert rest(listeners="https://127.0.0.1:1", **store("listeners.https.")).tls


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"listeners": "https://127.0.0.1:1"}, "ssl.keystore.location"),
        ({"listeners": "ftp://127.0.0.1:1"}, "listeners="),
        ({"admin.listeners": "nonsense"}, "admin.listeners="),
        ({"admin.listeners": "https://127.0.0.1:1"}, "ssl.keystore.location"),
        ({"rest.advertised.listener": "https"}, "rest.advertised.listener=https"),
        ({"rest.advertised.listener": "ftp"}, "rest.advertised.listener"),
        ({"listeners": "https://h:1", "ssl.client.auth": "perhaps"}, "ssl.client.auth"),
        ({"response.http.headers.config": "nonsense"}, "response.http.headers.config"),
    ],
)
def test_what_cannot_be_is_one_sentence(properties, why):
    with pytest.raises(StartupError, match=why):
        rest(**properties)


def test_a_port_that_is_taken_is_one_sentence():
    first = RestSockets(rest(listeners="http://127.0.0.1:0"))
    (_, taken), port = first.main[0], first.main[0][1].getsockname()[1]
    with taken, pytest.raises(StartupError, match=f"cannot listen on 127.0.0.1:{port}"):
        RestSockets(rest(listeners=f"http://127.0.0.1:{port}"))

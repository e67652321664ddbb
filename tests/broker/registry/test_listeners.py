"""Which listeners a registry has, by Confluent's keys, and what is refused before it begins."""

import pytest

from broker.client.rest_listeners import RestListener
from broker.common.errors import StartupError
from broker.registry.config import read_config, read_config_file
from tests.certificates import Authority, inline

BASE = {"kafkastore.bootstrap.servers": "127.0.0.1:9092"}


def tls(**more):
    server = Authority().server()
    chain = {"ssl.keystore.certificate.chain": inline(server.chain_pem), "ssl.keystore.key": inline(server.key_pem())}
    return BASE | {"ssl.keystore.type": "PEM"} | chain | {key.replace("_", "."): value for key, value in more.items()}


def test_the_first_listener_is_what_other_registries_ask_unless_a_scheme_is_said():
    both = "http://0.0.0.0:8081,https://127.0.0.1:8443"
    config = read_config(tls(listeners=both))
    assert config.listeners == (RestListener("http", "0.0.0.0", 8081), RestListener("https", "127.0.0.1", 8443))
    assert config.advertised == ("127.0.0.1", 8081, "http")
    config = read_config(tls(listeners=both, inter_instance_protocol="https", host_name="me.example"))
    assert config.advertised == ("me.example", 8443, "https")
    assert config.unknown == ()
    assert read_config(BASE).advertised == ("127.0.0.1", 8081, "http")


def test_it_is_asked_by_every_name_that_is_configured():
    properties = {
        "listeners": "http://plain.example:1",
        "host.name": "told.example",
        "rest.allowed.hosts": "more.example",
    }
    names = read_config(BASE | properties).names
    assert [names.refusal([host]) for host in ("plain.example", "told.example:1", "more.example")] == [""] * 3
    assert "rest.allowed.hosts" in names.refusal(["evil.example"])


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"listeners": "https://127.0.0.1:1"}, "ssl.keystore.location"),
        ({"listeners": "ftp://127.0.0.1:1"}, "http://host:port or https"),
        ({"listeners": "http://127.0.0.1:x"}, "http://host:port or https"),
        ({"listeners": "http://127.0.0.1:1", "inter.instance.protocol": "https"}, "no listener speaks it"),
        ({"listeners": "https://h:1", "ssl.keystore.location": "/nowhere.pem"}, "nowhere.pem"),
        ({"ssl.client.authentication": "MAYBE"}, "ssl.client.authentication"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(properties, why):
    with pytest.raises(StartupError, match=why):
        read_config(BASE | properties)


def test_a_file_with_a_key_that_others_may_read_is_refused(tmp_path):
    file = tmp_path / "schema-registry.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in tls(listeners="https://127.0.0.1:1").items()))
    file.chmod(0o644)
    with pytest.raises(StartupError, match="chmod 600"):
        read_config_file(str(file), {})

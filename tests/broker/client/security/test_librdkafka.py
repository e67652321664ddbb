"""What is handed to librdkafka: checked by librdkafka itself, which logs in with it."""

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from broker.client.security.errors import ClientConfigError
from broker.client.security.librdkafka import librdkafka_settings
from broker.client.security.properties import read_security
from tests.secure_broker import SecureBroker, server_context, written

_LOGIN = {"sasl.username": "ann", "sasl.password": "sesame"}
_TIMEOUT_S = 20.0


def settings(**properties: str):
    return librdkafka_settings(read_security(properties))


def cluster_id(broker: SecureBroker, security: dict) -> str:
    admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0, **security})
    return admin.list_topics(timeout=_TIMEOUT_S).cluster_id


def test_plain_is_nothing():
    assert librdkafka_settings(read_security({"sasl.mechanism": "PLAIN"})) == {}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_librdkafka_logs_in_with_it(mechanism):
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, **_LOGIN}
    with SecureBroker(mechanism=mechanism, users={"ann": "sesame"}) as broker:
        assert cluster_id(broker, settings(**properties)) == "secured"
        assert broker.came[0] == "ann"


@pytest.mark.parametrize("kind", ["PEM", "PKCS12", "inline", "locked"])
def test_librdkafka_speaks_tls_with_stores_of_every_kind(tmp_path, authority, kind):
    ann = authority.client("ann")
    properties = {"security.protocol": "SSL", "ssl.truststore.certificates": authority.pem}
    match kind:
        case "PEM":
            properties |= {"ssl.keystore.type": kind, "ssl.keystore.location": written(tmp_path / "ann.pem", ann.pem())}
        case "PKCS12":
            (tmp_path / "ann.p12").write_bytes(ann.pkcs12("changeit"))
            properties |= {"ssl.keystore.location": str(tmp_path / "ann.p12"), "ssl.keystore.password": "changeit"}
        case "inline":
            properties |= {"ssl.keystore.certificate.chain": ann.chain_pem, "ssl.keystore.key": ann.key_pem()}
        case "locked":
            properties |= {
                "ssl.keystore.location": written(tmp_path / "a.pem", ann.pem("opened")),
                "ssl.key.password": "opened",
            }
    context = server_context(authority.server(), tmp_path / "broker.pem", clients=authority)
    with SecureBroker(tls=context) as broker:
        assert cluster_id(broker, settings(**properties)) == "secured"
        assert broker.came[0] == "ann"


def test_librdkafka_is_given_tokens(tmp_path):
    (tmp_path / "token").write_text("abc")
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": (tmp_path / "token").as_uri(),
    }
    with SecureBroker(mechanism="OAUTHBEARER", users={"abc": "ann"}) as broker:
        assert cluster_id(broker, settings(**properties)) == "secured"
        assert broker.came[0] == "ann"


def test_a_host_that_is_not_in_the_certificate_is_refused_by_librdkafka_too(tmp_path, authority):
    properties = {"security.protocol": "SSL", "ssl.truststore.certificates": authority.pem}
    with SecureBroker(tls=server_context(authority.server("elsewhere"), tmp_path / "broker.pem")) as broker:
        admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0, **settings(**properties)})
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=1.0)
        assert broker.requests == []
        unchecked = settings(**properties, **{"ssl.endpoint.identification.algorithm": ""})
        assert cluster_id(broker, unchecked) == "secured"


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1.3"}, "is not possible with librdkafka"),
        (
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-256",
                "sasl.jaas.config": 'a.ScramLoginModule required username="i" password="sesame" tokenauth=true;',
            },
            "cannot log in by a delegation token",
        ),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/nowhere"}, "cannot be read"),
    ],
)
def test_what_librdkafka_cannot_do_is_one_sentence(properties, sentence):
    with pytest.raises(ClientConfigError, match=sentence) as refused:
        settings(**properties)
    assert "sesame" not in str(refused.value)


def test_librdkafka_knows_every_name_it_is_given(tmp_path, authority):
    ann = authority.client("ann")
    properties = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": authority.pem,
        "ssl.keystore.certificate.chain": ann.chain_pem,
        "ssl.keystore.key": ann.key_pem("opened"),
        "ssl.key.password": "opened",
        "ssl.endpoint.identification.algorithm": "",
        "sasl.mechanism": "SCRAM-SHA-512",
        **_LOGIN,
    }
    Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0, **settings(**properties)})

"""Our own connections to a broker that wants TLS, a login, or both; and what a person is told who gets it wrong."""

import pytest

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection
from broker.client.errors import BrokerUnreachable, ClosedAtOnce, LoginRefused, NotTrusted
from broker.client.security.properties import read_security
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.metadata import MetadataRequest
from tests.secure_broker import SecureBroker, server_context, written

_USERS = {"ann": "sesame", "a=b,c": "sesame"}
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def login(mechanism: str, user: str = "ann", password: str = "sesame", **more: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
        **more,
    }


def ask(broker: SecureBroker, properties: dict[str, str], host: str = "127.0.0.1") -> str | None:
    with BrokerConnection(host, broker.port, security=read_security(properties)) as connection:
        return connection.ask(MetadataRequest(topics=[])).cluster_id


@pytest.mark.parametrize("mechanism", _MECHANISMS)
@pytest.mark.parametrize("user", _USERS)
def test_a_client_logs_in_before_it_asks_anything(mechanism, user):
    with SecureBroker(mechanism=mechanism, users=_USERS) as broker:
        assert ask(broker, login(mechanism, user)) == "secured"
        assert broker.came == [user]
        assert broker.requests[0] is ApiKey.SASL_HANDSHAKE


@pytest.mark.parametrize("mechanism", _MECHANISMS)
def test_a_wrong_password_is_one_sentence_and_not_tried_elsewhere(mechanism):
    with SecureBroker(mechanism=mechanism, users=_USERS) as broker, SecureBroker() as other:
        security = read_security(login(mechanism, password="guess"))
        servers = [("127.0.0.1", broker.port), ("127.0.0.1", other.port)]
        with ClusterConnections(servers, security=security) as cluster, pytest.raises(LoginRefused) as refused:
            cluster.brokers()
        assert "does not let us in: Authentication failed" in str(refused.value)
        assert "guess" not in str(refused.value)
        assert other.requests == []


def test_a_mechanism_that_the_broker_has_not_is_named_with_those_it_has():
    with (
        SecureBroker(mechanism="SCRAM-SHA-512", users=_USERS) as broker,
        pytest.raises(LoginRefused, match="refuses PLAIN: UNSUPPORTED_SASL_MECHANISM; it takes SCRAM-SHA-512"),
    ):
        ask(broker, login("PLAIN"))


def test_who_does_not_log_in_is_told_what_may_be_wrong():
    with (
        SecureBroker(mechanism="PLAIN", users=_USERS) as broker,
        pytest.raises(
            BrokerUnreachable, match=r"did not answer METADATA: .*want TLS or a login\? see security\.protocol"
        ),
    ):
        ask(broker, {})


def test_a_delegation_token_is_said_to_be_one():
    jaas = (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="id" password="hmac" tokenauth="true";'
    )
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": jaas}
    with SecureBroker(mechanism="SCRAM-SHA-512", users={"id": "hmac"}) as broker:
        assert ask(broker, properties) == "secured"
        assert broker.came == ["id by token"]


def test_a_token_of_a_file_is_shown_and_a_refused_one_is_told(tmp_path):
    (tmp_path / "token").write_text("abc\n")
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": (tmp_path / "token").as_uri(),
    }
    with SecureBroker(mechanism="OAUTHBEARER", users={"abc": "ann"}) as broker:
        assert ask(broker, properties) == "secured"
        assert broker.came == ["ann"]
    with (
        SecureBroker(mechanism="OAUTHBEARER", users={}) as broker,
        pytest.raises(LoginRefused, match="invalid_token") as refused,
    ):
        ask(broker, properties)
    assert "abc" not in str(refused.value)


def test_tls_with_a_login_inside_and_a_certificate_of_ones_own(tmp_path, authority):
    properties = {
        **login("SCRAM-SHA-256"),
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": authority.pem,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": written(tmp_path / "own.pem", authority.client("box-7").pem()),
    }
    context = server_context(authority.server(), tmp_path / "broker.pem", clients=authority)
    with SecureBroker(tls=context, mechanism="SCRAM-SHA-256", users=_USERS) as broker:
        assert ask(broker, properties) == "secured"
        assert broker.came == ["box-7", "ann"]


@pytest.mark.parametrize(
    ("properties", "host", "sentence"),
    [
        ({}, "127.0.0.1", r"is not trusted .*name its CA in ssl\.truststore\.location"),
        ({"ssl.truststore.certificates": "ours"}, "localhost", "its certificate is for another host"),
        (
            {"ssl.truststore.certificates": "ours"},
            "127.0.0.1",
            "does not take our certificate|certificate required|does it want another login, or a certificate",
        ),
    ],
)
def test_a_certificate_that_is_not_taken_is_one_sentence(tmp_path, authority, properties, host, sentence):
    properties = {"security.protocol": "SSL"} | dict.fromkeys(properties, authority.pem)
    context = server_context(authority.server("127.0.0.1"), tmp_path / "broker.pem", clients=authority)
    # In TLS 1.3 the broker refuses when we have begun to ask, and what it says of it can be lost.
    with SecureBroker(tls=context) as broker, pytest.raises((NotTrusted, ClosedAtOnce), match=sentence) as refused:
        ask(broker, properties, host)
    assert "\n" not in str(refused.value)


def test_a_host_that_is_not_in_the_certificate_is_taken_if_that_is_said(tmp_path, authority):
    properties = {
        "security.protocol": "SSL",
        "ssl.truststore.certificates": authority.pem,
        "ssl.endpoint.identification.algorithm": "",
    }
    with SecureBroker(tls=server_context(authority.server("elsewhere"), tmp_path / "broker.pem")) as broker:
        assert ask(broker, properties) == "secured"


def test_tls_spoken_to_a_plain_port_and_the_reverse_are_told(tmp_path, authority):
    context = server_context(authority.server(), tmp_path / "broker.pem")
    with SecureBroker(tls=context) as broker, pytest.raises((NotTrusted, BrokerUnreachable), match="TLS"):
        ask(broker, {})
    security = read_security({"security.protocol": "SSL"})
    with SecureBroker() as broker, pytest.raises((NotTrusted, BrokerUnreachable), match="TLS on that port"):
        BrokerConnection("127.0.0.1", broker.port, timeout_s=1.0, security=security)


def test_one_broker_that_is_not_trusted_does_not_hide_another_that_is(tmp_path, authority):
    wrong = server_context(authority.server("elsewhere"), tmp_path / "wrong.pem")
    right = server_context(authority.server(), tmp_path / "right.pem")
    security = read_security({"security.protocol": "SSL", "ssl.truststore.certificates": authority.pem})
    with SecureBroker(tls=wrong) as one, SecureBroker(tls=right) as other:
        with ClusterConnections([("127.0.0.1", one.port), ("127.0.0.1", other.port)], security=security) as cluster:
            assert cluster.describe_topics([]).cluster_id == "secured"
        with ClusterConnections([("127.0.0.1", one.port)], security=security) as cluster, pytest.raises(NotTrusted):
            cluster.describe_topics([])


def test_a_login_that_ends_is_made_anew_before_it_does(monkeypatch):
    security = read_security(login("PLAIN"))
    with (
        SecureBroker(mechanism="PLAIN", users=_USERS, lifetime_ms=60_000) as broker,
        BrokerConnection("127.0.0.1", broker.port, security=security) as connection,
    ):
        began = connection._login_ends_at - 51
        for passed_s, logins in ((0, 1), (50, 1), (52, 2)):
            monkeypatch.setattr("broker.client.connection.time.monotonic", lambda now=began + passed_s: now)
            assert connection.ask(MetadataRequest(topics=[])).cluster_id == "secured"
            assert len(broker.came) == logins


def test_what_a_password_comes_to_is_worked_out_once(monkeypatch):
    counted = []
    from broker.client.security import login as module

    derive = module.derive_keys
    monkeypatch.setattr(module, "derive_keys", lambda *arguments: counted.append(arguments) or derive(*arguments))
    properties = login("SCRAM-SHA-512", password="worked out once")
    with SecureBroker(mechanism="SCRAM-SHA-512", users={"ann": "worked out once"}) as broker:
        for _ in range(3):
            ask(broker, properties)
    assert len(counted) == 1


def test_a_certificate_that_was_replaced_on_disk_counts_for_the_next_connection(tmp_path, authority):
    path = tmp_path / "own.pem"
    properties = {
        "security.protocol": "SSL",
        "ssl.truststore.certificates": authority.pem,
        "ssl.keystore.location": str(path),
    }
    context = server_context(authority.server(), tmp_path / "broker.pem", clients=authority)
    with SecureBroker(tls=context) as broker:
        for name in ("first", "the-second"):
            written(path, authority.client(name).pem())
            assert ask(broker, properties) == "secured"
        path.write_text("half a fi")
        assert ask(broker, properties) == "secured"
        assert broker.came == ["first", "the-second", "the-second"]

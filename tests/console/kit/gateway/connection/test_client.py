"""The console's way in: a file that is read again when it is another, and a refusal that is told in a sentence."""

import logging
import socketserver
import threading
from contextlib import contextmanager

import pytest

from broker.protocol.api_keys import ApiKey
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.cluster_session import cluster_session
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import ClientRefusedError, ClusterUnreachableError, is_refusal
from tests.certificates import Authority
from tests.fakes.zookeeper import FakeZooKeeper
from tests.secure_broker import SecureBroker, server_context, written

_LOGIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=console\nsasl.password={}\n"


@pytest.fixture
def broker():
    with SecureBroker(mechanism="SCRAM-SHA-512", users={"console": "sesame"}) as served:
        yield served


class _SaysHttp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while self.request.recv(65_536):
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@contextmanager
def no_broker():
    """Where something else listens; its address."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _SaysHttp) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        serving.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            serving.join(10)


def gateway(client: ClusterClient, timeout_s: float = 10.0) -> KafkaGateway:
    membership = ConsoleMembership(lambda: FakeZooKeeper(lambda: 0))
    return KafkaGateway(client, membership, request_timeout_seconds=timeout_s)


def test_the_cluster_is_asked_as_the_file_says(tmp_path, broker):
    client = ClusterClient(broker.address, written(tmp_path / "client.properties", _LOGIN.format("sesame")))
    assert gateway(client).describe_cluster().cluster_id == "secured"
    with client.cluster(10.0) as cluster:
        assert cluster.describe_topics([]).cluster_id == "secured"
    assert set(broker.came) == {"console"}


def test_who_is_not_let_in_is_told_what_to_do_and_a_mended_file_counts_at_once(tmp_path, broker, caplog):
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "client.properties"
    gateway_of_guess = gateway(ClusterClient(broker.address, written(file, _LOGIN.format("guess"))), 1.0)
    with pytest.raises(ClientRefusedError) as refused:
        gateway_of_guess.describe_cluster()
    sentence = str(refused.value)
    assert sentence.startswith("The cluster does not let the console in: the broker at 127.0.0.1")
    assert sentence.endswith(f"Put {file} right; it is read again by itself.")
    assert "guess" not in sentence + caplog.text
    assert is_refusal(sentence)
    written(file, _LOGIN.format("sesame"))
    assert gateway_of_guess.describe_cluster().cluster_id == "secured"


def test_a_cluster_whose_answers_cannot_be_read_is_told_apart_from_one_that_is_away(tmp_path):
    file = str(tmp_path / "client.properties")
    with no_broker() as address:
        client = ClusterClient(address, file, is_required=False)
        message = r"No broker gave an answer that can be read: 127.0.0.1:\d+ announces .*; is it a Kafka broker\?\."
        with (
            pytest.raises(ClusterUnreachableError, match=message),
            cluster_session(client, 5.0, "not served") as cluster,
        ):
            cluster.describe_topics([])
        with pytest.raises(ClusterUnreachableError, match=message):
            gateway(client, 1.0).describe_cluster()


def test_a_cluster_that_wants_more_than_a_plain_client_brings_is_told_apart_from_one_that_is_away(tmp_path, broker):
    file = str(tmp_path / "client.properties")
    with pytest.raises(ClientRefusedError, match=f"want TLS or a login.*Write a client's properties into {file}"):
        gateway(ClusterClient(broker.address, file, is_required=False), 1.0).describe_cluster()
    with pytest.raises(ClusterUnreachableError, match="No broker answered in time") as away:
        gateway(ClusterClient("127.0.0.1:1", file, is_required=False), 0.3).describe_cluster()
    assert not is_refusal(str(away.value))


def test_a_certificate_that_is_not_trusted_is_named(tmp_path):
    context = server_context(Authority().server(), tmp_path / "broker.pem")
    file = written(tmp_path / "client.properties", "security.protocol=SSL\n")
    with SecureBroker(tls=context) as broker, pytest.raises(ClientRefusedError, match="certificate is not trusted"):
        gateway(ClusterClient(broker.address, file), 1.0).describe_cluster()


def test_a_refused_console_does_not_try_its_password_at_each_look(tmp_path, broker):
    client = ClusterClient(broker.address, written(tmp_path / "client.properties", _LOGIN.format("guess")))
    reasons = {str(client.why_refused(1.0)) for _ in range(3)}
    assert len(reasons) == 1
    assert broker.requests.count(ApiKey.SASL_HANDSHAKE) == 1


@pytest.mark.parametrize(
    ("text", "mode", "sentence"),
    [
        (_LOGIN.format("sesame"), 0o644, "has mode 0644: others may read it; chmod 600"),
        ("security.protocol=SASL_SSL\n", 0o600, "sasl.mechanism=GSSAPI"),
        ("security.protocol=SSL\nssl.truststore.location=/none\n", 0o600, "/none cannot be read"),
        (None, 0, "there is no file"),
    ],
)
def test_a_file_that_cannot_serve_is_one_sentence(tmp_path, text, mode, sentence):
    file = tmp_path / "client.properties"
    if text is not None:
        file.write_text(text)
        file.chmod(mode)
    client = ClusterClient("127.0.0.1:1", str(file))
    for ask in (client.admin, lambda: gateway(client).describe_cluster(), lambda: client.settings({})):
        with pytest.raises(ClientRefusedError, match=f"client configuration cannot be used: .*{sentence}") as refused:
            ask()
        assert "sesame" not in str(refused.value)


def test_the_same_admin_client_is_kept_until_the_file_is_another(tmp_path):
    file = tmp_path / "client.properties"
    client = ClusterClient("127.0.0.1:1", str(file), is_required=False)
    plain = client.admin()
    assert client.admin() is plain
    assert client.config_file == ""
    written(file, _LOGIN.format("sesame"))
    secured = client.admin()
    assert secured is not plain
    assert client.admin() is secured
    assert client.config_file == str(file)
    assert "sesame" not in repr(vars(client))

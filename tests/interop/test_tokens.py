"""Logins by tokens: bearer tokens (OAUTHBEARER) with each client that people use, keys in a file and at a server; and
delegation tokens, made at one broker and accepted at the other.

No client of Python says `tokenauth` in its SCRAM: tokens log in by our own client's exchange, over a real socket.
"""

import asyncio
import base64
import contextlib
import http.server
import json
import os
import socket
import threading
import time

import aiokafka
import kafka
import pytest
from aiokafka.abc import AbstractTokenProvider as AiokafkaTokenProvider
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic
from kafka.net.sasl.oauth import AbstractTokenProvider as KafkaPythonTokenProvider
from kazoo.client import KazooClient

from broker.protocol.codec import decode, encode
from broker.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.create_delegation_token import CreatableRenewer, CreateDelegationTokenRequest
from broker.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from broker.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.scram import ClientExchange, derive_keys
from tests.barnabas_cluster import await_true, running_cluster
from tests.bearer import AUDIENCE, ISSUER, Issuer, segment
from tests.typed import typed

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="alice-secret" user_bob="bobs";'
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


@pytest.fixture(scope="module")
def key_server(issuer):
    """Serves the issuer's key `rsa`, and counts who asks."""

    class Keys(http.server.BaseHTTPRequestHandler):
        request_count = 0
        keys = ("rsa",)

        def do_GET(self):
            Keys.request_count += 1
            body = issuer.key_set(*Keys.keys)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    Keys.url = f"http://127.0.0.1:{server.server_port}/keys"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Keys
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper, issuer, key_server):
    directory = tmp_path_factory.mktemp("tokens")
    (directory / "keys.json").write_bytes(issuer.key_set("ec"))
    overrides = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:{port},BYURL://127.0.0.1:0",
        "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,BYURL:SASL_PLAINTEXT",
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": JAAS,
        "listener.name.byurl.sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": f"file://{directory}/keys.json",
        "listener.name.byurl.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": key_server.url,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "delegation.token.secret.key": "a secret of all brokers",
        "delegation.token.expiry.check.interval.ms": "100",
    }
    with running_cluster(directory, brokers=2, overrides=overrides, zookeeper=zookeeper) as running:
        admin = AdminClient({**plain("alice", "alice-secret"), "bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic("orders", 2, 2)])["orders"].result(30)
        yield running


@pytest.fixture(scope="module")
def by_url(cluster) -> str:
    """The listener whose keys are at a server."""
    client = KazooClient(cluster.zookeeper.connect)
    client.start()
    endpoints = json.loads(client.get("/brokers/ids/1")[0])["endpoints"]
    client.stop()
    return dict(endpoint.split("://") for endpoint in endpoints)["BYURL"]


def plain(user: str, password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
    }


def bearer(servers: str, token: str) -> dict[str, object]:
    return {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _config: (token, time.time() + 600),
    }


# -- bearer tokens


@pytest.mark.parametrize("key_id", ["ec", pytest.param("rsa", marks=pytest.mark.long)])
def test_confluent_kafka_writes_and_reads_with_a_bearer_token(cluster, by_url, issuer, name, key_id):
    login = bearer(cluster.bootstrap_servers if key_id == "ec" else by_url, issuer.token(key_id=key_id))
    producer = Producer({**login, "acks": "all"})
    for number in range(10):
        producer.produce("orders", f"{name}-{number}")
    assert producer.flush(30) == 0
    reader = Consumer({**login, "group.id": name, "auto.offset.reset": "earliest"})
    reader.subscribe(["orders"])
    read = set()

    def has_all() -> bool:
        read.update(item.value().decode() for item in reader.consume(100, 0.1) if item.error() is None)
        return {f"{name}-{number}" for number in range(10)} <= read

    await_true(has_all, "all is read")
    reader.close()


def test_kafka_python_writes_with_a_bearer_token(cluster, issuer, name):
    class Provider(KafkaPythonTokenProvider):
        def token(self):
            return issuer.token()

    login = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauth_token_provider": Provider(),
    }
    producer = kafka.KafkaProducer(**login)
    assert producer.send("orders", name.encode()).get(30).topic == "orders"
    producer.close()


async def test_aiokafka_writes_and_reads_with_a_bearer_token(cluster, issuer, name):
    class Provider(AiokafkaTokenProvider):
        async def token(self):
            return issuer.token()

    login = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_oauth_token_provider": Provider(),
    }
    async with aiokafka.AIOKafkaProducer(**login) as producer:
        await producer.send_and_wait("orders", name.encode())
    async with aiokafka.AIOKafkaConsumer("orders", auto_offset_reset="earliest", **login) as reader:
        async with asyncio.timeout(30):
            while (await reader.getone()).value != name.encode():
                pass


def hostile(issuer) -> dict[str, str]:
    payload = segment({"sub": "admin", "iat": time.time(), "exp": time.time() + 600, "iss": ISSUER, "aud": AUDIENCE})
    return {
        "unsecured": f"{segment({'alg': 'none'})}.{payload}.AAAA",
        "expired": issuer.token(lives_s=-60),
        "not yet": issuer.token(nbf=time.time() + 600),
        "of another": Issuer().token(),
        "for another": issuer.token(aud="another"),
    }


@pytest.mark.parametrize(
    "name_",
    [
        "unsecured",
        "expired",
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("not yet", "of another", "for another")),
    ],
)
def test_a_token_that_is_not_believed_is_told_of_and_the_login_fails(cluster, issuer, name_):
    messages = []
    client = AdminClient(
        {
            **bearer(cluster.bootstrap_servers, hostile(issuer)[name_]),
            "error_cb": lambda error: messages.append(str(error)),
        }
    )
    with pytest.raises(KafkaException):
        client.list_topics(timeout=3)
    client.poll(0)
    assert any("invalid_token" in item for item in messages), messages


def test_keys_are_not_read_for_each_login_and_a_new_one_is_found(cluster, by_url, issuer, key_server):
    before = key_server.request_count
    for _ in range(3):
        AdminClient(bearer(by_url, issuer.token(key_id="rsa"))).list_topics(timeout=20)
    assert key_server.request_count == before
    key_server.keys = ("rsa", "ec")
    AdminClient(bearer(by_url, issuer.token(key_id="ec"))).list_topics(timeout=20)
    assert key_server.request_count > before


# -- delegation tokens


class Asker:
    """A client with a login of its own, which asks one broker what it is told."""

    def __init__(self, broker, mechanism: str, tokens):
        self._socket = socket.create_connection((broker.host, broker.port), timeout=20)
        assert self.ask(SaslHandshakeRequest(mechanism=mechanism), 1).error_code == 0
        token = next(tokens)
        while True:
            answer = self.ask(SaslAuthenticateRequest(auth_bytes=token), 2)
            if answer.error_code:
                raise PermissionError(answer.error_message)
            self.lifetime_ms = answer.session_lifetime_ms
            try:
                token = tokens.send(bytes(answer.auth_bytes))
            except StopIteration:
                return

    def ask(self, request, version):
        header = encode_request_header(RequestHeader(request.api, version, 1, "tester"))
        body = encode(request, version)
        self._socket.sendall((len(header) + len(body)).to_bytes(4) + header + body)
        size = int.from_bytes(self._read(4))
        frame = self._read(size)
        _, at = decode_response_header(request.api, version, frame)
        return decode(MESSAGES[request.api].response, frame[at:], version)

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    def close(self):
        self._socket.close()


def as_user(user: str, password: str):
    yield f"\0{user}\0{password}".encode()


def as_token(token_id: str, hmac: bytes, mechanism: str):
    password = base64.b64encode(hmac)
    exchange = ClientExchange(
        token_id,
        lambda salt, iterations: derive_keys(password, salt, iterations, mechanism),
        os.urandom(9).hex(),
        {"tokenauth": "true"},
        mechanism,
    )
    exchange.verify((yield exchange.final((yield exchange.first()))))


@pytest.fixture
def login():
    with contextlib.ExitStack() as opened:

        def log_in(broker, mechanism, tokens) -> Asker:
            asker = Asker(broker, mechanism, tokens)
            opened.callback(asker.close)
            return asker

        yield log_in


@pytest.fixture
def alice(cluster, login) -> Asker:
    return login(cluster.brokers[0], "PLAIN", as_user("alice", "alice-secret"))


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", pytest.param("SCRAM-SHA-512", marks=pytest.mark.long)])
def test_a_token_made_at_one_broker_logs_in_at_the_other_until_it_is_removed(cluster, login, alice, mechanism):
    one, other = cluster.brokers
    renewers = [CreatableRenewer(principal_type="User", principal_name="bob")]
    made = alice.ask(CreateDelegationTokenRequest(renewers=renewers, max_lifetime_ms=HOUR_MS), 3)
    assert (made.error_code, made.principal_name) == (0, "alice")

    def by_token(broker) -> Asker:
        return login(broker, mechanism, as_token(made.token_id, bytes(made.hmac), mechanism))

    await_true(lambda: succeeds(lambda: by_token(other)), "the other broker has heard of it")
    session = by_token(other)
    assert 0 < session.lifetime_ms <= HOUR_MS
    assert {topic.name for topic in session.ask(MetadataRequest(topics=None), 9).topics} >= {"orders"}
    assert session.ask(CreateDelegationTokenRequest(), 3).error_code == 64
    assert session.ask(DescribeDelegationTokenRequest(owners=None), 3).error_code == 64

    bob = login(other, "PLAIN", as_user("bob", "bobs"))
    renewed = bob.ask(RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=60_000), 2)
    assert renewed.error_code == 0
    assert bob.ask(ExpireDelegationTokenRequest(hmac=made.hmac, expiry_time_period_ms=-1), 2).error_code == 0
    with pytest.raises(PermissionError, match="invalid credentials"):
        by_token(other)
    await_true(lambda: not succeeds(lambda: by_token(one)), "removed at the one, too")


def succeeds(log_in) -> bool:
    try:
        log_in()
    except PermissionError:
        return False
    return True


def test_the_session_of_a_token_that_expires_is_over(cluster, login, alice):
    made = alice.ask(CreateDelegationTokenRequest(max_lifetime_ms=2_000), 3)
    session = login(cluster.brokers[0], "SCRAM-SHA-256", as_token(made.token_id, bytes(made.hmac), "SCRAM-SHA-256"))
    assert 0 < session.lifetime_ms <= 2_000
    await_true(lambda: is_closed(session), "its session is over")

    def known() -> set[str]:
        return {token.token_id for token in alice.ask(DescribeDelegationTokenRequest(owners=None), 3).tokens}

    await_true(lambda: made.token_id not in known(), "the controller has removed it")


def is_closed(asker) -> bool:
    try:
        asker.ask(MetadataRequest(topics=[]), 9)
    except ConnectionError:
        return True
    return False


def test_the_secret_is_in_no_log_and_no_description(cluster):
    admin = AdminClient({**plain("alice", "alice-secret"), "bootstrap.servers": cluster.bootstrap_servers})
    (described,) = admin.describe_configs([ConfigResource("broker", "1")]).values()
    entry = described.result(30)["delegation.token.secret.key"]
    assert (entry.value, entry.is_sensitive) == (None, True)
    for broker in cluster.brokers:
        assert "a secret of all brokers" not in broker.log_path.read_text()


# -- the command


@pytest.fixture
def run_as(cluster, tmp_path):
    """The command as somebody with these client properties."""

    def ask(properties: str, *words: str):
        file = tmp_path / "client.properties"
        file.write_text(f"security.protocol=SASL_PLAINTEXT\n{properties}\n")
        file.chmod(0o600)
        return typed(
            *("kafka-delegation-tokens", "--bootstrap-server", cluster.bootstrap_servers),
            *("--command-config", str(file), *words),
        )

    return ask


ALICE = (
    "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="alice" password="alice-secret";'
)


def test_a_token_is_made_renewed_used_and_ended_with_the_command(cluster, run_as):
    made = run_as(ALICE, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob")
    assert (made.status, made.err) == (0, "")
    lines = made.out.splitlines()
    assert lines[0] == ("Calling create token operation with renewers :[User:bob] , max-life-time-period :-1")
    token_id = lines[1].removeprefix("Created delegation token with tokenId : ")
    row = lines[5].split()
    assert (row[0], row[2:5]) == (token_id, ["User:alice", "User:alice", "[User:bob]"])
    hmac = row[1]

    renewed = run_as(ALICE, "--renew", "--hmac", hmac, "--renew-time-period", "-1")
    assert renewed.out.splitlines()[1].startswith("Completed renew operation. New expiry date : 20")
    described = run_as(ALICE, "--describe", "--owner-principal", "User:alice", "--output", "json")
    assert token_id in {load["tokenId"] for load in json.loads(described.out)}

    by_token = (
        "sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule "
        f'required username="{token_id}" password="{hmac}" tokenauth="true";'
    )
    refused = run_as(by_token, "--describe")
    assert refused.status == 1
    assert "authenticated, and not by a token" in refused.err, "it has logged in, but may not ask for tokens"

    ended = run_as(ALICE, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert ended.out.splitlines()[1].startswith("Completed expire operation. New expiry date : 20")
    assert hmac not in run_as(ALICE, "--describe").out

"""What access lists, quotas and logins cost: small requests to one broker, with and without them in turn, by rate and
by the CPU the broker takes for each; and the CPU and the loop's time a login by SCRAM takes. Two processes of the same
code differ by as much as is measured here.
"""

import contextlib
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.scram import ClientExchange, derive_keys
from tests.barnabas_cluster import running_cluster
from tests.bench.loads import Target
from tests.bench.raw import RawConnection, frame, paced, pipelined, produce_frame
from tests.zookeeper_server import free_ports

ROUNDS = 7
SECONDS = 2.0
RULES = 1_000
LOGINS = 500
USER, SUPER_USER, PASSWORD = "alice", "root", "secret"
MECHANISM = "SCRAM-SHA-512"
AUTHORIZER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": f"User:ANONYMOUS;User:{SUPER_USER}",
}
BYTES = {"producer_byte_rate": 10_000_000_000, "consumer_byte_rate": 10_000_000_000}
TIME = {"request_percentage": 100_000}
_BIN = Path(__file__).parents[2] / "bin"


def figures() -> dict[str, Callable[[], str]]:
    return {
        f"rights: access lists, {RULES} rules": _access_lists,
        "rights: quotas of bytes that throttle nobody": lambda: _quotas(BYTES),
        "rights: and of the time of requests": lambda: _quotas(BYTES | TIME),
        "rights: logins by SCRAM": _logins,
    }


@contextlib.contextmanager
def _running_broker(settings: dict[str, str]) -> Iterator[tuple[Target, int]]:
    """Whoever comes to the open port is nobody; the port of those who log in."""
    (port,) = free_ports(1)
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required "
    login += "".join(f'user_{name}="{PASSWORD}" ' for name in (USER, SUPER_USER)) + ";"
    overrides = settings | {
        "listeners": f"PLAINTEXT://127.0.0.1:{{port}},SASL_PLAINTEXT://127.0.0.1:{port}",
        "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": login,
    }
    with running_cluster(brokers=1, overrides=overrides) as cluster:
        broker = cluster.brokers[0]
        yield Target("barnabas", "127.0.0.1", broker.port, psutil.Process(broker.process.pid)), port


def _access_lists() -> str:
    """Of super users nothing is asked, as without an authorizer."""
    with _running_broker(AUTHORIZER) as (target, port):
        _add_rules(target)
        return _compared(target, port, lambda is_on: USER if is_on else SUPER_USER)


def _quotas(limits: dict[str, int]) -> str:
    with _running_broker({}) as (target, port):

        def prepared(is_on: bool) -> str:
            _alter_quotas(target, limits if is_on else {})
            return USER

        return _compared(target, port, prepared)


def _compared(target: Target, port: int, prepared: Callable[[bool], str]) -> str:
    """`prepared` says who asks."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    cpu: dict[bool, list[float]] = {False: [], True: []}
    with target.topic("bench") as topic:
        for _ in range(ROUNDS):
            for is_on in (False, True):
                connection, request = _logged_in(port, user=prepared(is_on)), produce_frame(topic, bytes(100))
                pipelined(connection, request, 50, SECONDS / 4)
                before = target.cpu_seconds() or 0.0
                done = pipelined(connection, request, 50, SECONDS)
                rates[is_on].append(done / SECONDS)
                cpu[is_on].append(1e6 * ((target.cpu_seconds() or 0.0) - before) / done)
                connection.close()
    off, on = (f"{statistics.median(rates[number]):,.0f} req/s, {_median(cpu[number])}" for number in (False, True))
    ratio = statistics.median(rates[True]) / statistics.median(rates[False])
    more = statistics.median(cpu[True]) / statistics.median(cpu[False])
    return f"without {off}   with {on}   {ratio:.3f} × the rate, {more:.3f} × the CPU"


def _median(microseconds: list[float]) -> str:
    return f"{statistics.median(microseconds):.2f} µs CPU each"


def _add_rules(target: Target) -> None:
    """Of others, on other topics and by prefixes of them; two are the user's."""
    admin = AdminClient({"bootstrap.servers": target.bootstrap_servers, "log_level": 0})
    others = [
        _rule(f"topic-{number}", f"User:other-{number % 100}", ResourcePatternType.PREFIXED if number % 2 else None)
        for number in range(RULES - 2)
    ]
    own = [_rule("bench", f"User:{USER}"), _rule("ben", f"User:{USER}", ResourcePatternType.PREFIXED)]
    for future in admin.create_acls([*others, *own]).values():
        future.result(60)


def _rule(name: str, principal: str, pattern: ResourcePatternType | None = None) -> AclBinding:
    pattern = pattern or ResourcePatternType.LITERAL
    allow = AclPermissionType.ALLOW
    return AclBinding(ResourceType.TOPIC, name, pattern, principal, "*", AclOperation.WRITE, allow)


def _alter_quotas(target: Target, limits: dict[str, int]) -> None:
    put = ["--add-config", ",".join(f"{name}={limit}" for name, limit in limits.items())]
    change = put if limits else ["--delete-config", ",".join(BYTES | TIME)]
    alter = [_BIN / "kafka-configs", "--bootstrap-server", target.bootstrap_servers, "--alter"]
    for entity in (["users", "--entity-default"], ["users", "--entity-name", USER], ["clients", "--entity-default"]):
        command = [*alter, *change, "--entity-type", *entity]
        subprocess.run(command, check=bool(limits), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _logins() -> str:
    """One after the other, each on a connection of its own; then a bystander asks beside them."""
    with _running_broker({}) as (target, port):
        admin = AdminClient({"bootstrap.servers": target.bootstrap_servers, "log_level": 0})
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        made = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        admin.alter_user_scram_credentials([made])[USER].result(30)
        before, began = target.cpu_seconds() or 0.0, time.perf_counter()
        for _ in range(LOGINS):
            _logged_in(port, MECHANISM).close()
        took, cpu = time.perf_counter() - began, (target.cpu_seconds() or 0.0) - before
        latencies = _beside_logins(target, port)
    p99 = latencies[len(latencies) * 99 // 100]
    return (
        f"{1_000 * cpu / LOGINS:.2f} ms CPU, {1_000 * took / LOGINS:.2f} ms for the client   "
        f"a bystander beside them: p99 {p99:.2f} ms, at most {latencies[-1]:.2f}"
    )


def _beside_logins(target: Target, port: int) -> list[float]:
    program = f"from tests.bench import rights\nwhile True: rights._logged_in({port}, {MECHANISM!r}).close()"
    with target.topic() as topic:
        others = subprocess.Popen([sys.executable, "-c", program])
        try:
            connection = RawConnection("127.0.0.1", target.port)
            return sorted(paced(connection, produce_frame(topic, bytes(100)), 200, 5.0))
        finally:
            others.kill()
            others.wait()


def _logged_in(port: int, mechanism: str = "PLAIN", user: str = USER) -> RawConnection:
    connection = RawConnection("127.0.0.1", port)
    connection.send(frame(ApiKey.SASL_HANDSHAKE, 1, encode(SaslHandshakeRequest(mechanism=mechanism), 1)))
    connection.answers(1)
    if mechanism == "PLAIN":
        _say(connection, f"\0{user}\0{PASSWORD}".encode())
        return connection
    exchange = ClientExchange(USER, _keys, secrets.token_hex(8), mechanism=mechanism)
    exchange.verify(_say(connection, exchange.final(_say(connection, exchange.first()))))
    return connection


_KNOWN: dict[bytes, tuple] = {}


def _keys(salt: bytes, iterations: int) -> tuple:
    """Derived once, as clients that keep them do."""
    if salt not in _KNOWN:
        _KNOWN[salt] = derive_keys(PASSWORD.encode(), salt, iterations, MECHANISM)
    return _KNOWN[salt]


def _say(connection: RawConnection, token: bytes) -> bytes:
    connection.send(frame(ApiKey.SASL_AUTHENTICATE, 1, encode(SaslAuthenticateRequest(auth_bytes=token), 1)))
    size = int.from_bytes(connection.sock.recv(4, 256))
    answer = decode(SaslAuthenticateResponse, connection.sock.recv(size, 256)[4:], 1)
    if answer.error_code:
        raise ConnectionError(answer.error_message)
    return bytes(answer.auth_bytes)

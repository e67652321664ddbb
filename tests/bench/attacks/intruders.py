"""Attacks on doors that are locked: half handshakes, worthless certificates, logins that fail, are heard and said
again, or never come, and rules that change while somebody tries them. Whoever gets in ends the attack with `Broken`.
"""

import contextlib
import os
import random
import socket
import ssl
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from broker.common.errors import ErrorCode
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from broker.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.acls.model import PatternType, Permission
from broker.security.operations import AclOperation, ResourceType
from broker.security.scram import ClientExchange, derive_keys
from tests.bench.attacks.aim import Aim, Line, connections, request, send_some
from tests.bench.attacks.doors import MECHANISM, PASSWORD, USER, WORTHLESS, Doors

_HANDSHAKE_VERSION, _AUTHENTICATE_VERSION, _METADATA_VERSION = 1, 2, 9
_ACL_VERSION = 2
#: Of answers that must not come, how long they are waited for.
_TIMEOUT_S = 10
_BEFORE_A_LOGIN = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}


class Broken(Exception):
    """Somebody was let in who should not have been."""


def half_handshakes(aim: Aim) -> Iterator[None]:
    """3,000 connections begin a TLS handshake and stop within; one more byte each from time to time."""
    at = aim._replace(port=Doors.of(aim).tls_port)
    half = _client_hello()[:200]
    opened = connections(at, 3_000)
    for item in opened:
        send_some(item, half)
    while True:
        yield
        time.sleep(0.005)
        number = random.randrange(len(opened))
        if send_some(opened[number], b"\0") < 0:
            opened[number] = connections(at, 1)[0]
            send_some(opened[number], half)


def worthless_certificates(aim: Aim) -> Iterator[None]:
    """100 handshakes a second by who has a certificate of yesterday, of tomorrow, of somebody else's, or none."""
    doors = Doors.of(aim)
    contexts = [_context(doors, name) for name in (*WORTHLESS, "")]
    metadata_request = request(MetadataRequest(topics=None), _METADATA_VERSION)
    while True:
        for context in contexts:
            with contextlib.suppress(OSError):
                plain = socket.create_connection((aim.host, doors.tls_port), timeout=_TIMEOUT_S)
                with context.wrap_socket(plain, server_hostname="localhost") as secured:
                    secured.sendall(metadata_request)
                    if answer := secured.recv(100):
                        raise Broken(f"a worthless certificate is answered {answer!r}")
            yield
            time.sleep(0.01)


def failed_logins(aim: Aim) -> Iterator[None]:
    """100 logins a second that fail: a wrong password, nobody's name, a mechanism there is not."""
    waiting: deque[Line] = deque()
    at = aim._replace(port=Doors.of(aim).sasl_port)
    tries = [
        ("PLAIN", f"\0{USER}\0guessed".encode()),
        ("PLAIN", b"\0nobody\0guessed"),
        ("PLAIN", f"{USER}\0\0".encode()),
        (MECHANISM, b"n,,n=" + b"," * 3_000),
        (MECHANISM, f"n,,n={USER},r={'n' * 3_000}".encode()),
        ("GSSAPI", b""),
    ]
    while True:
        for mechanism, token in tries:
            line = Line(at)
            line.send(request(SaslHandshakeRequest(mechanism=mechanism), _HANDSHAKE_VERSION))
            line.send(request(SaslAuthenticateRequest(auth_bytes=token), _AUTHENTICATE_VERSION))
            line.send(request(MetadataRequest(topics=None), _METADATA_VERSION))
            waiting.append(line)
            if len(waiting) > 300:
                waiting.popleft().close()
            yield
            time.sleep(0.01)


def replays(aim: Aim) -> Iterator[None]:
    """What a login by SCRAM said is said again on other connections: both of its messages, or its proof alone."""
    at = aim._replace(port=Doors.of(aim).sasl_port)
    heard = _heard_login(at)
    while True:
        for tokens in (heard, heard[1:]):
            line = Line(at)
            line.ask(SaslHandshakeRequest(mechanism=MECHANISM), _HANDSHAKE_VERSION)
            for token in tokens:
                answer = line.ask(SaslAuthenticateRequest(auth_bytes=token), _AUTHENTICATE_VERSION)
                if answer is None or answer.error_code:
                    break
            else:
                raise Broken("a login that was heard counts once more")
            line.close()
            yield
            time.sleep(0.02)


def oversized_logins(aim: Aim) -> Iterator[None]:
    """Logins that announce 100 MB, send half a megabyte at once, or a token at a time for ever."""
    at = aim._replace(port=Doors.of(aim).sasl_port)
    token = request(SaslAuthenticateRequest(auth_bytes=bytes(500_000)), _AUTHENTICATE_VERSION)
    shake = request(SaslHandshakeRequest(mechanism=MECHANISM), _HANDSHAKE_VERSION)
    tokens = ((100 * 1024 * 1024).to_bytes(4) + b"\0", token, shake + token, shake * 100)
    opened = {number: connections(at, 1)[0] for number in range(200)}
    while True:
        for number, item in opened.items():
            if send_some(item, tokens[number % len(tokens)]) < 0:
                opened[number] = connections(at, 1)[0]
        yield
        time.sleep(0.05)


def early_requests(aim: Aim) -> Iterator[None]:
    """Every API but those of the login, before it."""
    line = Line(aim._replace(port=Doors.of(aim).sasl_port))
    told_to_nobody = f"{aim.topic}-compacted".encode()
    while True:
        line.send(request(MetadataRequest(topics=None), _METADATA_VERSION))
        if told_to_nobody in (line.take() or b""):
            raise Broken("topics are told before a login")
        for handler in HANDLERS:
            if handler.api in _BEFORE_A_LOGIN:
                continue
            line.send(request(MESSAGES[handler.api].request(), handler.served[1]))
            if told_to_nobody in (line.take() or b""):
                raise Broken(f"{handler.api.name} tells of topics before a login")
            yield
        time.sleep(0.05)


def silent_at_doors(aim: Aim) -> Iterator[None]:
    """10,000 connections, half of them at each door, that say nothing and come again when they are closed."""
    doors = Doors.of(aim)
    at = [aim._replace(port=port) for port in (doors.tls_port, doors.sasl_port)]
    opened = [one for door in at for one in _patient(door, 5_000)]
    while True:
        yield
        time.sleep(0.01)
        for number in random.sample(range(len(opened)), 20):
            if _is_closed(opened[number]):
                opened[number] = _patient(at[number >= 5_000], 1)[0]


def changing_rules(aim: Aim) -> Iterator[None]:
    """A right is given and taken as fast as can be; once it has been found taken, nothing may show that it is not."""
    keeper, line = Line(aim), Line(aim._replace(port=Doors.of(aim).sasl_port))
    _log_in(line)
    while True:
        keeper.ask(CreateAclsRequest(creations=[_may_describe(aim.topic)]), _ACL_VERSION)
        _await(line, aim, is_seen=True)
        keeper.ask(DeleteAclsRequest(filters=[_which(aim.topic)]), _ACL_VERSION)
        _await(line, aim, is_seen=False)
        for _ in range(20):
            if _sees(line, aim):
                raise Broken("a right that was taken is there again")
        yield


def _await(line: Line, aim: Aim, *, is_seen: bool) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while _sees(line, aim) != is_seen:
        if time.monotonic() > deadline:
            raise Broken(f"a change of rules is not heeded within {_TIMEOUT_S} s")


def _sees(line: Line, aim: Aim) -> bool:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=aim.topic)], allow_auto_topic_creation=False)
    answer = line.ask(request, _METADATA_VERSION)
    if answer is None:
        raise _cut_off()
    return answer.topics[0].error_code == ErrorCode.NONE


def _cut_off() -> NoReturn:
    raise Broken("a client that has logged in was cut off")


def _may_describe(topic: str) -> AclCreation:
    return AclCreation(
        resource_type=ResourceType.TOPIC,
        resource_name=topic,
        resource_pattern_type=PatternType.LITERAL,
        principal=f"User:{USER}",
        host="*",
        operation=AclOperation.DESCRIBE,
        permission_type=Permission.ALLOW,
    )


def _which(topic: str) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=ResourceType.TOPIC,
        resource_name_filter=topic,
        pattern_type_filter=PatternType.LITERAL,
        principal_filter=f"User:{USER}",
        host_filter="*",
        operation=AclOperation.DESCRIBE,
        permission_type=Permission.ALLOW,
    )


def _log_in(line: Line) -> None:
    line.ask(SaslHandshakeRequest(mechanism="PLAIN"), _HANDSHAKE_VERSION)
    token = f"\0{USER}\0{PASSWORD}".encode()
    if line.ask(SaslAuthenticateRequest(auth_bytes=token), _AUTHENTICATE_VERSION).error_code:
        raise SystemExit("who may log in cannot")


def _heard_login(at: Aim) -> list[bytes]:
    """The two messages of a client that knows the password, after which it was let in."""
    line = Line(at)
    line.ask(SaslHandshakeRequest(mechanism=MECHANISM), _HANDSHAKE_VERSION)
    exchange = ClientExchange(
        USER, lambda salt, iterations: derive_keys(PASSWORD.encode(), salt, iterations), os.urandom(16).hex()
    )
    messages = [exchange.first()]
    answer = line.ask(SaslAuthenticateRequest(auth_bytes=messages[0]), _AUTHENTICATE_VERSION)
    messages.append(exchange.final(bytes(answer.auth_bytes)))
    answer = line.ask(SaslAuthenticateRequest(auth_bytes=messages[1]), _AUTHENTICATE_VERSION)
    exchange.verify(bytes(answer.auth_bytes))
    return messages


def _client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def _context(doors: Doors, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(Path(doors.directory) / "ca.crt"))
    if name:
        context.load_cert_chain(Path(doors.directory) / f"{name}.pem")
    return context


def _patient(at: Aim, count: int) -> list[socket.socket]:
    """As connections, by who waits while the broker has its hands full."""
    opened = []
    while len(opened) < count:
        with contextlib.suppress(OSError):
            opened += connections(at, min(100, count - len(opened)))
    return opened


def _is_closed(one: socket.socket) -> bool:
    try:
        return not one.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True


ATTACKS = {
    "3,000 half handshakes": half_handshakes,
    "100 worthless certificates a second": worthless_certificates,
    "100 failed logins a second": failed_logins,
    "logins that were heard, again": replays,
    "oversized logins": oversized_logins,
    "requests before a login": early_requests,
    "rules that change under requests": changing_rules,
    "10,000 silent connections at doors": silent_at_doors,
}

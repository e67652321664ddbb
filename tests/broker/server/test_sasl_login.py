"""Logins on real connections: who is let in, what a failure costs, what who never logs in may take, when it ends."""

import asyncio
import gc
import weakref
from dataclasses import replace

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from broker.protocol.messages.sasl_handshake import SaslHandshakeRequest
from broker.security.sasl.scram_server import SALT_LENGTH
from broker.security.sasl.server import AuthenticationError, LoggedIn
from broker.security.sasl.stored_credentials import encode_credential
from broker.security.scram import ClientExchange, credential_of, derive_keys
from broker.server import sasl_login
from broker.server.waiting_room import WaitingRoom
from tests.broker.server.conftest import INTRODUCTION, Client, Served, request_frame
from tests.eventually import eventually
from tests.manual_clock import ManualClock

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret" user_bob="secret";'
RECEIVE_BYTES_MAX = 200_000


@pytest.fixture
def start(tmp_path):
    """A broker with one listener, SASL_PLAINTEXT."""
    started: list[Served] = []

    def serve(mechanisms: str = "PLAIN,SCRAM-SHA-512", delay_ms: int = 0, reauth_ms: int = 0) -> Served:
        properties = (
            "listeners=SASL_PLAINTEXT://127.0.0.1:0\nsecurity.inter.broker.protocol=SASL_PLAINTEXT\n"
            f"sasl.enabled.mechanisms={mechanisms}\nconnections.max.reauth.ms={reauth_ms}\n"
            f"connection.failed.authentication.delay.ms={delay_ms}\nsasl.server.max.receive.size={RECEIVE_BYTES_MAX}\n"
            f"listener.name.sasl_plaintext.plain.sasl.jaas.config={PLAIN}"
        )
        started.append(Served(tmp_path, properties=properties, clock=ManualClock()))
        return started[-1]

    yield serve
    for item in started:
        item.stop()


async def shake(client: Client, mechanism: str = "PLAIN", version: int = 1):
    return await client.ask(SaslHandshakeRequest(mechanism=mechanism), version)


async def say(client: Client, token: bytes, version: int = 2):
    return await client.ask(SaslAuthenticateRequest(auth_bytes=token), version)


async def user(served: Served, name: str = "alice") -> Client:
    client = await served.client()
    await shake(client)
    assert (await say(client, f"\0{name}\0secret".encode())).error_code == ErrorCode.NONE
    return client


async def is_served(client: Client) -> bool:
    return (await client.ask(MetadataRequest(topics=[]), 9)).cluster_id == "cluster"


def connections(served: Served):
    return list(served.listener._progress_counts)


# -- who is let in


async def test_who_has_logged_in_is_served_as_who_it_is(start):
    served = start()
    client = await served.client()
    await client.ask(INTRODUCTION, 3)
    handshake = await shake(client)
    assert (handshake.error_code, handshake.mechanisms) == (ErrorCode.NONE, ["PLAIN", "SCRAM-SHA-512"])
    assert (await say(client, b"\0alice\0secret")).session_lifetime_ms == 0
    assert await is_served(client)
    (connection,) = connections(served)
    assert (connection.session.principal, connection.session.is_member) == ("User:alice", False)
    assert connection.session.rights is served.rights
    assert served.waiting_room.count == 0
    assert connection.on_frame == served.dispatcher.on_frame


async def test_clients_are_told_of_the_login_where_they_need_it(start):
    versions = {key.api_key: key.max_version for key in (await (await start().client()).ask(INTRODUCTION, 3)).api_keys}
    assert (versions[ApiKey.SASL_HANDSHAKE], versions[ApiKey.SASL_AUTHENTICATE]) == (1, 2)


async def test_a_client_of_version_0_sends_bare_tokens(start):
    client = await start().client()
    await shake(client, version=0)
    await client.send((13).to_bytes(4) + b"\0alice\0secret")
    assert await client.frame() == b""
    assert await is_served(client)


async def test_members_are_let_in_by_a_mechanism_that_nobody_else_may_use(start):
    served = start()
    client = await served.client()
    assert (await shake(client, "SCRAM-SHA-256")).error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    sock = await served.dial_as_member()
    try:
        await eventually(
            lambda: any(connection.session.is_member for connection in connections(served)), "the member is let in"
        )
    finally:
        sock.close()


@pytest.mark.parametrize("name", ["alice", "nobody"])
async def test_credentials_are_those_of_zookeeper(start, name):
    served = start("SCRAM-SHA-512")
    salt = b"s" * SALT_LENGTH
    keys = derive_keys(b"secret", salt, 4096, "SCRAM-SHA-512")
    text = encode_credential(credential_of(keys, salt, 4096, "SCRAM-SHA-512"))
    served.store.configs["alice"] = {"SCRAM-SHA-512": text, "producer_byte_rate": "1"}
    await served.credentials.apply("alice")
    client = await served.client()
    await shake(client, "SCRAM-SHA-512")
    exchange = ClientExchange(
        name, lambda *made: derive_keys(b"secret", *made, "SCRAM-SHA-512"), "nonce", mechanism="SCRAM-SHA-512"
    )
    first = await say(client, exchange.first())
    answer = await say(client, exchange.final(bytes(first.auth_bytes)))
    if name == "alice":
        exchange.verify(bytes(answer.auth_bytes))
        described = await client.ask(DescribeUserScramCredentialsRequest(users=[UserName(name="alice")]), 0)
        assert [(info.mechanism, info.iterations) for info in described.results[0].credential_infos] == [(2, 4096)]
    else:
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    served.store.configs["alice"] = {"producer_byte_rate": "1"}
    await served.credentials.apply("alice")
    assert served.credentials.account("SCRAM-SHA-512", "alice") is None


# -- what a failure costs


async def test_nothing_is_served_before_the_login(start):
    served = start()
    for api, version in ((ApiKey.METADATA, 9), (ApiKey.PRODUCE, 9), (ApiKey.CREATE_TOPICS, 5), (ApiKey.FETCH, 12)):
        client = await served.client()
        await client.send(b"\0\0\0\x0a" + int(api).to_bytes(2) + version.to_bytes(2) + bytes(4) + b"\xff\xff")
        assert await client.is_closed()


async def test_a_failure_is_told_late_and_nothing_is_heard_meanwhile(start):
    served = start(delay_ms=500_000)
    client = await served.client()
    await shake(client)
    await client.send_request(SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 2)
    await client.send_request(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2)
    await eventually(lambda: served.waiting_room.failed, "the failure")
    assert await is_served(await user(served))
    assert len(connections(served)) == 2
    assert not client._reader._buffer
    assert served.waiting_room.succeeded == 1


async def test_a_failure_is_told_and_is_the_end(start, capsys):
    client = await start(delay_ms=1).client()
    await shake(client)
    answer = await say(client, b"\0alice\0wrong")
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert await client.is_closed()
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Failed authentication" in line]
    assert "Invalid username or password" in line
    assert "wrong" not in line
    assert "alice" not in line


async def test_many_failures_are_few_lines(start, capsys):
    served = start()
    for _ in range(60):
        client = await served.client()
        await shake(client, "GSSAPI")
    lines = [line for line in capsys.readouterr().out.splitlines() if "Failed authentication" in line]
    assert (len(lines), served.waiting_room.failed) == (20, 60)
    served.clock.advance(60_000)
    await shake(await served.client(), "GSSAPI")
    assert "more=40" in capsys.readouterr().out


# -- those who never log in


async def test_a_frame_has_a_bound_until_the_login(start):
    served = start()
    client = await served.client()
    await client.send((RECEIVE_BYTES_MAX + 1).to_bytes(4))
    assert await client.is_closed()
    client = await user(served)
    await client.send((RECEIVE_BYTES_MAX + 1).to_bytes(4) + bytes(70_000))
    await eventually(lambda: served.memory.request_bytes >= 70_000, "it is received")


async def test_half_requests_before_the_login_take_nobody_elses_memory(start):
    served = start()
    stuck = await served.client()
    await stuck.send((150_000).to_bytes(4) + bytes(100_000))
    await eventually(lambda: served.waiting_room.memory.request_bytes >= 100_000, "half of it is here")
    assert served.memory.request_bytes == 0
    client = await user(served)
    await client.send((150_000).to_bytes(4) + bytes(100_000))
    await eventually(lambda: served.memory.request_bytes >= 100_000, "half of it is here")
    stuck.writer.close()
    await eventually(lambda: served.waiting_room.memory.request_bytes == 0, "it is given back")


async def test_when_there_are_too_many_the_oldest_of_the_crowd_goes(start):
    served = start()
    served.listener.login.room = served.waiting_room = WaitingRoom(ManualClock(), connections_max=3)
    before = await user(served)
    crowd = [await served.client() for _ in range(5)]
    assert await crowd[0].is_closed()
    assert await crowd[1].is_closed()
    assert served.waiting_room.count == 3
    assert await is_served(before)
    await shake(crowd[4])
    await say(crowd[4], b"\0bob\0secret")
    assert await is_served(crowd[4])


async def test_who_takes_too_long_goes(start, monkeypatch):
    monkeypatch.setattr(sasl_login, "LOGIN_S_MAX", 0.05)
    served = start()
    silent, slow = await served.client(), await served.client()
    await shake(slow)
    assert await silent.is_closed()
    assert await slow.is_closed()
    assert served.waiting_room.count == 0


async def test_who_is_gone_is_not_counted(start):
    served = start()
    for _ in range(3):
        client = await served.client()
        await shake(client)
        client.writer.close()
    await eventually(lambda: served.waiting_room.count == 0 and not connections(served), "all are gone")


# -- logins that end


async def test_a_session_ends_unless_its_login_is_done_again(start):
    served = start(reauth_ms=20)
    client = await user(served)
    (connection,) = connections(served)
    await eventually(lambda: connection.on_frame != served.dispatcher.on_frame, "the session has ended")
    assert (await shake(client)).error_code == ErrorCode.NONE
    assert (await say(client, b"\0alice\0secret")).session_lifetime_ms == 20
    assert await is_served(client)
    await eventually(lambda: connection.on_frame != served.dispatcher.on_frame, "it has ended again")
    await client.send_request(MetadataRequest(topics=[]), 9)
    assert await client.is_closed()
    assert served.waiting_room.expired == 1


class LongOver:
    """Who shows what is over already, as a delegation token may be that nobody has removed yet."""

    def respond(self, _token):
        return LoggedIn(b"", "User:carol", expires_ms=-1)


async def test_who_shows_what_is_over_is_not_served_at_all(start):
    served = start()
    settings = served.listener.login.settings
    offer = replace(settings.offer, mechanisms={**settings.offer.mechanisms, "PLAIN": LongOver})
    served.listener.login.settings = replace(settings, offer=offer)
    client = await served.client()
    await shake(client)
    login = request_frame(SaslAuthenticateRequest(auth_bytes=b"x"), 2, 1)
    await client.send(login + request_frame(MetadataRequest(topics=[]), 9, 2))
    assert (await client.answer(ApiKey.SASL_AUTHENTICATE, 2)).session_lifetime_ms == 0
    assert await client.is_closed()
    assert served.waiting_room.expired == 1


async def test_a_login_is_done_again_once_a_second(start):
    served = start(reauth_ms=3_600_000)
    client = await user(served)
    for _ in range(2):
        assert (await shake(client)).error_code == ErrorCode.NONE
        assert (await say(client, b"\0alice\0secret")).error_code == ErrorCode.NONE
        assert (await shake(client)).error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert await is_served(client)
        served.clock.advance(1_000)


async def test_who_becomes_somebody_else_loses_the_connection(start):
    client = await user(start(reauth_ms=3_600_000))
    await shake(client)
    answer = await say(client, b"\0bob\0secret")
    assert answer.error_message == "Cannot change principals during re-authentication from User.alice: User.bob"
    assert await client.is_closed()


async def test_without_an_end_a_login_is_not_done_again(start):
    client = await user(start())
    assert (await shake(client)).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert (await say(client, b"\0alice\0secret")).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert await is_served(client)


# -- a mechanism whose answers have to wait


class Late:
    def __init__(self, reply):
        self._reply = reply

    async def respond(self, _token):
        reply = await self._reply
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (LoggedIn(b"welcome", "User:carol"), ErrorCode.NONE),
        (AuthenticationError("no such key"), ErrorCode.SASL_AUTHENTICATION_FAILED),
        (ZeroDivisionError("a fault of ours"), ErrorCode.SASL_AUTHENTICATION_FAILED),
    ],
)
async def test_an_answer_may_come_later_and_nothing_overtakes_it(start, reply, code):
    served, came = start(), asyncio.get_running_loop().create_future()
    settings = served.listener.login.settings
    offer = replace(settings.offer, mechanisms={**settings.offer.mechanisms, "PLAIN": lambda: Late(came)})
    served.listener.login.settings = replace(settings, offer=offer)
    client = await served.client()
    await shake(client)
    await client.send_request(SaslAuthenticateRequest(auth_bytes=b"x"), 2)
    await client.send_request(MetadataRequest(topics=[]), 9, correlation_id=2)
    assert await is_served_elsewhere(served)
    came.set_result(reply)
    assert (await client.answer(ApiKey.SASL_AUTHENTICATE, 2)).error_code == code
    if code:
        assert await client.is_closed()
    else:
        assert (await client.answer(ApiKey.METADATA, 9, correlation_id=2)).cluster_id == "cluster"


async def is_served_elsewhere(served: Served) -> bool:
    sock = await served.dial_as_member()
    sock.close()
    return True


# -- when the connection ends


@pytest.fixture
def no_garbage_collection():
    gc.disable()
    yield
    gc.enable()


async def never_asks(client: Client) -> None:
    """Connects, and that is all."""


async def asks_in_the_middle(client: Client) -> None:
    await shake(client, "SCRAM-SHA-512")


async def logs_in(client: Client) -> None:
    await shake(client)
    assert (await say(client, b"\0alice\0secret")).error_code == ErrorCode.NONE


async def fails(client: Client) -> None:
    await shake(client)
    await say(client, b"\0alice\0wrong")


@pytest.mark.parametrize("what", [never_asks, asks_in_the_middle, logs_in, fails])
async def test_a_connection_that_has_ended_is_gone_without_being_looked_for(start, no_garbage_collection, what):
    """Ten thousand that end at once would else stay until the collector stops the loop for all of them."""
    served = start(reauth_ms=60_000)
    client = await served.client()
    await eventually(lambda: connections(served), "the connection is accepted")
    ended = weakref.ref(connections(served)[0])
    await what(client)
    client.writer.close()
    await eventually(lambda: ended() is None, "the connection is gone")

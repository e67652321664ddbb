"""OAUTHBEARER as messages: what a client may say, and how it hears that its token is refused."""

import pytest

from broker.security.bearer_tokens import Bearer, TokenRefused
from broker.security.sasl.oauthbearer import ClientFirst, OAuthBearerServer, read_first
from broker.security.sasl.server import AuthenticationError, LoggedIn


async def believed(token: str) -> Bearer:
    if token != "good":
        raise TokenRefused("it has expired")
    return Bearer("alice", 5_000)


@pytest.mark.parametrize(
    ("message", "first"),
    [
        (b"n,,\x01auth=Bearer good\x01\x01", ClientFirst("", "good")),
        (b"n,,\x01auth=bearer  good\x01\x01", ClientFirst("", "good")),
        (b"n,a=alice,\x01auth=Bearer a.b-_.c\x01\x01", ClientFirst("alice", "a.b-_.c")),
        (b"n,a=a=2Cb=3Dc,\x01auth=Bearer good\x01\x01", ClientFirst("a,b=c", "good")),
        (b"n,,\x01host=h\x01port=9\x01auth=Bearer good\x01traceId=1 2\x01\x01", ClientFirst("", "good")),
    ],
)
def test_what_clients_say(message, first):
    assert read_first(message) == first


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x01",
        b"n,,\x01\x01",
        b"n,,auth=Bearer good",
        b"n,,\x01auth=Bearer good\x01",
        b"y,,\x01auth=Bearer good\x01\x01",
        b"p=tls-unique,,\x01auth=Bearer good\x01\x01",
        b"n,a=,\x01auth=Bearer good\x01\x01",
        b"n,a=x=y,\x01auth=Bearer good\x01\x01",
        b"n,,\x01auth=Basic good\x01\x01",
        b"n,,\x01auth=Bearer\x01\x01",
        b"n,,\x01auth=Bearer \x01\x01",
        b"n,,\x01auth=Bearer good\x01auth=Bearer good\x01\x01",
        b"n,,\x01host=h\x01\x01",
        b"n,,\x01auth=Bearer good\x01\x01more",
        b"n,,\x01auth=Bearer g\xff\x01\x01",
        b"n,,\x01" + b"a=b\x01" * 100_000,
    ],
)
def test_what_is_no_message(message):
    with pytest.raises(AuthenticationError):
        read_first(message)
    with pytest.raises(AuthenticationError):
        OAuthBearerServer(believed).respond(message)


@pytest.mark.parametrize("authzid", [b"", b"a=alice"])
async def test_a_good_token_logs_in_until_it_expires(authzid):
    server = OAuthBearerServer(believed)
    reply = await server.respond(b"n," + authzid + b",\x01auth=Bearer good\x01\x01")
    assert reply == LoggedIn(b"", "User:alice", 5_000)


async def test_nobody_becomes_somebody_else_by_asking():
    with pytest.raises(AuthenticationError, match="another user than its token names"):
        await OAuthBearerServer(believed).respond(b"n,a=bob,\x01auth=Bearer good\x01\x01")


async def test_a_refused_token_is_told_of_in_json_before_the_login_fails():
    server = OAuthBearerServer(believed)
    assert await server.respond(b"n,,\x01auth=Bearer bad\x01\x01") == b'{"status":"invalid_token"}'
    with pytest.raises(AuthenticationError, match="expired") as refused:
        server.respond(b"\x01")
    assert refused.value.client_message == '{"status":"invalid_token"}'


async def test_a_refused_client_cannot_try_another_token():
    server = OAuthBearerServer(believed)
    await server.respond(b"n,,\x01auth=Bearer bad\x01\x01")
    with pytest.raises(AuthenticationError) as refused:
        server.respond(b"n,,\x01auth=Bearer good\x01\x01")
    assert refused.value.client_message is None

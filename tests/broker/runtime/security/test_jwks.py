"""Keys of bearer tokens from files and servers, also from servers that hang, lie, send us elsewhere or never end."""

import asyncio
import contextlib
import ssl

import pytest

from broker.common.clock import SystemClock
from broker.common.errors import ApiError, StartupError
from broker.common.security_limits import (
    KEY_SET_ASKED_AGAIN_MS,
    KEY_SET_BYTES_MAX,
    UNKNOWN_KEY_ID_MS,
    UNKNOWN_KEY_IDS_MAX,
)
from broker.runtime.security import jwks_fetch
from broker.runtime.security.jwks import BearerTokens, JwksSettings
from broker.runtime.security.jwks_fetch import parse_place
from broker.security.bearer_tokens import BearerRules, TokenRefused
from broker.security.sasl.server import LoggedIn
from tests.bearer import AUDIENCE, ISSUER, Issuer, segment
from tests.certificates import Authority
from tests.eventually import eventually
from tests.manual_clock import ManualClock

RULES = BearerRules(ISSUER, (AUDIENCE,))


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


class Wall(ManualClock):
    """Wall time is that of the tokens; what is counted moves by hand."""

    def now_ms(self):
        return SystemClock().now_ms()


class Server:
    """Answers each connection with what the test says."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self._tasks = set()

    async def start(self, context=None) -> "Server":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def _serve(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
            await self.answer(writer)
        writer.close()

    async def stop(self):
        self._server.close()
        for task in self._tasks:
            task.cancel()


def says(body: bytes, status: str = "200 OK", headers: str = ""):
    async def answer(writer):
        length = "" if headers else f"Content-Length: {len(body)}\r\n"
        writer.write(f"HTTP/1.1 {status}\r\n{length}{headers}\r\n".encode() + body)
        await writer.drain()

    return answer


@pytest.fixture
async def new_server():
    started = []

    async def start(answer, context=None) -> Server:
        started.append(await Server(answer).start(context))
        return started[-1]

    yield start
    for server in started:
        await server.stop()


@pytest.fixture
async def new_tokens():
    started = []

    async def start(url: str, **changes) -> BearerTokens:
        tokens = BearerTokens(JwksSettings(parse_place(url), RULES, **changes), Wall())
        started.append(tokens)
        tokens.clock = tokens._clock
        await tokens.start()
        return tokens

    yield start
    for tokens in started:
        tokens.stop()


async def refused(tokens, token) -> str:
    with pytest.raises(TokenRefused) as error:
        await tokens.believed(token)
    return str(error.value)


# -- where keys are


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://issuer/keys?x=1", ("https", "issuer", 443, "/keys?x=1")),
        ("http://issuer:8080", ("http", "issuer", 8080, "/")),
        ("https://[::1]:9/k", ("https", "::1", 9, "/k")),
        ("file:///etc/a%20b.json", ("file", "", 0, "/etc/a b.json")),
    ],
)
def test_places_there_can_be(url, place):
    assert parse_place(url) == place


@pytest.mark.parametrize(
    "url",
    [
        "",
        "issuer",
        "ftp://issuer/keys",
        "https://",
        "https:///keys",
        "https://user:password@issuer/keys",
        "https://issuer:70000/",
        "https://issuer/a b",
        "https://issuer/a\r\nHost: b",
        "file://other/path",
        "file:relative",
        "https://[::1/",
    ],
)
def test_places_there_cannot_be(url):
    with pytest.raises(ApiError, match=r"sasl\.oauthbearer\.jwks\.endpoint\.url"):
        parse_place(url)


async def test_keys_of_a_file_are_those_tokens_are_checked_with(issuer, new_tokens, tmp_path):
    (tmp_path / "keys.json").write_bytes(issuer.key_set())
    tokens = await new_tokens(f"file://{tmp_path}/keys.json")
    for key_id in issuer.keys:
        assert (await tokens.believed(issuer.token("bob", key_id=key_id))).name == "bob"
    reply = await tokens.server().respond(f"n,,\x01auth=Bearer {issuer.token()}\x01\x01".encode())
    assert isinstance(reply, LoggedIn)
    assert reply.principal == "User:alice"


@pytest.mark.parametrize("content", [None, b"", b"{}", b"x" * (KEY_SET_BYTES_MAX + 1)])
async def test_a_broker_does_not_start_with_a_file_without_keys(new_tokens, tmp_path, content):
    if content is not None:
        (tmp_path / "keys.json").write_bytes(content)
    with pytest.raises(StartupError, match="has no keys"):
        await new_tokens(f"file://{tmp_path}/keys.json")


async def test_a_pipe_is_no_file_and_is_not_waited_for(new_tokens, tmp_path):
    import os

    os.mkfifo(tmp_path / "keys.json")
    with pytest.raises(StartupError, match="has no keys"):
        await new_tokens(f"file://{tmp_path}/keys.json")


async def test_keys_of_a_server(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set()))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/keys?tenant=1")
    for _ in range(20):
        assert (await tokens.believed(issuer.token())).name == "alice"
    assert [request.splitlines()[0] for request in server.requests] == ["GET /keys?tenant=1 HTTP/1.1"]


async def test_an_answer_in_chunks(issuer, new_server, new_tokens):
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in issuer.key_set()) + b"0\r\n\r\n"
    server = await new_server(says(body, headers="Transfer-Encoding: chunked\r\n"))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/")
    assert (await tokens.believed(issuer.token())).name == "alice"


async def test_a_server_is_known_by_its_certificate(issuer, new_server, new_tokens, tmp_path):
    authority = Authority("test")
    (tmp_path / "ca.pem").write_text(authority.pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.server().write(tmp_path, "server"))
    server = await new_server(says(issuer.key_set()), context)
    known = await new_tokens(f"https://localhost:{server.port}/", ca_file=str(tmp_path / "ca.pem"))
    assert (await known.believed(issuer.token())).name == "alice"
    stranger = await new_tokens(f"https://localhost:{server.port}/")
    assert "no key is known" in await refused(stranger, issuer.token())
    assert len(server.requests) == 1


# -- servers that are not well


def redirects_to(url):
    return says(b"", "302 Found", f"Location: {url}\r\nContent-Length: 0\r\n")


async def hangs(_writer):
    await asyncio.Event().wait()


async def drips(writer):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def never_ends(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    while True:
        writer.write(b" " * 65_536)
        await writer.drain()


HOSTILE = {
    "hangs": hangs,
    "drips": drips,
    "never ends": never_ends,
    "another status": says(b'{"keys":[]}', "500 Oops"),
    "no HTTP": says(b"", "junk \xff"),
    "no keys": says(b'{"keys":[]}'),
    "cut short": says(b"{}", headers="Content-Length: 500\r\n"),
    "chunks that lie": says(b"fffffffff\r\nx", headers="Transfer-Encoding: chunked\r\n"),
    "packed": says(b"\x1f\x8b", headers="Content-Encoding: gzip\r\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_server_that_is_not_well_costs_a_bounded_time_and_no_key_there_is(
    issuer, new_server, new_tokens, monkeypatch, name
):
    monkeypatch.setattr(jwks_fetch, "KEY_SET_TIMEOUT_S", 0.2)
    server = await new_server(says(issuer.key_set("rsa")))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/", retry_backoff_ms=60_000)
    server.answer = HOSTILE[name]
    assert "no key is known" in await refused(tokens, issuer.token(key_id="ec"))
    assert len(server.requests) == 2
    assert (await tokens.believed(issuer.token(key_id="rsa"))).name == "alice"


async def test_a_redirect_is_not_followed(issuer, new_server, new_tokens):
    private = await new_server(says(issuer.key_set()))
    server = await new_server(redirects_to(f"http://127.0.0.1:{private.port}/"))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/", retry_backoff_ms=60_000)
    assert "no key is known" in await refused(tokens, issuer.token())
    assert private.requests == []


async def test_a_server_that_is_away_at_the_start_is_asked_until_it_answers(issuer, new_server, new_tokens):
    server = await new_server(says(b"", "503 Later"))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/", retry_backoff_ms=1, retry_backoff_max_ms=1)
    server.answer = says(issuer.key_set())
    await eventually(lambda: tokens._keys, "the keys")
    assert (await tokens.believed(issuer.token())).name == "alice"


# -- keys that change


async def test_keys_are_read_again_in_time(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set("rsa")))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/", refresh_ms=1)
    server.answer = says(issuer.key_set("ec"))
    await eventually(lambda: list(tokens._keys) == ["ec"], "the other keys")
    assert await refused(tokens, issuer.token(key_id="rsa"))


async def test_a_key_that_is_not_known_yet_is_asked_for_once_and_the_login_waits(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set("rsa")))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/")
    server.answer = says(issuer.key_set())
    result = await asyncio.gather(*(tokens.believed(issuer.token(key_id="ec")) for _ in range(10)))
    assert {bearer.name for bearer in result} == {"alice"}
    assert len(server.requests) == 2


async def test_a_key_that_is_nowhere_is_not_asked_for_again_for_a_minute(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set("rsa")))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/")
    for _ in range(5):
        await refused(tokens, issuer.token(key_id="ec"))
        tokens.clock.advance(10_000)
    assert len(server.requests) == 2
    tokens.clock.advance(UNKNOWN_KEY_ID_MS - 50_000)
    await refused(tokens, issuer.token(key_id="ec"))
    assert len(server.requests) == 3


async def test_keys_that_are_made_up_do_not_make_a_broker_ask_again_and_again(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set()))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/")
    for number in range(200):
        header = segment({"alg": "ES256", "kid": f"../{number}"})
        await refused(tokens, f"{header}.e30.AAAA")
    assert len(server.requests) == 2
    for number in range(2 * UNKNOWN_KEY_IDS_MAX):
        tokens.clock.advance(KEY_SET_ASKED_AGAIN_MS)
        header = segment({"alg": "ES256", "kid": f"{number}"})
        await refused(tokens, f"{header}.e30.AAAA")
    assert len(tokens._unknown) == UNKNOWN_KEY_IDS_MAX


async def test_hostile_tokens_are_refused_without_asking_anybody(issuer, new_server, new_tokens):
    server = await new_server(says(issuer.key_set()))
    tokens = await new_tokens(f"http://127.0.0.1:{server.port}/")
    payload = segment({"sub": "admin", "exp": 4_000_000_000, "iat": 1})
    for header in (
        {"alg": "none"},
        {"alg": "none", "kid": "ec"},
        {"alg": "HS256", "kid": "ec"},
        {"alg": "ES256"},
        {"alg": "ES256", "kid": "ec", "jku": "http://127.0.0.1/"},
        {"alg": "ES256", "kid": "ec", "x5u": "file:///etc/passwd"},
    ):
        assert await refused(tokens, f"{segment(header)}.{payload}.AAAA")
    assert len(server.requests) == 1


async def test_a_token_is_refused_as_soon_as_it_has_expired(issuer, new_tokens, tmp_path):
    (tmp_path / "keys.json").write_bytes(issuer.key_set())
    tokens = await new_tokens(f"file://{tmp_path}/keys.json")
    assert "expired" in await refused(tokens, issuer.token(lives_s=-31))
    assert "not valid yet" in await refused(tokens, issuer.token(iat=SystemClock().now_ms() / 1000 + 60))
    assert "audience" in await refused(tokens, issuer.token(aud="another"))
    assert (await tokens.believed(issuer.token(lives_s=-20))).name == "alice"

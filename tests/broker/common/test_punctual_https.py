"""A REST listener with TLS counts its connections from before their handshakes, and hangs up on those that do none."""

import asyncio
import ssl

import pytest
import uvloop

from broker.common import punctual_http
from broker.common.punctual_http import bounded_protocol
from tests.broker.common.test_punctual_http import WHOLE, answer, is_answered, serve
from tests.certificates import Authority


@pytest.fixture(params=[asyncio, uvloop], ids=["asyncio", "uvloop"])
def run(request):
    """Workers and registries run in uvloop's loop, which reads before it is asked to."""
    return request.param.run


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture
def server_tls(authority, tmp_path):
    server = authority.server()
    (tmp_path / "chain.pem").write_text(server.chain_pem)
    (tmp_path / "key.pem").write_text(server.key_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "chain.pem", tmp_path / "key.pem")
    return context


@pytest.fixture
def client_tls(authority):
    return ssl.create_default_context(cadata=authority.pem)


@pytest.mark.parametrize("bounds", [{"most": 3}, {"per_address": 3}])
def test_a_silent_handshake_gives_its_place_to_a_new_connection(bounds, server_tls, client_tls, run):
    async def test(connect):
        silent, *_ = [await connect() for _ in range(3)]
        assert await is_answered(*await connect(ssl=client_tls))
        assert await silent[0].read() == b""

    serve(test, bounded_protocol(**bounds, tls=server_tls), run=run)


def test_a_connection_is_one_before_and_after_its_handshake(server_tls, client_tls, run):
    async def test(connect):
        connections = [await connect(ssl=client_tls) for _ in range(3)]
        assert [await is_answered(*connection) for connection in connections] == [True] * 3
        assert [await is_answered(*connection) for connection in connections] == [True] * 3

    serve(test, bounded_protocol(most=3, per_address=3, tls=server_tls), run=run)


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n"])
def test_a_handshake_that_does_not_end_is_hung_up_on(sent, server_tls, run, monkeypatch):
    monkeypatch.setattr(punctual_http, "HEADERS_SECONDS", 0.3)

    async def test(connect):
        reader, writer = await connect()
        writer.write(sent)
        try:
            await reader.read()
        except ConnectionError:
            return

    serve(test, bounded_protocol(tls=server_tls), run=run)


def test_a_request_that_comes_with_the_end_of_the_handshake_is_answered(server_tls, client_tls, run):
    async def test(connect):
        reader, writer = await connect()
        outgoing, incoming = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = client_tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        writer.write(outgoing.read())
        while True:
            incoming.write(await reader.read(65_536))
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                continue
        client.write(WHOLE)
        writer.write(outgoing.read())
        received = b""
        while b" 204 " not in received:
            incoming.write(await reader.read(65_536))
            try:
                received += client.read(65_536)
            except ssl.SSLWantReadError:
                continue

    serve(test, bounded_protocol(tls=server_tls), run=run)


def test_a_request_within_tls_knows_that_it_is(server_tls, client_tls, run):
    schemes = []

    async def app(scope, receive, send):
        schemes.append(scope["scheme"])
        await answer(scope, receive, send)

    async def test(connect):
        assert await is_answered(*await connect(ssl=client_tls))
        assert schemes == ["https"]

    serve(test, bounded_protocol(tls=server_tls), app, run)


def test_a_server_ends_while_handshakes_are_under_way(server_tls, run):
    async def test(connect):
        for _ in range(3):
            await connect()
        await asyncio.sleep(0)

    serve(test, bounded_protocol(tls=server_tls), run=run)

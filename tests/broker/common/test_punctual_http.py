"""A REST listener hangs up on clients that neither send nor read, and a new one gets the place of an idle one."""

import asyncio
import contextlib
import ssl

import pytest
import uvicorn

from broker.client.rest_listeners import RestTls
from broker.common import punctual_http
from broker.common.limits import REST_CONNECTIONS_MAX, REST_CONNECTIONS_PER_ADDRESS_MAX
from broker.common.punctual_http import HandshakeProtocol, PunctualProtocol, bounded_protocol
from broker.common.security_limits import PIPELINED_REQUESTS_MAX
from broker.connect.rest import serving
from broker.registry import process

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def answer(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def serve(test, protocol, app=answer, run=asyncio.run):
    """`test(connect)` is awaited beside a server of the protocol, in the loop of `run`."""

    async def all_of_it() -> None:
        config = uvicorn.Config(app, port=0, http=protocol, log_level="critical", lifespan="off", timeout_keep_alive=60)
        server = uvicorn.Server(config)
        served = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            async with asyncio.timeout(20):
                await test(lambda **options: asyncio.open_connection("127.0.0.1", port, limit=2**30, **options))
        finally:
            server.should_exit = True
            await served

    run(all_of_it())


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", WHOLE + b"GET"])
def test_a_silent_and_a_half_headed_connection_are_closed_in_time(sent, monkeypatch):
    monkeypatch.setattr(punctual_http, "HEADERS_SECONDS", 0.2)

    async def test(connect):
        reader, writer = await connect()
        writer.write(sent)
        assert (await reader.read()).startswith(b"HTTP/1.1 204") == sent.startswith(WHOLE)

    serve(test, bounded_protocol())


async def is_answered(reader, writer) -> bool:
    try:
        writer.write(WHOLE)
        return b" 204 " in await reader.readuntil(b"\r\n\r\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        return False


@pytest.mark.parametrize("bounds", [{"most": 3}, {"per_address": 3}])
def test_a_new_connection_is_served_in_place_of_the_longest_idle_one(bounds):
    async def test(connect):
        first, second, third = [await connect() for _ in range(3)]
        assert await is_answered(*first)
        assert await is_answered(*await connect())
        assert [await is_answered(*connection) for connection in (first, second, third)] == [True, False, True]

    serve(test, bounded_protocol(**bounds))


@pytest.mark.parametrize("bounds", [{"most": 3}, {"per_address": 3}])
def test_a_flood_of_connections_costs_no_client_the_answer_it_waits_for(bounds):
    async def test(connect):
        has_begun, goes_on = asyncio.Event(), asyncio.Event()
        waiting.extend((has_begun, goes_on))
        reader, writer = await connect()
        writer.write(b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n1")
        await has_begun.wait()
        flood = [await connect() for _ in range(6)]
        goes_on.set()
        assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        assert await is_answered(*await connect()), "who comes now is served as well"
        for _, item in flood:
            item.close()

    waiting: list[asyncio.Event] = []

    async def answer_late(scope, receive, send):
        if scope["path"] == "/slow":
            await receive()
            waiting[0].set()
            await waiting[1].wait()
        await answer(scope, receive, send)

    serve(test, bounded_protocol(**bounds), answer_late)


def test_a_host_that_connects_from_many_addresses_is_one():
    async def test(connect):
        first, *_ = [await connect(local_addr=(f"127.0.0.{number}", 0)) for number in (2, 3, 4)]
        assert await is_answered(*await connect(local_addr=("127.0.0.5", 0)))
        assert not await is_answered(*first)

    serve(test, bounded_protocol(per_address=3))


async def answer_at_length(_scope, _receive, send):
    """Answer with more than kernel and transport take for a client that does not read."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(64):
        await send({"type": "http.response.body", "body": bytes(1024 * 1024), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("request_", [WHOLE, WHOLE[:-2] + b"Connection: close\r\n\r\n"], ids=["kept", "closing"])
def test_a_client_that_does_not_read_its_answer_is_hung_up_on(request_, monkeypatch):
    monkeypatch.setattr(punctual_http, "UNREAD_SECONDS", 0.5)
    ended = asyncio.Event()

    class Observed(PunctualProtocol):
        def connection_lost(self, exc):
            super().connection_lost(exc)
            ended.set()

    async def test(connect):
        _, writer = await connect()
        writer.transport.pause_reading()
        writer.write(request_)
        await ended.wait()

    serve(test, Observed, answer_at_length)


def test_a_client_that_reads_slowly_gets_its_whole_answer(monkeypatch):
    monkeypatch.setattr(punctual_http, "UNREAD_SECONDS", 1)

    async def test(connect):
        reader, writer = await connect()
        writer.write(WHOLE)
        for _ in range(6):
            await reader.readexactly(8 * 1024 * 1024)
            writer.transport.pause_reading()
            await asyncio.sleep(0.25)
            writer.transport.resume_reading()
        await reader.readuntil(b"\r\n0\r\n\r\n")

    serve(test, PunctualProtocol, answer_at_length)


CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
#: How a request begins, and what comes again and again.
ENDLESS = {
    "address": (b"GET /", b"a" * 10_000),
    "header": (b"GET / HTTP/1.1\r\nX: ", b"a" * 10_000),
    "headers": (b"GET / HTTP/1.1\r\n", b"X: y\r\n" * 1_000),
    "trailers": (CHUNKED + b"0\r\n", b"X: y\r\n" * 1_000),
    "extension of a chunk": (CHUNKED + b"5;", b"a" * 10_000),
}


@pytest.mark.parametrize("part", ENDLESS)
def test_what_is_not_the_body_does_not_go_on_for_ever(part, monkeypatch):
    monkeypatch.setattr(punctual_http, "HEADERS_SECONDS", 1_000)
    monkeypatch.setattr(punctual_http, "REQUEST_SECONDS", 1_000)
    first, more = ENDLESS[part]

    async def read_whole(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await answer(scope, receive, send)

    async def test(connect):
        reader, writer = await connect()
        writer.write(first)
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            writer.write(more)
            await asyncio.wait([ended], timeout=0.01)
        with contextlib.suppress(ConnectionError):
            await ended

    serve(test, PunctualProtocol, read_whole)


def test_a_long_body_arrives_whole():
    async def count(_scope, receive, send):
        received, more_body = 0, True
        while more_body:
            message = await receive()
            received, more_body = received + len(message["body"]), message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d bytes" % received})

    async def test(connect):
        reader, writer = await connect()
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 4000000\r\nConnection: close\r\n\r\n" + bytes(4_000_000))
        assert b"4000000 bytes" in await reader.read()

    serve(test, PunctualProtocol, count)


def test_few_requests_wait_behind_one_another():
    async def test(connect):
        reader, writer = await connect()
        writer.write(WHOLE * (PIPELINED_REQUESTS_MAX + 1))
        for _ in range(PIPELINED_REQUESTS_MAX + 1):
            assert b"204" in await reader.readuntil(b"\r\n\r\n")
        writer.write(WHOLE * (PIPELINED_REQUESTS_MAX + 2))
        with contextlib.suppress(ConnectionError):
            assert (await reader.read()).count(b"HTTP/1.1 204") <= 1

    serve(test, PunctualProtocol)


def test_a_connection_that_asks_to_be_a_websocket_gives_its_place_back():
    closed: list[PunctualProtocol] = []

    class Observed(bounded_protocol()):
        def connection_lost(self, exc):
            super().connection_lost(exc)
            closed.append(self)

    async def test(connect):
        reader, writer = await connect()
        writer.write(WHOLE[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert (await reader.read(12)) == b"HTTP/1.1 204"
        writer.close()
        while not closed:
            await asyncio.sleep(0.01)

    serve(test, Observed)


@pytest.mark.parametrize("server", [serving._server, process._server])
def test_connect_and_the_registry_have_these_bounds(server):
    assert issubclass(server(answer, None).config.http, PunctualProtocol)
    tls = RestTls(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context())
    assert issubclass(server(answer, tls).config.http, HandshakeProtocol)
    assert REST_CONNECTIONS_PER_ADDRESS_MAX < REST_CONNECTIONS_MAX
    assert punctual_http.HEADERS_SECONDS == 10

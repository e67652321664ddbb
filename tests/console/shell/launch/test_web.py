"""What the web process takes before a request is one: over real sockets, with deadlines that are short."""

import asyncio
import base64
import os
import resource
import socket
from contextlib import suppress

import pytest
import uvicorn
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from broker.common import punctual_http
from console.shell.launch import web
from console.shell.launch.web import PageProtocol, raise_descriptor_limit, web_config

HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"
WHOLE = HALF + b"\r\n"


async def answer(scope, receive, send):
    """Echoes; a websocket is let in and answers what it is told."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        event = await receive()
        await send({"type": "websocket.send", "text": event["text"]})
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def serve(monkeypatch):
    """serve(test): a server of our protocol; `test(connect)` is awaited."""
    monkeypatch.setattr(punctual_http, "HEADERS_SECONDS", 0.3)
    monkeypatch.setattr(punctual_http, "REQUEST_SECONDS", 0.6)

    def run(test, application=answer, **more) -> None:
        async def all_of_it() -> None:
            config = uvicorn.Config(
                application, port=0, http=PageProtocol, log_level="critical", lifespan="off", **more
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            try:
                async with asyncio.timeout(20):
                    await test(lambda: asyncio.open_connection("127.0.0.1", port))
            finally:
                server.should_exit = True
                await serving

        asyncio.run(all_of_it())

    return run


@pytest.mark.parametrize(
    "sent", [b"", b"G", HALF, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1234", WHOLE + HALF]
)
def test_a_request_that_does_not_arrive_is_hung_up_on(serve, sent):
    async def test(connect):
        reader, writer = await connect()
        writer.write(sent)
        answered = await reader.read()
        assert answered.startswith(b"HTTP/1.1 200") == sent.startswith(WHOLE)

    serve(test, timeout_keep_alive=60)


def test_one_that_trickles_gets_no_more_time_than_one_that_waits(serve):
    async def test(connect):
        reader, writer = await connect()
        gone = asyncio.create_task(reader.read())
        writer.write(HALF)
        while not gone.done():
            writer.write(b"X: y\r\n")
            await asyncio.sleep(0.05)
        assert gone.result() == b""

    serve(test)


def test_a_connection_is_used_again_and_again(serve):
    async def test(connect):
        reader, writer = await connect()
        for _ in range(4):
            writer.write(HALF)
            await asyncio.sleep(0.15)
            writer.write(b"\r\n")
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")

    serve(test, timeout_keep_alive=60)


def test_a_websocket_stays_open(serve):
    async def test(connect):
        reader, writer = await opened(connect)
        await asyncio.sleep(0.8)
        writer.write(bytes([0x81, 0x82, 0, 0, 0, 0]) + b"hi")
        assert await reader.readexactly(4) == b"\x81\x02hi"

    serve(test)


def masked(opcode: int, payload: bytes = b"") -> bytes:
    """A client's frame; its mask changes nothing."""
    return bytes([opcode, 0x80 | len(payload), 0, 0, 0, 0]) + payload


PING, TEXT_BEGINS, GOES_ON, LAST_PART = 0x89, 0x01, 0x00, 0x80


async def opened(connect):
    reader, writer = await connect()
    key = base64.b64encode(os.urandom(16))
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    writer.write(HALF + upgrade + key + b"\r\n\r\n")
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def reads_nothing(reader: asyncio.StreamReader, server: WebSocketsSansIOProtocol) -> None:
    """From now on; and the kernel keeps little of what is sent."""
    reader._transport.pause_reading()
    reader._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    server.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)


@pytest.fixture
def sockets(monkeypatch):
    """The protocols of the websockets that were opened."""
    made = []
    connected = web.PageSocketProtocol.connection_made
    monkeypatch.setattr(
        web.PageSocketProtocol,
        "connection_made",
        lambda self, transport: (made.append(self), connected(self, transport)),
    )
    return made


def test_pings_whose_answers_are_not_read_take_no_memory(serve, sockets):
    async def test(connect):
        reader, writer = await opened(connect)
        reads_nothing(reader, sockets[0])
        for _ in range(20):
            writer.write(masked(PING, b"x" * 125) * 1_000)
            await asyncio.sleep(0)
        while writer.transport.get_write_buffer_size():
            await asyncio.sleep(0.02)
        assert sockets[0].transport.get_write_buffer_size() < 512 * 1024
        writer.transport.abort()

    serve(test, ws=web.PageSocketProtocol)


def test_a_message_in_endless_parts_is_hung_up_on(serve, sockets):
    async def test(connect):
        reader, writer = await opened(connect)
        writer.write(masked(TEXT_BEGINS) + masked(GOES_ON) * 100_000)
        with suppress(ConnectionError):
            while await reader.read(65536):
                pass
        assert len(sockets[0].frames) <= web.PARTS_MAX

    serve(test, ws=web.PageSocketProtocol)


def test_a_message_in_a_few_parts_is_one_message(serve):
    async def test(connect):
        reader, writer = await opened(connect)
        writer.write(masked(TEXT_BEGINS, b"h") + masked(GOES_ON) * 10 + masked(LAST_PART, b"i"))
        assert await reader.readexactly(4) == b"\x81\x02hi"

    serve(test, ws=web.PageSocketProtocol)


@pytest.mark.parametrize("ending", ["it is pushed to", "it is closed", "its application ends", "it answers no ping"])
def test_a_page_that_reads_nothing_is_hung_up_on(serve, sockets, monkeypatch, ending):
    monkeypatch.setattr(web, "UNREAD_S", 0.2)
    part = {"type": "websocket.send", "text": "x" * 10_000_000}

    async def application(scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})
        await send(part)
        if ending == "it is pushed to":
            while True:
                await send(part)
        if ending == "it is closed":
            await send({"type": "websocket.close", "code": 4401})
        while ending != "its application ends" and (await receive())["type"] != "websocket.disconnect":
            pass

    async def test(connect):
        reader, _writer = await opened(connect)
        reads_nothing(reader, sockets[0])
        while not sockets[0].disconnected:
            await asyncio.sleep(0.02)

    serve(test, application, ws=web.PageSocketProtocol, ws_ping_interval=0.2, ws_ping_timeout=0.2)


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        (b"?q=" + b"x" * 8_200, b"", b"414"),
        (b"?q=" + b"x" * 60_000, b"", b"414"),
        (b"", b"Cookie: " + b"x" * 8_200 + b"\r\n", b"431"),
        (b"", b"Cookie: " + b"x" * 60_000 + b"\r\n", b"431"),
        (b"", b"X: y\r\n" * 200, b"431"),
    ],
    ids=["an address", "a long address", "a header", "a long header", "many headers"],
)
def test_what_no_websocket_takes_is_refused_at_once(serve, path, more, status):
    async def test(connect):
        reader, writer = await connect()
        upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        key = base64.b64encode(os.urandom(16))
        writer.write(b"GET /ws/" + path + b" HTTP/1.1\r\nHost: x\r\n" + more + upgrade + key + b"\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 " + status)

    serve(test)


def test_beyond_the_limit_the_answer_is_that_it_is_busy(serve):
    async def test(connect):
        waiting = [await connect() for _ in range(3)]
        reader, writer = await connect()
        writer.write(WHOLE)
        assert b"503" in await reader.readuntil(b"\r\n")
        for _, item in waiting:
            item.close()

    serve(test, limit_concurrency=3)


def test_the_product_has_all_of_these_bounds():
    config = web_config(8080)
    assert config.http is PageProtocol
    assert config.limit_concurrency == web.CONNECTIONS_MAX
    assert config.ws_max_size == web.WEBSOCKET_BYTES_MAX
    assert config.ws is web.PageSocketProtocol  # the one whose refusal PageProtocol sends


def test_no_header_is_believed_before_our_own_layer_has_judged_it():
    """X-Forwarded-For is what the throttle of logins would count by: anybody can write one."""
    assert web_config(8080).proxy_headers is False


def test_web_listens_on_this_machine_only():
    assert web_config(8080).host == "127.0.0.1"


def test_as_many_files_are_open_as_the_account_may_have():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
    try:
        raise_descriptor_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

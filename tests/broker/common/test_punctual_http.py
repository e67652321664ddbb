"""A REST listener hangs up on clients that say nothing, and takes no more connections than it can have."""

import asyncio

import pytest
import uvicorn

from broker.common import punctual_http
from broker.common.limits import REST_CONNECTIONS_MAX, REST_CONNECTIONS_PER_ADDRESS_MAX
from broker.common.punctual_http import PunctualProtocol, bounded_protocol
from broker.connect.rest import serving
from broker.registry import process

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def answer(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def serve(test, protocol):
    """`test(connect)` is awaited beside a server of the protocol."""

    async def all_of_it() -> None:
        config = uvicorn.Config(
            answer, port=0, http=protocol, log_level="critical", lifespan="off", timeout_keep_alive=60
        )
        server = uvicorn.Server(config)
        served = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            async with asyncio.timeout(20):
                await test(lambda **options: asyncio.open_connection("127.0.0.1", port, **options))
        finally:
            server.should_exit = True
            await served

    asyncio.run(all_of_it())


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", WHOLE + b"GET"])
def test_a_silent_and_a_half_headed_connection_are_closed_in_time(sent, monkeypatch):
    monkeypatch.setattr(punctual_http, "HEADERS_SECONDS", 0.2)

    async def test(connect):
        reader, writer = await connect()
        writer.write(sent)
        assert (await reader.read()).startswith(b"HTTP/1.1 204") == sent.startswith(WHOLE)

    serve(test, bounded_protocol())


@pytest.mark.parametrize("bounds", [{"most": 3}, {"per_address": 3}])
def test_connections_beyond_the_bound_are_closed_at_once_and_there_is_room_when_others_go(bounds):
    async def is_answered(connect) -> bool:
        try:
            reader, writer = await connect()
            writer.write(WHOLE)
            is_answered = (await reader.read(1)) == b"H"
            writer.close()
        except ConnectionError:
            return False
        return is_answered

    async def test(connect):
        waiting = [await connect() for _ in range(3)]
        assert not await is_answered(connect)
        for _, writer in waiting:
            writer.close()
        while not await is_answered(connect):
            await asyncio.sleep(0.01)

    serve(test, bounded_protocol(**bounds))


def test_a_host_that_connects_from_many_addresses_is_one():
    async def test(connect):
        waiting = [await connect(local_addr=(f"127.0.0.{number}", 0)) for number in (2, 3, 4)]
        reader, writer = await connect(local_addr=("127.0.0.5", 0))
        try:
            writer.write(WHOLE)
            assert await reader.read(1) == b""
        except ConnectionError:
            pass
        for _, writer in waiting:
            writer.close()

    serve(test, bounded_protocol(per_address=3))


@pytest.mark.parametrize("server", [serving._server, process._server])
def test_connect_and_the_registry_have_these_bounds(server):
    assert issubclass(server(answer, None).config.http, PunctualProtocol)
    assert REST_CONNECTIONS_PER_ADDRESS_MAX < REST_CONNECTIONS_MAX
    assert punctual_http.HEADERS_SECONDS == 10

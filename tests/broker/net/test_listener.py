"""A listening socket: that somebody else was quicker to take, and the limits on who may stay connected."""

import asyncio
import contextlib
import os
import socket

import pytest
from structlog.testing import capture_logs

from broker.common.errors import StartupError
from broker.common.limits import SILENT_CONNECTION_S
from broker.config.listeners import ListenerEndpoint
from broker.net.binding import SocketBuffers
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory
from tests.eventually import eventually


def listener(port: int = 0, **changes) -> Listener:
    endpoint = ListenerEndpoint("PLAINTEXT", "127.0.0.1", port)
    return Listener(
        endpoint,
        **{
            "frame_bytes_max": 100,
            "connections_max": 1,
            "idle_ms_max": 60_000,
            "memory": ConnectionMemory(),
            **changes,
        },
    )


def start(made: Listener) -> None:
    made.start(asyncio.get_running_loop(), lambda *_: None, lambda *_: None)


async def test_of_two_bound_at_the_same_moment_the_second_to_start_says_why_it_cannot():
    first = listener()
    second = listener(first.port)
    start(first)
    with pytest.raises(StartupError, match=f"cannot listen on PLAINTEXT://127.0.0.1:{first.port}: Address already"):
        start(second)
    second.stop()
    first.stop()


def test_who_has_the_port_is_said():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartupError, match=rf"PLAINTEXT://127.0.0.1:{port}: .*process {os.getpid()} \("):
            listener(port)


@contextlib.asynccontextmanager
async def listening(**changes):
    started = listener(**changes)
    start(started)
    yield started
    started.stop()


async def connect(started: Listener):
    return await asyncio.open_connection("127.0.0.1", started.port)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(1), 10) == b""
    except ConnectionResetError:
        return True


async def test_five_hundred_connections_stay_and_cost_little_when_they_end():
    async with listening(connections_max=500) as started:
        clients = [await connect(started) for _ in range(500)]
        await eventually(lambda: started.connection_count == 500, "all are connected")
        extra, _ = await connect(started)
        assert await is_closed(extra)
        for _, writer in clients:
            writer.close()
        await eventually(lambda: started.connection_count == 0, "all are gone")


async def test_a_flood_of_refused_connections_is_one_line_in_the_log(monkeypatch):
    async with listening(connections_max=1) as started:
        _kept = await connect(started)
        with capture_logs() as lines:
            for _ in range(20):
                refused, _ = await connect(started)
                assert await is_closed(refused)
            assert [(line["limit_reached"], line["count"]) for line in lines] == [("max.connections", 1)]
            monkeypatch.setattr("broker.net.listener.REFUSALS_LOGGED_EVERY_S", 0)
            started._log_refusals()
        assert lines[1]["count"] == 19


async def test_a_trickle_of_bytes_does_not_keep_a_connection():
    async with listening(idle_ms_max=100) as started:
        reader, writer = await connect(started)

        async def trickle():
            for byte in (50).to_bytes(4) + bytes(50):
                writer.write(bytes([byte]))
                await asyncio.sleep(0.02)

        trickling = asyncio.create_task(trickle())
        assert await is_closed(reader)
        assert not trickling.done()
        trickling.cancel()


async def test_whole_requests_keep_a_connection():
    requests = []
    async with listening(idle_ms_max=100) as started:
        started._on_frame = lambda _, frame: requests.append(bytes(frame))
        _, writer = await connect(started)
        began = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() - began < 0.5:
            writer.write((1).to_bytes(4) + b"x")
            await asyncio.sleep(0.02)
        assert started.connection_count == 1
    assert len(requests) > 10


@pytest.mark.parametrize("bytes_max", [20_000, 100_000])
async def test_the_kernel_takes_no_more_for_a_client_that_does_not_read_than_the_buffer_is_set_to(bytes_max):
    accepted = []
    serving = listener(buffers=SocketBuffers(send=bytes_max))
    serving._admit = lambda sock, address: accepted.append(sock)
    start(serving)
    with socket.create_connection(("127.0.0.1", serving.port)):
        await eventually(lambda: accepted, "the client is accepted")
        # Linux doubles what it is asked for, to account for its own bookkeeping.
        assert bytes_max <= accepted[0].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * bytes_max
        accepted[0].close()
    serving.stop()


async def test_who_never_asked_anything_makes_room_when_places_are_short():
    """The oldest of them, and only when it has had time to ask."""
    async with listening(connections_max=3) as started:
        clients = [await connect(started) for _ in range(3)]
        await eventually(lambda: started.connection_count == 3, "all are connected")
        newcomer, _ = await connect(started)
        assert await is_closed(newcomer), "nobody has been silent for long"
        next(iter(started._progress_counts)).progress_count = 1
        for connection in started._silent:
            started._silent[connection] -= SILENT_CONNECTION_S + 60
        _kept = await connect(started)
        assert await is_closed(clients[1][0])
        await eventually(lambda: started.connection_count == 3, "the newcomer has its place")
        assert not clients[0][0].at_eof()
        assert not clients[2][0].at_eof()

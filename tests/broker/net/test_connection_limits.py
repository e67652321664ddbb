"""How many may connect: in all, from one address, and as changed while the listener is open."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from broker.config.listeners import ListenerEndpoint
from broker.net.connection_quotas import ConnectionLimits
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory


@pytest.fixture
async def listener():
    made = Listener(
        ListenerEndpoint("PLAINTEXT", "127.0.0.1", 0),
        frame_bytes_max=100,
        idle_ms_max=60_000,
        memory=ConnectionMemory(),
    )
    made.start(asyncio.get_running_loop(), lambda *_: None, lambda *_: None)
    yield made
    made.stop()


@asynccontextmanager
async def client(listener, address="127.0.0.1"):
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port, local_addr=(address, 0))
    yield reader
    writer.close()


async def is_closed(reader) -> bool:
    async with asyncio.timeout(10):
        try:
            return await reader.read(1) == b""
        except ConnectionResetError:
            return True


async def has_connections(listener, count) -> None:
    async with asyncio.timeout(10):
        while listener.connection_count != count:
            await asyncio.sleep(0.001)


async def test_a_lower_limit_counts_for_the_next_client(listener):
    async with client(listener), client(listener):
        await has_connections(listener, 2)
        listener._quotas.limits = ConnectionLimits(1)
        async with client(listener) as refused:
            assert await is_closed(refused)
        assert listener.connection_count == 2


async def test_one_address_cannot_take_all_connections(listener):
    listener._quotas.limits = ConnectionLimits(10, per_address=1)
    async with client(listener):
        await has_connections(listener, 1)
        async with client(listener) as refused, client(listener, "127.0.0.2"):
            assert await is_closed(refused)
            await has_connections(listener, 2)


async def test_an_address_that_is_named_has_its_own_limit(listener):
    listener._quotas.limits = ConnectionLimits(10, per_address=0, of_address={"127.0.0.2": 1})
    async with client(listener, "127.0.0.2"), client(listener) as refused:
        assert await is_closed(refused)
        await has_connections(listener, 1)


async def test_a_closed_connection_makes_room_for_another(listener):
    listener._quotas.limits = ConnectionLimits(10, per_address=1)
    for _ in range(3):
        async with client(listener):
            await has_connections(listener, 1)
        await has_connections(listener, 0)

"""Connections of all listeners count together; the listener between brokers always finds a place (KIP-402, KIP-612)."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from broker.common.security_limits import DELAYED_CONNECTIONS_MAX
from broker.config.listeners import ListenerEndpoint
from broker.net.connection_quotas import ConnectionLimits, ConnectionQuotas
from broker.net.listener import Listener
from broker.net.memory import ConnectionMemory
from tests.eventually import eventually

REQUEST = (1).to_bytes(4) + b"x"


class Two:
    """The listener between brokers, and the one for clients."""

    def __init__(self):
        self.quotas = ConnectionQuotas(ConnectionLimits(100), "MEMBERS")
        self.members, self.clients = self.listener("MEMBERS"), self.listener("CLIENTS")

    def listener(self, name: str) -> Listener:
        endpoint = ListenerEndpoint(name, "127.0.0.1", 0)
        made = Listener(
            endpoint, quotas=self.quotas, frame_bytes_max=100, idle_ms_max=60_000, memory=ConnectionMemory()
        )
        made.start(asyncio.get_running_loop(), lambda *_: None, lambda *_: None)
        return made


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader = reader
        self.writer = writer

    async def is_closed(self) -> bool:
        try:
            return await asyncio.wait_for(self.reader.read(1), 10) == b""
        except ConnectionResetError:
            return True


@pytest.fixture
async def two():
    made = Two()
    yield made
    made.members.stop()
    made.clients.stop()
    assert made.quotas.total == 0


@asynccontextmanager
async def connected(listener: Listener, count: int, address: str = "127.0.0.1"):
    """So many clients, of whom the broker knows."""
    before, clients = listener.connection_count, []
    for more in range(1, count + 1):
        opened = await asyncio.open_connection("127.0.0.1", listener.port, local_addr=(address, 0))
        clients.append(Client(*opened))
        await eventually(lambda more=more: listener.connection_count == before + more, "it is admitted")
    yield clients
    for client in clients:
        client.writer.close()


async def try_connect(listener: Listener, address: str = "127.0.0.1") -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", listener.port, local_addr=(address, 0)))


async def test_connections_of_all_listeners_count_together(two):
    two.quotas.limits = ConnectionLimits(3)
    async with connected(two.members, 1), connected(two.clients, 2):
        assert await (await try_connect(two.clients)).is_closed()
        assert two.quotas.total == 3


async def test_an_address_counts_on_all_listeners_together(two):
    two.quotas.limits = ConnectionLimits(100, per_address=2)
    async with connected(two.members, 1, "127.0.0.2"), connected(two.clients, 1, "127.0.0.2"):
        assert await (await try_connect(two.clients, "127.0.0.2")).is_closed()
        async with connected(two.clients, 1, "127.0.0.3"):
            assert two.quotas.total == 3


async def test_a_listener_may_have_fewer_than_the_broker(two):
    two.clients.connections_max = 1
    async with connected(two.clients, 1), connected(two.members, 2):
        with capture_logs() as lines:
            assert await (await try_connect(two.clients)).is_closed()
        assert [(line["limit_reached"], line["listener"]) for line in lines] == [("max.connections", "CLIENTS")]


async def test_who_was_used_least_recently_makes_room_for_a_broker(two):
    two.quotas.limits = ConnectionLimits(3)
    async with connected(two.clients, 3) as (first, second, third):
        for busy in (first, third):
            busy.writer.write(REQUEST)
        await eventually(lambda: sum(one.progress_count for one in two.clients._used) == 2, "they asked")
        async with connected(two.members, 1):
            assert await second.is_closed()
            assert two.clients.connection_count == 2
        assert not first.reader.at_eof()
        assert not third.reader.at_eof()


async def test_even_if_all_are_busy_one_makes_room_for_a_broker(two):
    two.quotas.limits = ConnectionLimits(2)
    async with connected(two.clients, 2) as clients:
        for client in clients:
            client.writer.write(REQUEST)
        await eventually(lambda: sum(one.progress_count for one in two.clients._used) == 2, "they asked")
        async with connected(two.members, 1):
            await eventually(lambda: two.clients.connection_count == 1, "one is closed")


async def test_brokers_close_no_broker_and_exceed_only_what_the_process_can_open(two):
    two.quotas.limits = ConnectionLimits(1, ceiling=2)
    async with connected(two.members, 2):
        assert await (await try_connect(two.members)).is_closed()
        assert two.members.connection_count == 2


async def test_an_only_listener_is_not_protected(two):
    two.clients.stop()
    two.quotas.limits = ConnectionLimits(1)
    async with connected(two.members, 1):
        assert await (await try_connect(two.members)).is_closed()


async def test_clients_that_come_faster_than_the_rate_wait_and_brokers_do_not(two):
    two.quotas.creation_rate.change(1)
    async with connected(two.clients, 1):
        waiting = await try_connect(two.clients)
        async with connected(two.members, 5):
            assert two.clients.connection_count == 1
        await eventually(lambda: two.clients.connection_count == 2, "it is accepted a second later")
        waiting.writer.close()


async def test_a_listener_has_a_rate_of_its_own_also_the_one_between_brokers(two):
    two.members.creation_rate.change(0)
    await try_connect(two.members)
    async with connected(two.clients, 3):
        assert two.members.connection_count == 0


class TooOften:
    """Of one address."""

    def __init__(self, delay_s: float):
        self._delay_s = delay_s

    def delay_s(self, address: str) -> float:
        return self._delay_s if address == "127.0.0.2" else 0


async def test_who_comes_too_often_is_held_and_then_closed_without_taking_a_place(two):
    two.quotas.address_rates = TooOften(0.01)
    refused = await try_connect(two.clients, "127.0.0.2")
    assert await refused.is_closed()
    async with connected(two.clients, 1, "127.0.0.3"):
        assert two.quotas.total == 1


async def test_no_more_are_held_than_a_few(two):
    two.quotas.address_rates = TooOften(3_600)
    for _ in range(DELAYED_CONNECTIONS_MAX):
        await try_connect(two.clients, "127.0.0.2")
    await eventually(lambda: len(two.clients._delayed) == DELAYED_CONNECTIONS_MAX, "they are held")
    assert await (await try_connect(two.clients, "127.0.0.2")).is_closed()
    two.clients.stop()
    assert not two.clients._delayed

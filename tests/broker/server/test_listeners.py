"""A broker's listeners: bound together, and as its configuration says while it runs."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from broker.common.errors import StartupError
from broker.config.broker import BrokerConfig, read_broker_config
from broker.config.definition import ConfigError
from broker.config.dynamic import read_broker_change
from broker.net.turns import Turns
from broker.server.listeners import Listeners
from tests.zookeeper_server import free_ports

FILE = "broker.id=1\nzookeeper.connect=z:1\n"
MAP = "listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT,C:PLAINTEXT,PLAINTEXT:PLAINTEXT,S:SSL,U:SASL_PLAINTEXT\n"
TWO = f"{FILE}{MAP}listeners=A://127.0.0.1:0,B://127.0.0.1:0\ninter.broker.listener.name=A\n"
DESCRIPTORS = 1_000


def change(config: BrokerConfig, **texts: str) -> None:
    config.set_dynamic({key: read_broker_change(key, text, is_for_all=False) for key, text in texts.items()}, {})


@contextmanager
def opened(config: BrokerConfig, *, is_serving: bool = False) -> Iterator[Listeners]:
    made = Listeners(config, Turns())
    if is_serving:
        made.start(asyncio.get_running_loop(), lambda *_: None, lambda *_: None)
    yield made
    made.stop()


def named(listeners: Listeners) -> dict[str, int]:
    return {listener.name: listener.port for listener in listeners}


def test_of_several_one_that_cannot_be_bound_ends_the_start_and_frees_the_others():
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
        probe.close()
        ports = f"listeners=A://127.0.0.1:{free},B://127.0.0.1:{taken.getsockname()[1]}\ninter.broker.listener.name=A\n"
        with pytest.raises(StartupError, match="cannot listen on B://"):
            Listeners(read_broker_config(FILE + MAP + ports), Turns())
        socket.create_server(("127.0.0.1", free)).close()


def test_a_listener_with_tls_and_no_certificate_ends_the_start():
    text = f"{FILE}{MAP}listeners=A://127.0.0.1:0,S://127.0.0.1:0\ninter.broker.listener.name=A\n"
    with pytest.raises(StartupError, match="listener S: a listener with TLS needs a certificate"):
        Listeners(read_broker_config(text), Turns())


def test_one_port_serves_both_families_of_addresses_by_a_listener_each():
    (port,) = free_ports(1)
    text = f"listeners=A://0.0.0.0:{port},B://[::]:{port}\nadvertised.listeners=A://h:{port},B://h:{port}\n"
    with opened(read_broker_config(f"{FILE}{MAP}{text}inter.broker.listener.name=A\n")) as listeners:
        assert named(listeners) == {"A": port, "B": port}


async def test_an_empty_host_listens_for_both_families_and_clients_keep_their_own_address():
    text = f"{FILE}listeners=PLAINTEXT://:0\nadvertised.listeners=PLAINTEXT://h:9092\n"
    hosts = []
    with opened(read_broker_config(text)) as listeners:
        (only,) = listeners
        listeners.start(
            asyncio.get_running_loop(), lambda connection, _: hosts.append(connection.session.host), lambda _: None
        )
        for address in ("127.0.0.1", "::1") if socket.has_dualstack_ipv6() else ("127.0.0.1",):
            _, writer = await asyncio.open_connection(address, only.port)
            writer.write((1).to_bytes(4) + b"x")
            async with asyncio.timeout(10):
                while address not in hosts:
                    await asyncio.sleep(0.001)
            writer.close()


async def test_listeners_come_and_go_and_the_others_keep_their_connections():
    config = read_broker_config(TWO)
    with opened(config, is_serving=True) as listeners:
        before = named(listeners)
        _, kept = await asyncio.open_connection("127.0.0.1", before["A"])
        leaving, _ = await asyncio.open_connection("127.0.0.1", before["B"])
        async with asyncio.timeout(10):
            while listeners.connection_count < 2:
                await asyncio.sleep(0.001)
        change(config, listeners="A://127.0.0.1:0,C://127.0.0.1:0")
        listeners.open_new()
        assert named(listeners).keys() == {"A", "B", "C"}
        _, newcomer = await asyncio.open_connection("127.0.0.1", named(listeners)["C"])
        listeners.close_old()
        assert named(listeners).keys() == {"A", "C"}
        assert named(listeners)["A"] == before["A"]
        assert await asyncio.wait_for(leaving.read(1), 10) == b""
        async with asyncio.timeout(10):
            while listeners.connection_count < 2:
                await asyncio.sleep(0.001)
        kept.close()
        newcomer.close()


async def test_one_that_cannot_be_opened_while_the_broker_runs_is_told_of_and_left_out():
    config = read_broker_config(TWO)
    with opened(config, is_serving=True) as listeners, socket.create_server(("127.0.0.1", 0)) as taken:
        then = f"A://127.0.0.1:0,B://127.0.0.1:0,C://127.0.0.1:{taken.getsockname()[1]}"
        wanted = config.with_dynamic({"listeners": read_broker_change("listeners", then, is_for_all=False)}, {})
        with pytest.raises(ConfigError, match="cannot listen on C://"):
            listeners.check(wanted)
        change(config, listeners=then)
        with capture_logs() as lines:
            listeners.open_new()
        assert [line["event"] for line in lines] == ["listener not opened"]
        assert named(listeners).keys() == {"A", "B"}


def test_limits_are_read_anew_for_the_broker_and_each_listener():
    config = read_broker_config(TWO)
    with opened(config) as listeners:
        change(
            config,
            **{
                "max.connections": "100",
                "max.connection.creation.rate": "50",
                "listener.name.b.max.connections": "7",
                "listener.name.b.max.connection.creation.rate": "5",
            },
        )
        listeners.limit(DESCRIPTORS)
        assert (listeners.quotas.limits.total, listeners.quotas.creation_rate.per_second) == (100, 50)
        assert listeners.quotas.limits.ceiling == DESCRIPTORS // 2
        limits = {
            listener.name: (listener.connections_max, listener.creation_rate.per_second) for listener in listeners
        }
        assert limits == {"A": (100, 50), "B": (7, 5)}


async def test_whoever_equips_listeners_equips_those_that_come_later_too():
    config = read_broker_config(TWO)
    equipped = []
    with opened(config) as listeners:
        listeners.equip(lambda listener, settings: equipped.append((listener.name, settings.name)))
        assert equipped == [("A", "A"), ("B", "B")]
        change(config, listeners="A://127.0.0.1:0,C://127.0.0.1:0")
        listeners.open_new()
        assert equipped[2:] == [("C", "C")]


async def test_one_that_cannot_be_equipped_gives_its_port_back():
    config = read_broker_config(TWO)
    with opened(config, is_serving=True) as listeners, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()

        def refuse_c(listener, _settings):
            if listener.name == "C":
                raise StartupError("no mechanism")

        listeners.equip(refuse_c)
        change(config, listeners=f"A://127.0.0.1:0,B://127.0.0.1:0,C://127.0.0.1:{port}")
        listeners.open_new()
        assert named(listeners).keys() == {"A", "B"}
        socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize(("protocol", "lacking"), [("SSL", "TLS"), ("SASL_PLAINTEXT", "login")])
async def test_nobody_is_served_without_what_the_protocol_promises(monkeypatch, protocol, lacking):
    monkeypatch.setattr("broker.server.tls.ListenersTls.of_listener", lambda _tls, _settings: None)
    text = f"{FILE}listeners={protocol}://127.0.0.1:0\nsecurity.inter.broker.protocol={protocol}\n"
    with (
        opened(read_broker_config(text)) as listeners,
        pytest.raises(StartupError, match=f"listener {protocol} is {protocol}, and has no {lacking}"),
    ):
        listeners.start(asyncio.get_running_loop(), lambda *_: None, lambda *_: None)

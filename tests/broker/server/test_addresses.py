"""What a broker tells of its addresses, and which it answers to."""

from contextlib import closing, contextmanager
from types import SimpleNamespace

from broker.common.cluster import BrokerEndpoint
from broker.config.broker import read_broker_config
from broker.config.dynamic import read_broker_change
from broker.net.turns import Turns
from broker.runtime.metadata_cache import BrokerAddress
from broker.server.addresses import BrokerAddresses
from broker.server.listeners import Listeners

FILE = (
    "broker.id=1\nzookeeper.connect=z:1\nbroker.rack=r\ninter.broker.listener.name=B\n"
    "listeners=A://127.0.0.1:0,B://127.0.0.1:0\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\n"
)


@contextmanager
def addresses(text: str = ""):
    config = read_broker_config(FILE + text)
    listeners = Listeners(config, Turns())
    metadata = SimpleNamespace(
        brokers={
            2: BrokerAddress(2, {"A": ("h", 1), "B": ("h", 2)}, None),
            3: BrokerAddress(3, {"A": ("h", 1)}, None),
        }
    )
    with closing(SimpleNamespace(close=listeners.stop)):
        yield (
            BrokerAddresses(config, listeners, metadata),
            config,
            {listener.name: listener.port for listener in listeners},
        )


def test_every_listener_is_told_with_the_port_the_system_gave():
    with addresses() as (ours, _, ports):
        registration = ours.registration()
        assert registration.endpoints == tuple(BrokerEndpoint(name, "127.0.0.1", ports[name]) for name in "AB")
        assert (registration.broker_id, registration.rack) == (1, "r")


def test_an_advertised_port_of_0_is_the_listeners():
    with addresses("advertised.listeners=B://h:0,A://h:9092\n") as (ours, _, ports):
        endpoints = [(endpoint.listener, endpoint.host, endpoint.port) for endpoint in ours.registration().endpoints]
        assert endpoints == [("B", "h", ports["B"]), ("A", "h", 9092)]


def test_others_are_reached_by_the_listener_of_brokers_and_not_at_all_without_it():
    with addresses() as (ours, _, _):
        assert ours.of(2) == ("h", 2)
        assert ours.of(3) is None
        assert ours.of(4) is None


def test_who_has_not_heard_of_new_addresses_still_means_us():
    with addresses() as (ours, config, ports):
        ours.registration()
        former = f"127.0.0.1:{ports['B']}"
        for host in ("x", "y"):
            text = read_broker_change("advertised.listeners", f"A://{host}:1,B://{host}:2", is_for_all=False)
            config.set_dynamic({"advertised.listeners": text}, {})
            for _ in range(2):
                ours.registration()
            assert ours.is_ours(f"{host}:2")
            assert ours.is_ours(former)
            assert not ours.is_ours("z:2")
            former = f"{host}:2"
        assert not ours.is_ours(f"127.0.0.1:{ports['B']}")

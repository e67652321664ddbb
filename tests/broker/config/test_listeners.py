"""Which listeners there can be: Kafka's checks at the start, each with a sentence that says what to change."""

import pytest

from broker.common.errors import StartupError
from broker.common.security_protocol import SecurityProtocol
from broker.config.broker import BrokerConfig, read_broker_config
from broker.config.listeners import ListenerEndpoint

MINIMAL = "broker.id=1\nzookeeper.connect=localhost:2181\n"
TWO = "listeners=INSIDE://a:1,OUTSIDE://b:2\nlistener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:SASL_SSL\n"


def read(text: str) -> BrokerConfig:
    return read_broker_config(MINIMAL + text)


def test_listeners_have_names_of_their_own_in_capitals_and_a_protocol_each():
    config = read(
        "listeners=inside-9091://a:1,Outside://[::1]:2\ninter.broker.listener.name=Inside-9091\n"
        "listener.security.protocol.map=inside-9091:plaintext, OUTSIDE:SASL_SSL\n"
    )
    assert config.listeners == (ListenerEndpoint("INSIDE-9091", "a", 1), ListenerEndpoint("OUTSIDE", "::1", 2))
    assert config.inter_broker_listener == "INSIDE-9091"
    assert config.of_listener("OUTSIDE").protocol is SecurityProtocol.SASL_SSL
    assert config.text("listeners") == "INSIDE-9091://a:1,OUTSIDE://[::1]:2"
    assert config.text("listener.security.protocol.map") == "INSIDE-9091:PLAINTEXT,OUTSIDE:SASL_SSL"


def test_brokers_reach_each_other_by_the_listener_named_like_their_protocol_unless_another_is_named():
    assert read("").inter_broker_listener == "PLAINTEXT"
    assert read("listeners=SSL://a:1\nsecurity.inter.broker.protocol=ssl\n").inter_broker_listener == "SSL"
    assert read(f"{TWO}inter.broker.listener.name=inside\n").inter_broker_listener == "INSIDE"


def test_the_controller_may_have_a_listener_of_its_own():
    config = read(f"{TWO}inter.broker.listener.name=INSIDE\ncontrol.plane.listener.name=outside\n")
    assert config.control_plane_listener_name == "OUTSIDE"
    assert read("").control_plane_listener_name is None


@pytest.mark.parametrize(
    "listeners",
    [
        "PLAINTEXT://127.0.0.1:9092,SSL://[::1]:9092",
        "PLAINTEXT://a:0,SSL://a:0",
        "PLAINTEXT://0.0.0.0:9092,SSL://[::]:9092",
    ],
)
def test_a_port_may_be_there_twice_for_two_families_of_addresses_or_when_the_system_chooses_it(listeners):
    assert len(read(f"listeners={listeners}\nadvertised.listeners=PLAINTEXT://h:9092,SSL://h:9092\n").listeners) == 2


def test_listeners_may_be_advertised_with_one_port_and_some_not_at_all():
    config = read("listeners=PLAINTEXT://a:1,SSL://a:2\nadvertised.listeners=PLAINTEXT://b:9092\n")
    assert config.advertised_listeners == (ListenerEndpoint("PLAINTEXT", "b", 9092),)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("listeners=PLAINTEXT://a:1,plaintext://a:2", "listeners names PLAINTEXT 2 times: give each listener a name"),
        ("listeners=PLAINTEXT://a:1,SSL://b:1", "listeners has port 1 2 times: give each listener a port of its own"),
        ("listeners=PLAINTEXT://localhost:1,SSL://[::1]:1", "give each listener a port of its own"),
        ("listeners=PLAINTEXT://1.1.1.1:1,SSL://[::1]:1,SASL_SSL://[::2]:1", "port 1 3 times"),
        ("listeners=PLAINTEXT://a:1,MINE://a:2", "add MINE:PLAINTEXT, or another protocol, to listener.security"),
        (
            "listeners=PLAINTEXT://a:1\nadvertised.listeners=PLAINTEXT://a:1,SSL://a:2",
            "advertised.listeners=SSL://a:2: add a listener SSL to listeners",
        ),
        (
            "advertised.listeners=PLAINTEXT://a:1,PLAINTEXT://a:2",
            "advertised.listeners names PLAINTEXT 2 times: give each listener a name of its own",
        ),
        ("advertised.listeners=", "advertised.listeners='' is not NAME://host:port,…"),
        ("advertised.listeners=PLAINTEXT://:9092", "must name a host that clients can reach"),
        ("advertised.listeners=PLAINTEXT://[::]:9092", "must name a host that clients can reach"),
        ("listeners=PLAINTEXT://:9092", "listens everywhere: set advertised.listeners to a reachable host"),
        ("listener.security.protocol.map=PLAINTEXT:TLS", "NAME:PROTOCOL,… with a protocol of PLAINTEXT, SSL"),
        ("listener.security.protocol.map=PLAINTEXT", "NAME:PROTOCOL,… with a protocol of PLAINTEXT, SSL"),
        ("security.inter.broker.protocol=TLS", "is not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        (
            "inter.broker.listener.name=PLAINTEXT\nsecurity.inter.broker.protocol=PLAINTEXT",
            "inter.broker.listener.name and security.inter.broker.protocol are both set: remove one of them",
        ),
        (TWO, "PLAINTEXT, which is not advertised: set inter.broker.listener.name to one of INSIDE, OUTSIDE"),
        (
            "listeners=PLAINTEXT://a:1,SSL://a:2\nadvertised.listeners=SSL://b:9092",
            "PLAINTEXT, which is not advertised: set inter.broker.listener.name to one of SSL",
        ),
        ("control.plane.listener.name=OTHER", "control.plane.listener.name=OTHER is not advertised: name one of PLAIN"),
        ("control.plane.listener.name=plaintext", "is the listener of all brokers: name another, or leave the key out"),
        ("max.connections.per.ip=0", "name exceptions in max.connections.per.ip.overrides"),
        (
            "connection.failed.authentication.delay.ms=500\nconnections.max.idle.ms=500",
            "connection.failed.authentication.delay.ms=500 must be less than connections.max.idle.ms=500",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_one_sentence_that_says_what_to_change(text, sentence):
    with pytest.raises(StartupError) as refused:
        read(text)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)

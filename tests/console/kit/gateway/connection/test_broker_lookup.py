"""Brokers are looked for without the name of a topic, and found as long as one of those that are known answers."""

import pytest

from broker.client.errors import BrokerUnreachable, LoginRefused
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from console.kit.gateway.connection.broker_lookup import BrokerLookup

A, B, C = ("a", 1), ("b", 2), ("c", 3)


class Brokers:
    """`away` answer nothing, `refusing` no password; the others name each other."""

    def __init__(self):
        self.away, self.refusing = set(), set()
        self.addresses_asked: list[tuple[str, int]] = []
        self.timeouts: list[float] = []
        self.requests: list[MetadataRequest] = []
        self.lookup = BrokerLookup(self.lend)

    def lend(self, host: str, port: int, timeout_s: float):
        self.addresses_asked.append((host, port))
        self.timeouts.append(timeout_s)
        if (host, port) in self.away:
            raise BrokerUnreachable(f"{host} is away")
        if (host, port) in self.refusing:
            raise LoginRefused(f"{host} refuses")
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_exception) -> None:
        pass

    def ask(self, request: MetadataRequest) -> MetadataResponse:
        self.requests.append(request)
        named = [MetadataResponseBroker(node_id=port, host=host, port=port) for host, port in (A, B, C)]
        return MetadataResponse(brokers=named, cluster_id="c")

    def look(self) -> list[tuple[str, int]]:
        self.addresses_asked.clear()
        self.lookup.ask([A], 1.0)
        return self.addresses_asked


def test_no_topic_is_asked_for_and_none_is_made():
    brokers = Brokers()
    brokers.look()
    assert [(request.topics, request.allow_auto_topic_creation) for request in brokers.requests] == [([], False)]


def test_the_cluster_is_found_though_the_broker_it_is_reached_by_is_away():
    brokers = Brokers()
    brokers.look()
    brokers.away = {A}
    assert brokers.look() == [A, B]
    assert brokers.look() == [B], "the one that answered last is asked first"
    brokers.away = {B}
    assert brokers.look() == [B, A]


def test_one_that_hangs_leaves_time_for_the_others():
    brokers = Brokers()
    brokers.look()
    brokers.away = {A, B}
    brokers.timeouts.clear()
    brokers.look()
    first, second, third = brokers.timeouts
    assert (first <= 0.5, second <= 0.5, third > 0.5) == (True, True, True)


def test_while_none_answers_the_first_error_is_told():
    brokers = Brokers()
    brokers.away = {A}
    with pytest.raises(BrokerUnreachable, match="a is away"):
        brokers.look()
    with pytest.raises(BrokerUnreachable, match="no broker is named"):
        BrokerLookup(brokers.lend).ask([], 1.0)


def test_a_refused_password_is_not_tried_at_the_next_broker():
    brokers = Brokers()
    brokers.look()
    brokers.refusing = {A, B, C}
    with pytest.raises(LoginRefused):
        brokers.look()
    assert brokers.addresses_asked == [A]

"""The controller is looked for until it is found, and asked once."""

from types import SimpleNamespace

import pytest

from broker.client import cluster as module
from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.common.errors import ApiError
from broker.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker

NONE, DEAD, ALIVE, BROKEN = -1, 1, 2, 3


class Looking(ClusterConnections):
    """`controllers` are who the metadata name, one after the other, and the last from then on."""

    def __init__(self, *controllers: int):
        super().__init__([("host", 9)], timeout_s=5)
        self.controllers = list(controllers)
        self.ports_asked: list[int] = []

    def describe_topics(self, names) -> MetadataResponse:
        named = self.controllers.pop(0) if len(self.controllers) > 1 else self.controllers[0]
        brokers = [MetadataResponseBroker(node_id=item, host="host", port=item) for item in (DEAD, ALIVE, BROKEN)]
        return MetadataResponse(brokers=brokers, controller_id=named)

    def connection(self, host, port, **_how):
        if port == DEAD:
            raise BrokerUnreachable("cannot connect")
        return SimpleNamespace(ask=lambda _request, **_limits: self._answer(port))

    def _answer(self, port: int) -> str:
        self.ports_asked.append(port)
        if port == BROKEN:
            raise BrokerUnreachable("the connection broke")
        return "done"


@pytest.fixture(autouse=True)
def pauses(monkeypatch) -> list[float]:
    """Time goes by in pauses only."""
    taken: list[float] = []
    time = SimpleNamespace(monotonic=lambda: sum(taken), sleep=taken.append)
    monkeypatch.setattr(module, "time", time)
    return taken


def test_a_controller_that_died_is_looked_for_again_until_another_is_elected(pauses):
    cluster = Looking(DEAD, DEAD, NONE, ALIVE)
    assert cluster.ask_controller(MetadataRequest()) == "done"
    assert len(pauses) == 3


@pytest.mark.parametrize(("controller", "error"), [(DEAD, BrokerUnreachable), (NONE, ApiError)])
def test_looking_for_it_ends_with_the_timeout(pauses, controller, error):
    with pytest.raises(error):
        Looking(controller).ask_controller(MetadataRequest())
    assert 5 <= sum(pauses) < 6


def test_what_was_sent_is_not_sent_again(pauses):
    cluster = Looking(BROKEN, ALIVE)
    with pytest.raises(BrokerUnreachable):
        cluster.ask_controller(MetadataRequest())
    assert cluster.ports_asked == [BROKEN]
    assert pauses == []

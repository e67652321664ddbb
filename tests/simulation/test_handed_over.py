"""The checker of leaders with a full log directory that do not hand over; and a leader that does."""

from types import SimpleNamespace

import pytest

from broker.common.types import TopicPartition
from tests.simulation.handed_over import HANDED_OVER_WITHIN_US, HandOvers
from tests.simulation.history import History
from tests.simulation.timeline import Timeline

WHERE = TopicPartition("orders", 0)


class World:
    """Broker 1 leads one partition and is full; broker 2 is in sync and has room."""

    def __init__(self):
        self.timeline = Timeline()
        self.history = History(self.timeline)
        self.network = SimpleNamespace(is_any_cut=False)
        self.isr, self.full, self.disturbed = (1, 2), {1}, {1}
        self.controller = self.process_of(2)

    def process_of(self, broker_id):
        return SimpleNamespace(
            name=f"broker-{broker_id}",
            broker_id=broker_id,
            life=1,
            is_paused=False,
            has_full_directory=broker_id in self.full,
            leads=lambda partition, leader_epoch: True,
        )

    @property
    def running(self):
        return [self.process_of(1), self.process_of(2)]

    def states(self):
        return [(WHERE, SimpleNamespace(leader=1, leader_epoch=3, isr=self.isr), None)]

    def is_undisturbed(self, broker_id, since_us):
        return broker_id not in self.disturbed

    def look_twice(self) -> int:
        """How much is found by two looks that are further apart than the bound."""
        hand_overs = HandOvers(self)
        hand_overs.look()
        self.timeline.now_us += HANDED_OVER_WITHIN_US + 1
        hand_overs.look()
        return len(self.history.violations)


@pytest.fixture
def world():
    return World()


def test_a_full_leader_that_stays_is_found(world):
    assert world.look_twice() == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("isr", (1,)),
        ("full", {1, 2}),
        ("full", set()),
        ("disturbed", {1, 2}),
        ("controller", None),
        ("network", SimpleNamespace(is_any_cut=True)),
    ],
)
def test_one_whose_followers_or_controller_cannot_take_over_is_not(world, name, value):
    setattr(world, name, value)
    assert world.look_twice() == 0

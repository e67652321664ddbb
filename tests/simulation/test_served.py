"""The checker of coordinators that are led and not served."""

from types import SimpleNamespace

import pytest

from broker.common.types import TopicPartition
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC
from tests.simulation.history import History
from tests.simulation.served import SERVED_WITHIN_US, Service
from tests.simulation.timeline import Timeline

WHERE = TopicPartition(OFFSETS_TOPIC, 0)


class World:
    """A broker that leads one partition."""

    def __init__(self):
        self.timeline = Timeline()
        self.history = History(self.timeline)
        self.coordinated_partitions = [WHERE]
        self.is_leader, self.is_served, self.is_well = True, False, True
        self.running = [
            SimpleNamespace(
                name="broker-1",
                broker_id=1,
                life=1,
                disturbed_at_us=0,
                leads=lambda partition, leader_epoch: self.is_leader,
                serves=lambda partition: self.is_served,
            )
        ]

    def state_of(self, partition):
        return SimpleNamespace(leader_epoch=3)

    def is_undisturbed(self, broker_id, since_us):
        return self.is_well

    def look_twice(self) -> int:
        """How much is found by two looks that are further apart than the bound."""
        service = Service(self)
        service.look()
        self.timeline.now_us += SERVED_WITHIN_US + 1
        service.look()
        return len(self.history.violations)


@pytest.fixture
def world():
    return World()


def test_a_partition_that_is_led_and_not_served_is_found(world):
    assert world.look_twice() == 1


@pytest.mark.parametrize(("name", "value"), [("is_served", True), ("is_leader", False), ("is_well", False)])
def test_one_that_is_served_or_not_led_or_whose_broker_is_in_trouble_is_not(world, name, value):
    setattr(world, name, value)
    assert world.look_twice() == 0

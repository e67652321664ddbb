"""A coordinator's partition that is led by a broker whose disk can be read is served soon: also while faults go on."""

from typing import TYPE_CHECKING

from broker.common.types import TopicPartition
from tests.simulation.broker_process import BrokerProcess

if TYPE_CHECKING:
    from tests.simulation.world import World

SERVED_WITHIN_US = 5_000_000


class Service:
    """Looks now and then."""

    def __init__(self, world: "World"):
        self._world = world
        #: Since when a broker has led it without a fault and without serving it.
        self._unserved: dict[tuple[str, int, TopicPartition], int] = {}

    def look(self) -> None:
        now_us = self._world.timeline.now_us
        seen = {
            (process.name, process.life, partition): max(now_us, process.disturbed_at_us)
            for process in self._world.running
            for partition in self._led_unserved(process)
        }
        self._unserved = {item: self._unserved.get(item, since_us) for item, since_us in seen.items()}
        for (name, _, partition), since_us in list(self._unserved.items()):
            if now_us - since_us > SERVED_WITHIN_US:
                self._world.history.violate(
                    f"{name} leads {partition} and has not served it for {(now_us - since_us) / 1_000_000:.1f} s"
                )
                self._unserved = dict.fromkeys(self._unserved, now_us)

    def _led_unserved(self, process: BrokerProcess) -> list[TopicPartition]:
        if not self._world.is_undisturbed(process.broker_id, self._world.timeline.now_us):
            return []
        led = [
            partition
            for partition in self._world.coordinated_partitions
            if (state := self._world.state_of(partition)) and process.leads(partition, state.leader_epoch)
        ]
        return [partition for partition in led if not process.serves(partition)]

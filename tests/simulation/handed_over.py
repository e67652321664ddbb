"""A leader whose log directory is full leads no longer what an in-sync replica with room can lead: also while faults go
on, as long as neither of both, nor the controller, is struck by another one.
"""

from typing import TYPE_CHECKING

from broker.common.types import TopicPartition

if TYPE_CHECKING:
    from tests.simulation.world import World

HANDED_OVER_WITHIN_US = 1_500_000


class HandOvers:
    """Looks now and then."""

    def __init__(self, world: "World"):
        self._world = world
        #: Since when a broker with a full log directory has led it in that epoch, though another could.
        self._late: dict[tuple[str, int, TopicPartition, int], int] = {}
        #: Leaderships that a full broker did not keep.
        self.seen: set[tuple[str, int, TopicPartition, int]] = set()

    def look(self) -> None:
        now_us = self._world.timeline.now_us
        held = self._held_for_want_of_room(now_us)
        self.seen |= self._late.keys() - held
        self._late = {item: self._late.get(item, now_us) for item in held}
        for (name, _, partition, _), since_us in list(self._late.items()):
            if now_us - since_us > HANDED_OVER_WITHIN_US:
                late_s = (now_us - since_us) / 1_000_000
                self._world.history.violate(
                    f"{name} has led {partition} for {late_s:.1f} s with a full log directory, though one in sync "
                    "has room"
                )
                self._late = dict.fromkeys(self._late, now_us)

    def _held_for_want_of_room(self, now_us: int) -> set[tuple[str, int, TopicPartition, int]]:
        world = self._world
        controller = world.controller
        if controller is None or world.network.is_any_cut or not world.is_undisturbed(controller.broker_id, now_us):
            return set()
        held: set[tuple[str, int, TopicPartition, int]] = set()
        if not any(process.has_full_directory for process in world.running):
            return held
        for partition, state, _ in world.states():
            leader = world.process_of(state.leader)
            if leader is None or not leader.has_full_directory or not leader.leads(partition, state.leader_epoch):
                continue
            others = (world.process_of(broker_id) for broker_id in state.isr if broker_id != state.leader)
            with_room = [
                other
                for other in others
                if other is not None and world.is_undisturbed(other.broker_id, now_us) and not other.has_full_directory
            ]
            if with_room and not leader.is_paused:
                held.add((leader.name, leader.life, partition, state.leader_epoch))
        return held

"""Who holds what was acknowledged, so that a machine may lose its page cache without loss of anything promised.

An acknowledged record is promised to survive as long as one member of the ISR or of the ELR does. A machine that loses
power may have kept nothing of it, and until it is back nobody knows: should no other be left meanwhile, it leads again,
with what its disk kept (`election.state_after_loss` says why). So one machine at a time is without power, and nothing
strikes the last other one of these until that one is back. Everything else may go wrong at the same time.
"""

from typing import TYPE_CHECKING

from broker.common.types import TopicPartition
from broker.zookeeper import znodes
from tests.simulation.broker_process import BrokerProcess
from tests.simulation.ensemble import MACHINE as ZOOKEEPER

if TYPE_CHECKING:
    from tests.simulation.world import World


class Holders:
    def __init__(self, world: "World"):
        self._world = world

    def may_lose_power(self, process: BrokerProcess) -> bool:
        return self._without_power is None and self._holds_without(process)

    def may_be_struck(self, process: BrokerProcess) -> bool:
        """Whether `process` may leave the ISRs it is in: always, while every machine has power."""
        return self._without_power is None or self._holds_without(process)

    @property
    def _without_power(self) -> BrokerProcess | None:
        return next((process for process in self._world.brokers if process.is_without_power), None)

    def _holds_without(self, struck: BrokerProcess) -> bool:
        """Whether every ISR and ELR with the struck or the powerless broker has another member that is sure to stay.

        Where a state was removed it is not known who is in sync: nobody's log may lose anything then.
        """
        if any(self._world.state_of(partition) is None for partition in self._world.partitions):
            return False
        gone = {broker.broker_id for broker in (struck, self._without_power) if broker is not None}
        sure = {process.broker_id for process in self._world.brokers if self._is_sure(process)} - gone
        for partition, state, assignment in self._world.states():
            if not state.has_known_isr and gone.intersection(assignment.replicas):
                return False
            if gone.intersection(state.lossless_candidates):
                staying = set(assignment.target).intersection(assignment.origin, state.lossless_candidates)
                if not sure.intersection(staying, *self._about_to_be(partition)):
                    return False
        return True

    def _about_to_be(self, partition: TopicPartition) -> list[tuple[int, ...]]:
        """The ISRs that are on their way to ZooKeeper."""
        return [isr for process in self._world.brokers for isr in process.pending_isrs(partition)]

    def _is_sure(self, process: BrokerProcess) -> bool:
        """Serves, its disk is well, ZooKeeper hears it, and it has been registered for so long that everybody knows."""
        node = self._world.ensemble.tree.nodes.get(znodes.broker_path(process.broker_id))
        if not process.is_started or process.is_paused or process.is_in_disk_trouble or node is None:
            return False
        network, now_us = self._world.network, self._world.timeline.now_us
        if network.is_cut(process.name, ZOOKEEPER) or network.is_cut(ZOOKEEPER, process.name):
            return False
        session = self._world.ensemble.sessions[node.ephemeral_owner]
        was_heard = session.expires_at_us - now_us > session.timeout_us // 2
        return was_heard and self._world.ensemble.age_ms(node) > session.timeout_us // 1_000

"""Writes the ISR a leader wants to ZooKeeper, and tells the controller (Kafka's way before KIP-497).

A write stands only over the version the leader knows, so of two who believe to lead one at most changes anything. Until
the outcome is known the maximal ISR holds the high watermark back: of a membership that may already count, every member
has all that is committed.

Whoever is counted in must be registered still as it was when it caught up (KIP-903): what a machine held before it lost
power says nothing of what it holds now. One that registers after that look has raised the version (see `LostLogs`).
"""

import asyncio
from collections.abc import Callable, Coroutine

from broker.common.clock import Clock
from broker.common.cluster import LeaderAndIsr
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.replication.partition import LeadershipState
from broker.runtime.periodic import rounds
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

#: ISR changes of one moment make one notification; the controller need not be told each by itself.
_ANNOUNCE_AFTER_S = 0.05
_TRY_AGAIN_S = 0.5
#: Writes under way at one time; a broker that dies can leave thousands of partitions to shrink.
_WRITES_AT_ONCE = 64


class IsrUpdater:
    """Shrinks the ISRs of the partitions this broker leads by time, grows them on request."""

    def __init__(
        self,
        replicas: ReplicaManager,
        store: ClusterStore,
        is_live: Callable[[int], bool],
        lag_ms_max: int,
        clock: Clock,
        keeps_eligible: Callable[[], bool] = lambda: False,
    ):
        """`is_live`: whether the cluster counts a broker as alive. `lag_ms_max` may change at any time.

        `keeps_eligible`: whether the cluster keeps eligible leader replicas (KIP-966). A state written without them is
        one of which none is eligible: always true, and the next who leads is found among fewer.
        """
        self._replicas = replicas
        self._store = store
        self._is_live = is_live
        self.lag_ms_max = lag_ms_max
        self._clock = clock
        self._keeps_eligible = keeps_eligible
        replicas.on_role.append(self.clear_elr)
        replicas.on_config.append(self.clear_elr)
        self._turn = asyncio.Semaphore(_WRITES_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed: set[TopicPartition] = set()
        self._announcing: asyncio.Task[None] | None = None
        self.shrinks = 0
        self.expands = 0

    def start(self) -> None:
        self._start(rounds(self._look_after_a_while))

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def consider(self, hosted: HostedPartition, replica_id: int) -> None:
        """Add a follower that has caught up to the ISR, unless the cluster counts its broker as dead.

        It would be of no use: the controller elects only who is registered.
        """
        isr = hosted.partition.isr_with(replica_id)
        if isr is not None and self._is_live(replica_id):
            self._want(hosted, isr)

    def _consider_all(self, hosted: HostedPartition) -> None:
        """Consider followers that caught up while another change was under way, or while their broker counted as dead.

        Not who has fallen silent: while the high watermark stands still, below min.insync.replicas, it would be counted
        in and out by turns.
        """
        partition, now_ms = hosted.partition, self._clock.monotonic_ms()
        for replica_id in partition.followers:
            if not partition.lags(replica_id, now_ms, self.lag_ms_max):
                self.consider(hosted, replica_id)

    def clear_elr(self, hosted: HostedPartition) -> None:
        """Write the ISR of a partition led here without an ELR, if it has enough members: nothing is committed before.

        Called when the role or min.insync.replicas may have changed.
        """
        isr = hosted.partition.isr_to_write_without_elr()
        if isr is not None:
            self._want(hosted, isr)

    def _want(self, hosted: HostedPartition, isr: tuple[int, ...]) -> None:
        """Make `isr` the partition's; nothing else is wanted of it until that is decided.

        Who cannot read its log any more judges nobody, even before the loop has heard of it (`Partition.go_offline`).
        """
        if hosted.log.is_offline:
            return
        partition, role = hosted.partition, hosted.partition.state
        assert role is not None  # else there is no ISR to change
        partition.pending_isr = isr
        joining = {one: partition.followers[one].broker_epoch for one in isr if one not in role.isr}
        self._start(self._write(hosted, role, isr, joining))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_after_a_while(self) -> None:
        """Look at followers in Kafka's rhythm: half the lag allowed, so that a follower is out after at most one and a
        half of it.
        """
        await asyncio.sleep(self.lag_ms_max / 2000)
        now_ms = self._clock.monotonic_ms()
        for hosted in list(self._replicas):
            try:
                self._look_at(hosted, now_ms)
            except Exception:  # the others are looked at all the same
                _log.exception("isr not looked at", partition=str(hosted.partition.topic_partition))

    def _look_at(self, hosted: HostedPartition, now_ms: int) -> None:
        isr = hosted.partition.isr_without_laggards(now_ms, self.lag_ms_max)
        if isr is not None:
            self._want(hosted, isr)
        self.clear_elr(hosted)
        self._consider_all(hosted)

    async def _write(
        self, hosted: HostedPartition, role: LeadershipState, isr: tuple[int, ...], joining: dict[int, int]
    ) -> None:
        """Write the ISR, retried until ZooKeeper answers: the write may count meanwhile."""
        partition = hosted.partition
        elr = partition.elr_beside(isr) if self._keeps_eligible() else ()
        wanted = LeaderAndIsr(role.leader, role.leader_epoch, isr, role.controller_epoch, role.zk_version, elr=elr)
        while partition.state is role:
            try:
                async with self._turn:
                    state = await self._try(partition.topic_partition, wanted, joining)
                if partition.state is role:
                    self._decided(hosted, role, state)
                return
            except (ZooKeeperError, MalformedZnode) as error:
                _log.warning("isr not written yet", partition=str(partition.topic_partition), reason=str(error))
            except Exception:
                _log.exception("isr not written yet", partition=str(partition.topic_partition))
            await asyncio.sleep(_TRY_AGAIN_S)

    async def _try(
        self, topic_partition: TopicPartition, wanted: LeaderAndIsr, joining: dict[int, int]
    ) -> LeaderAndIsr | None:
        """Write the ISR and return the state in ZooKeeper afterwards. Nothing is written if a broker of `joining` has
        restarted.
        """
        for replica_id, broker_epoch in joining.items():
            if await self._store.registered_epoch(replica_id) != broker_epoch:
                return await self._store.state(topic_partition)
        return await self._store.write_isr(topic_partition, wanted)

    def _decided(self, hosted: HostedPartition, before: LeadershipState, state: LeaderAndIsr | None) -> None:
        """Apply the state that ZooKeeper holds: the ISR of our epoch, as wanted or as written before.

        What stands there of a later epoch may have followed upon the ISR we wanted, so that stays pending, as in Kafka:
        its members may have been elected since, and nothing counts as committed without them. LeaderAndIsr, or
        StopReplica, ends that. The controller that wrote the later epoch sends it, or its successor; of one that no
        controller wrote (`LostLogs`) it hears by the announcement.
        """
        partition = hosted.partition
        if state is None or (state.leader, state.leader_epoch) != (before.leader, before.leader_epoch):
            _log.info("isr is no longer ours to change", partition=str(partition.topic_partition), stored=str(state))
            self._announce(partition.topic_partition)
            return
        if state.zk_version == before.zk_version:
            _log.info("isr not changed, a follower registered again", partition=str(partition.topic_partition))
            self._replicas.isr_written(hosted, state.isr, state.zk_version, state.elr)
            return
        _log.info("isr changed", partition=str(partition.topic_partition), was=str(before.isr), isr=str(state.isr))
        self.shrinks += len(set(before.isr) - set(state.isr))
        self.expands += len(set(state.isr) - set(before.isr))
        self._replicas.isr_written(hosted, state.isr, state.zk_version, state.elr)
        self._announce(partition.topic_partition)
        self.clear_elr(hosted)
        self._consider_all(hosted)

    def _announce(self, topic_partition: TopicPartition) -> None:
        self._changed.add(topic_partition)
        if self._announcing is None or self._announcing.done():
            self._announcing = asyncio.get_running_loop().create_task(self._announce_changes())
            self._tasks.add(self._announcing)
            self._announcing.add_done_callback(self._tasks.discard)

    async def _announce_changes(self) -> None:
        while self._changed:
            await asyncio.sleep(_ANNOUNCE_AFTER_S)
            changed, self._changed = self._changed, set()
            try:
                await self._store.announce_isr_changes(changed)
                continue
            except ZooKeeperError as error:
                _log.warning("controller not notified of a new isr yet", reason=str(error))
            except Exception:
                _log.exception("controller not notified of a new isr yet")
            self._changed |= changed
            await asyncio.sleep(_TRY_AGAIN_S)

"""What a broker does before it registers when its logs may lack what they had: it leaves the ISRs it is still in.

Every start compares ZooKeeper's assignment with the logs: a partition's directory that was removed, or one of several
log directories that was replaced or taken out of the configuration, leaves no other trace (KAFKA-14139). Checkpoints
name no partition that was made since they were written, and go with their directory. So a partition whose role had not
arrived when the broker was killed counts as lost as well. That is harmless: another member of the ISR leads it, or the
broker itself in a later epoch, once all other replicas have reported that they have no log either. Until then a broker
that was the last of the ISR makes no log, and refuses to lead: another replica may have every record. For the same
reason it sets a log aside that comes from a backup, unless all other replicas have reported losses. A broker that has
records of the partition aside, in a stray, reports no missing log, nor does it make one: what is aside may be all that
is left, and an operator says what counts.

Nobody else can be relied upon to notice that it was away. If the controller dies at the same time, the next one finds
the broker registered, and what leaders write meanwhile names it as before; then it would lead on, or be elected, with a
log that has lost its end. So it corrects the states itself, after its earlier registration is gone and before there is
a new one. What counts as lost is `LogManager.has_whole`'s to say.

Leaders that are about to count the earlier life in are fenced by this: every state is written, even one that needs no
change, and a write to an ISR stands only over the version it was derived from (see `IsrUpdater`).
"""

import asyncio
from collections.abc import Callable, Collection, Mapping

from broker.common.cluster import NO_LOG, LeaderAndIsr, LogLoss, TopicAssignment
from broker.common.errors import ApiError, NotNowError
from broker.common.logs import logger
from broker.common.types import NO_BROKER, NO_LEADER_EPOCH, TopicPartition
from broker.controller.election import may_lead_empty, state_after_loss
from broker.log.manager import LogManager
from broker.runtime.replication.hosted_partition import extent_of
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_WRITES_AT_ONCE = 64


class LostLogs:
    """Removes this broker from the ISRs and ELRs of partitions whose logs are missing or doubted by `LogManager`."""

    def __init__(
        self, store: ClusterStore, broker_id: int, logs: LogManager, keeps_eligible: Callable[[], bool] = lambda: False
    ):
        """`keeps_eligible`: whether the cluster keeps eligible leader replicas (KIP-966)."""
        self._keeps_eligible = keeps_eligible
        self._store = store
        self._broker_id = broker_id
        self._logs = logs
        self._turn = asyncio.Semaphore(_WRITES_AT_ONCE)

    async def leave_isrs(
        self, topics: Collection[TopicAssignment], states: Mapping[TopicPartition, LeaderAndIsr]
    ) -> None:
        """Leave them, and correct in `states`, those of the logs that are here, losses that are none any more.

        Raises the errors of `broker.zookeeper.errors` and NotNowError; the next start then does it again, whatever was
        done.
        """
        lost = {
            TopicPartition(topic.topic, index): (topic.topic_id, replicas)
            for topic in topics
            for index, replicas in topic.partitions.items()
            if self._broker_id in replicas
            and not self._logs.has_whole(TopicPartition(topic.topic, index), topic.topic_id)
        }
        topic_ids = {partition: topic_id for partition, (topic_id, _) in lost.items()}
        await asyncio.to_thread(self._logs.find_records_aside, topic_ids)
        await asyncio.gather(*(self._leave(partition, replicas) for partition, (_, replicas) in lost.items()))
        back = [partition for partition, state in states.items() if partition not in lost and self._has_lost(state)]
        await asyncio.gather(*(self._correct_loss(partition) for partition in back))
        if self._logs.may_lack_records:
            await asyncio.to_thread(self._logs.note_machine_start)

    async def _leave(self, partition: TopicPartition, replicas: tuple[int, ...]) -> None:
        loss, is_out_of_reach = self._loss_of(partition), self._logs.is_out_of_reach(partition)
        async with self._turn:
            state = await self._store.state(partition)
            while state is not None:
                is_noted = not is_out_of_reach and not await self._is_registered(state.leader)
                wanted = self._state_after(state, loss, is_noted=is_noted)
                if self._is_surpassed(partition, replicas, wanted):
                    self._set_restored_aside(partition, loss)
                    loss = self._loss_of(partition)
                    continue
                before, state = state, await self._store.write_isr(partition, wanted)
                if state is not None and state == wanted.at_version(state.zk_version):
                    if self._is_missing(partition) and not is_out_of_reach:
                        self._withhold(partition, replicas, wanted, is_noted=is_noted)
                    self._report(partition, before, wanted)
                    return

    def _state_after(self, state: LeaderAndIsr, loss: LogLoss, *, is_noted: bool) -> LeaderAndIsr:
        return state_after_loss(state, loss, is_noted=is_noted, keeps_eligible=self._keeps_eligible())

    def _is_surpassed(self, partition: TopicPartition, replicas: tuple[int, ...], wanted: LeaderAndIsr) -> bool:
        """Return whether the log, which `wanted` has lead, is from a backup, and another replica may have more.

        Not if another member of the ISR lost its end: it would lead instead, and has less.
        """
        if self._is_missing(partition) or partition not in self._logs.restored:
            return False
        if wanted.leader_candidates != (self._broker_id,):
            return False
        others = [loss for loss in wanted.log_losses if loss.broker_id != self._broker_id]
        heard = {loss.broker_id for loss in others} | {self._broker_id}
        return all(loss.is_total for loss in others) and not heard.issuperset(replicas)

    def _set_restored_aside(self, partition: TopicPartition, loss: LogLoss) -> None:
        """Raises NotNowError: the log would lead if it stayed."""
        reason = (
            f"a backup was restored, whose log ends at {loss.end_offset} in epoch {loss.last_epoch}; to have it lead "
            "with that, move it back to its place and start this broker again"
        )
        try:
            aside = self._logs.set_aside_as_stray(partition, reason)
            self._logs.records_aside.setdefault(partition, []).append(aside)
        except ApiError as error:
            raise NotNowError(f"{error.message}; mend the disk and start the broker again") from error

    def _has_lost(self, state: LeaderAndIsr) -> bool:
        return any(loss.broker_id == self._broker_id for loss in state.log_losses)

    async def _correct_loss(self, partition: TopicPartition) -> None:
        """Correct the state of a log that an earlier start reported as lost and that is back: no replica with less may
        lead.
        """
        async with self._turn:
            state = await self._store.state(partition)
            while state is not None and self._has_lost(state) and self._broker_id not in state.leader_candidates:
                wanted = self._state_after(state, self._loss_of(partition), is_noted=True)
                if wanted == state:
                    return
                state = await self._store.write_isr(partition, wanted)

    def _is_missing(self, partition: TopicPartition) -> bool:
        return self._logs.get(partition) is None

    def _loss_of(self, partition: TopicPartition) -> LogLoss:
        log = self._logs.get(partition)
        if log is None:
            is_all_lost = partition not in self._logs.records_aside
            return LogLoss(self._broker_id, NO_LEADER_EPOCH, NO_LOG if is_all_lost else 0)
        return LogLoss(self._broker_id, *extent_of(log))

    async def _is_registered(self, broker_id: int) -> bool:
        """Return whether the broker lives, but for this one, whose earlier registration is gone."""
        if broker_id in (NO_BROKER, self._broker_id):
            return False
        return await self._store.registered_epoch(broker_id) is not None

    def _withhold(
        self, partition: TopicPartition, replicas: tuple[int, ...], state: LeaderAndIsr, *, is_noted: bool
    ) -> None:
        """Have no log made where it might lead: before it is certain that no other replica has records, and while this
        one has some aside. Until another replica leads, one that is not in the ISR may be chosen by its loss.
        """
        is_last = state.leader_candidates == (self._broker_id,)
        if partition in self._logs.records_aside:
            if not is_noted and not is_last:
                return
        elif not is_last or may_lead_empty(state, replicas, self._broker_id):
            return
        self._logs.withheld.add(partition)
        _log.warning(
            "log is missing, and no other replica was in sync: the partition has no leader"
            if is_last
            else "log is missing, and none is made before another replica leads",
            partition=str(partition),
            next_step=self._logs.recovery_advice(partition),
            replicas=str(replicas),
        )

    def _report(self, partition: TopicPartition, before: LeaderAndIsr, after: LeaderAndIsr) -> None:
        if after.lossless_candidates != before.lossless_candidates:
            elr = {"elr": str(after.elr)} if self._keeps_eligible() else {}
            _log.warning("log may lack records, left the isr", partition=str(partition), isr=str(after.isr), **elr)
        if self._broker_id in after.leader_candidates:
            _log.warning("log may lack records that no other replica is known to have", partition=str(partition))

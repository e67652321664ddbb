"""Defects the product once had, put back: `--defect NAME` of the simulation shows whether it would find them today.

A checker that has never said no proves nothing. Each defect undoes one mend, in the process that runs the seed.
"""

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace

from broker.common.cluster import LeaderAndIsr, LogLoss
from broker.common.errors import ErrorCode
from broker.common.types import NO_BROKER, TopicPartition
from broker.controller import state_restoration
from broker.coordinator.consumer_group import offsets as consumer_group_offsets
from broker.coordinator.consumer_group.draft import GroupDraft
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.outcome import CoordinatorTurn
from broker.coordinator.transaction import answers, coordinator, ending
from broker.coordinator.transaction.states import TransactionPhase
from broker.log import producer_snapshots
from broker.log.compaction.log_cleaner import LogCleaner
from broker.protocol.messages.end_txn import EndTxnResponse
from broker.replication.leader_link import FollowerPosition
from broker.replication.partition import ReplicaPartition
from broker.runtime.coordinators import coordinator_runtime
from broker.runtime.coordinators.coordinator_runtime import CoordinatorRuntime
from broker.runtime.coordinators.loading import replay_all
from broker.runtime.coordinators.shard import Shard
from broker.runtime.replication import lost_logs
from broker.runtime.replication.replica_fetchers import ReplicaFetcher
from broker.runtime.replication.transactional_appends import TransactionalAppends


def put_back(name: str) -> None:
    """For the rest of this process; KeyError for a defect nobody knows."""
    DEFECTS[name]()


def _replace(owner: object, name: str, defective: object) -> None:
    """Raise KeyError if `owner` has nothing of that name any more: the defect would change nothing."""
    vars(owner)[name]
    setattr(owner, name, defective)


def _commit_below_min_isr() -> None:
    """The high watermark passes what the last replica in sync holds, however many were asked for (KAFKA-15583)."""

    def ungated(method: Callable[..., bool]) -> Callable[..., bool]:
        def moves(self: ReplicaPartition, *arguments: int) -> bool:
            held_back = self.is_under_min_isr, self.has_eligible
            self.is_under_min_isr = self.has_eligible = False
            try:
                return method(self, *arguments)
            finally:
                self.is_under_min_isr, self.has_eligible = held_back

        return moves

    _replace(ReplicaPartition, "record_append", ungated(ReplicaPartition.record_append))
    _replace(ReplicaPartition, "_advance_high_watermark", ungated(ReplicaPartition._advance_high_watermark))


def _coordinate_below_min_isr() -> None:
    """And coordinators answer and send markers because of that."""
    _commit_below_min_isr()
    _replace(Shard, "is_in_sync", property(lambda shard: True))


def _everything_waits() -> None:
    """Heartbeats and fetched offsets queue behind what is not replicated yet, without a deadline."""
    _replace(CoordinatorTurn, "answer_at_once", CoordinatorTurn.answer)
    _replace(CoordinatorRuntime, "_answer_overdue", lambda runtime, shard, now_ms: None)


def _fetched_offsets_wait() -> None:
    """After a change of coordinators an OffsetFetch waits until what was loaded is committed."""

    def offset_fetch(self: GroupCoordinator, request, api_version, token, now_ms):
        turn = self._turn(now_ms)
        answer = turn.answer_at_once if self._progress.is_load_committed else turn.answer
        answer(token, self._offsets.fetch(request, api_version))
        return self._end(turn)

    _replace(GroupCoordinator, "offset_fetch", offset_fetch)


def _believe_outdated_snapshots() -> None:
    """A snapshot of producers counts though records behind it are deleted that it knows nothing of."""
    newest = producer_snapshots.newest_snapshot
    from_the_beginning = [SimpleNamespace(base_offset=0)]
    _replace(producer_snapshots, "newest_snapshot", lambda directory, segments: newest(directory, from_the_beginning))


def _loaded_once_or_never() -> None:
    """A coordinator whose load failed once is not loaded again."""

    async def load_once(shard, new_coordinator, finish, not_loaded, turns) -> None:
        try:
            await replay_all(shard, turns)
            finish(shard)
        except Exception:
            not_loaded.add(shard.partition)

    _replace(coordinator_runtime, "load", load_once)


def _clean_in_vain() -> None:
    """A log with a transaction that ends in its active segment is the filthiest for ever, and no other has its turn."""
    _replace(LogCleaner, "_waits", lambda cleaner, partition, plan: False)


def _acknowledge_before_fsync() -> None:
    """Where fsyncs are asked for (flush.messages), a follower says it holds what came during one as well."""

    def position(self: ReplicaFetcher, topic_partition: TopicPartition) -> FollowerPosition:
        log = self._replicas.get(*topic_partition).log
        end = log.log_end_offset
        return FollowerPosition(end, log.leader_epoch_at(end - 1), log.log_start_offset)

    _replace(ReplicaFetcher, "_position", position)


def _last_to_start_leads() -> None:
    """Of brokers that all report losses the last to start is the sole member of the ISR, with a log or without."""

    def after_loss(state: LeaderAndIsr, loss: LogLoss, *, is_noted: bool, keeps_eligible: bool) -> LeaderAndIsr:
        others = tuple(replica for replica in state.lossless_candidates if replica != loss.broker_id)
        leader = NO_BROKER if state.leader == loss.broker_id else state.leader
        return state.next(leader, others or (loss.broker_id,), state.controller_epoch).without_eligible()

    _replace(lost_logs, "state_after_loss", after_loss)
    _replace(lost_logs, "may_lead_empty", lambda state, replicas, broker_id: True)


def _last_in_sync_leads_without_its_tail() -> None:
    """A broker that lost the end of its log stays eligible if no other was in sync when it went (KIP-966)."""
    after_loss = lost_logs.state_after_loss

    def stays(state: LeaderAndIsr, loss: LogLoss, *, is_noted: bool, keeps_eligible: bool) -> LeaderAndIsr:
        if state.isr == (loss.broker_id,) or loss.broker_id in state.elr:
            return state.next(NO_BROKER, state.isr, state.controller_epoch)
        return after_loss(state, loss, is_noted=is_noted, keeps_eligible=keeps_eligible)

    _replace(lost_logs, "state_after_loss", stays)


def _lagging_replica_leads() -> None:
    """Of a partition whose state was removed whoever is alive counts as in sync, when a broker tells of its log."""

    def restored(assignment, state, role, online, controller_epoch) -> LeaderAndIsr | None:
        isr = tuple(replica for replica in assignment if replica in online)
        if role.leader_epoch < state.leader_epoch or state.has_leader or not isr:
            return None
        return LeaderAndIsr(isr[0], state.leader_epoch + role.leader_epoch + 1, isr, controller_epoch, state.zk_version)

    _replace(state_restoration, "restored_state", restored)


def _late_ends_count() -> None:
    """An EndTxn of a transaction that has ended ends the next one, too (KAFKA-17754)."""
    end = coordinator.ended_under_next_epoch

    def ended(transaction, request, fresh_producer_id, now_ms):
        if transaction is not None and transaction.state is TransactionPhase.ONGOING:
            request = copy(request)
            request.producer_epoch = transaction.producer_epoch
        return end(transaction, request, fresh_producer_id, now_ms)

    _replace(coordinator, "ended_under_next_epoch", ended)


def _late_batches_count() -> None:
    """A coordinator adds partitions for whatever epoch of a producer a leader names."""
    error_of = coordinator.producer_error

    def error(transactional_id, transaction, producer_id, producer_epoch):
        epoch = producer_epoch if transaction is None else transaction.producer_epoch
        return error_of(transactional_id, transaction, producer_id, epoch)

    _replace(coordinator, "producer_error", error)


def _verdicts_count_for_nothing() -> None:
    """A leader lets a batch open a transaction that its coordinator has refused."""
    _replace(TransactionalAppends, "_check", lambda appends, sent, topic_partition: None)


def _refuse_repeated_ends() -> None:
    """Who asks again for an end that has raised the epoch is taken for a producer that was fenced."""
    _replace(ending, "_is_repeated", lambda transaction, request: False)


def _answer_epochs_that_are_not_raised() -> None:
    """A coordinator that has not heard of the upgrade answers the epoch as if it was a new one."""

    def ended(transaction, *, raises_epoch):
        producer_id, epoch = transaction.after_completion
        return EndTxnResponse(producer_id=producer_id, producer_epoch=epoch)

    _replace(answers, "ended", ended)


def _assign_what_others_have() -> None:
    """A member of a consumer group does not wait for what others have to give up."""
    _replace(GroupDraft, "is_free", lambda draft, topic_id, index: True)


def _commit_when_expelled() -> None:
    """Who was a member of a consumer group may commit for it."""
    _replace(consumer_group_offsets, "commit_error", lambda group, request, api_version, topics: ErrorCode.NONE)


DEFECTS: dict[str, Callable[[], None]] = {
    "coordinators-below-min-isr": _coordinate_below_min_isr,
    "readers-below-min-isr": _commit_below_min_isr,
    "heartbeats-wait": _everything_waits,
    "fetched-offsets-wait": _fetched_offsets_wait,
    "outdated-producers": _believe_outdated_snapshots,
    "loaded-once-or-never": _loaded_once_or_never,
    "passes-in-vain": _clean_in_vain,
    "acknowledged-before-fsync": _acknowledge_before_fsync,
    "last-to-start-leads": _last_to_start_leads,
    "last-in-sync-leads-without-its-tail": _last_in_sync_leads_without_its_tail,
    "lagging-replica-leads": _lagging_replica_leads,
    "late-ends-count": _late_ends_count,
    "late-batches-count": _late_batches_count,
    "verdicts-count-for-nothing": _verdicts_count_for_nothing,
    "repeated-ends-refused": _refuse_repeated_ends,
    "epochs-answered-not-raised": _answer_epochs_that_are_not_raised,
    "partitions-of-others": _assign_what_others_have,
    "commits-of-the-expelled": _commit_when_expelled,
}

"""A partition this broker hosts, what came of writing and reading it, and who is told of that."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVarTuple
from uuid import UUID

from broker.common.cluster import NO_LOG, RECOVERING, LastRole
from broker.common.errors import InvariantViolation
from broker.common.logs import logger
from broker.common.types import NO_BROKER, NO_LEADER_EPOCH
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState
from broker.replication.partition import LeadershipState, ReplicaPartition
from broker.runtime.audit.append_count import AppendCount

_log = logger(__name__)

#: Before a listener that did not take a role hears of it again; it may raise for ever.
_TELL_AGAIN_S = 5.0

#: What a listener hears besides the partition.
More = TypeVarTuple("More")


@dataclass(slots=True)
class HostedPartition:
    """A partition with its log on this broker."""

    partition: ReplicaPartition
    log: Log
    topic_id: UUID
    #: What is appended is counted, if its topic asks for that and this broker leads it.
    count: AppendCount | None = None


class ProduceResult(NamedTuple):
    base_offset: int
    #: Exclusive: committed when the high watermark has come here.
    end_offset: int
    log_start_offset: int
    hosted: HostedPartition
    #: -1 unless the records carry the broker's time.
    log_append_time_ms: int


class ReadResult(NamedTuple):
    """What a consumer may see of a partition, and the records it asked for."""

    slice: LogSlice
    high_watermark: int
    #: Exclusive: below it every transaction is decided.
    last_stable_offset: int
    #: Exclusive: how far this reader may read, one of the two.
    end_offset: int
    log_start_offset: int
    log: Log


def known_here(hosted: HostedPartition | None) -> HostedPartition:
    """Return the result of `ReplicaManager.get` for a partition that is hosted; InvariantViolation if it is None."""
    if hosted is None:
        raise InvariantViolation("a partition that is followed is not hosted")
    return hosted


def role_of(state: LeaderAndIsrPartitionState) -> LeadershipState:
    """Return what LeaderAndIsr says of a partition."""
    return LeadershipState(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        controller_epoch=state.controller_epoch,
        zk_version=state.partition_epoch,
        is_recovering=state.leader_recovery_state == RECOVERING,
        elr=tuple(state.eligible_leader_replicas),
    )


def extent_of(log: Log) -> tuple[int, int]:
    """Return the latest leader epoch and the end of the log: the greater of two logs has what the other has, and more.

    Also of a log whose records are all deleted: it knows their epoch. (-1, 0) if there never was a record.
    """
    end_offset = log.log_end_offset
    return (log.leader_epochs.latest_epoch if end_offset else NO_LEADER_EPOCH), end_offset


def extent_without_leader(hosted: HostedPartition | None) -> tuple[int, int]:
    """Return the extent of the log of a partition that has no leader; (-1, -1) of any other."""
    if hosted is None or hosted.partition.state is None or hosted.partition.state.leader != NO_BROKER:
        return NO_LEADER_EPOCH, NO_LOG
    return extent_of(hosted.log)


def last_role(hosted: HostedPartition | None) -> LastRole:
    """Return the role of the highest leader epoch, (-1, -1, ()) of a partition that is not hosted.

    The log knows an epoch longer than a broker lives.
    """
    if hosted is None:
        return LastRole(NO_LEADER_EPOCH)
    logged, role = hosted.log.leader_epochs.latest_epoch, hosted.partition.state
    if role is None or role.leader_epoch < logged:
        return LastRole(logged)
    return LastRole(role.leader_epoch, role.leader, role.isr)


def is_of_earlier_state(hosted: HostedPartition, first: LeadershipState) -> bool:
    """Return whether the partition had a role, here or as its log tells, before the `first` of a new partition.

    Its state was removed from ZooKeeper: the first epoch of the new one may have been used. A controller that tells the
    same role again is the one that told it before.
    """
    role = hosted.partition.state
    if first.leader_epoch > 0:
        return False
    if role is None:
        return first.leader_epoch <= hosted.log.leader_epochs.latest_epoch
    return first.leader_epoch <= role.leader_epoch and first.controller_epoch > role.controller_epoch


def readable_end_offset(hosted: HostedPartition, is_stable_only: bool) -> int:
    """Return the readable end (exclusive): the last stable offset for read_committed, the high watermark for others."""
    high_watermark = hosted.partition.high_watermark
    return hosted.log.last_stable_offset(high_watermark) if is_stable_only else high_watermark


async def find_time(hosted: HostedPartition, timestamp_ms: int | None) -> tuple[int, int] | None:
    """Return (offset, timestamp) of the first record of that time or later; None asks for the newest time.

    Reading headers may take a while, so a worker thread does it, unless nothing has changed since it was asked last: of
    partitions that rest the console asks again and again.
    """
    if (known := hosted.log.looked_up(timestamp_ms)) is not None:
        return known.entry
    if timestamp_ms is None:
        return await asyncio.to_thread(hosted.log.max_timestamp_offset)
    return await asyncio.to_thread(hosted.log.offset_for_timestamp, timestamp_ms)


def tell(
    listeners: Sequence[Callable[[HostedPartition, *More], object]], hosted: HostedPartition, *more: *More
) -> bool:
    """Call every listener, also after one has failed. False if one failed."""
    is_told = True
    for listener in listeners:
        try:
            listener(hosted, *more)
        except Exception:
            _log.exception("listener failed", partition=str(hosted.partition.topic_partition), listener=repr(listener))
            is_told = False
    return is_told


class RoleListeners(list[Callable[[HostedPartition], None]]):
    """Listeners of role changes. One that raises is called again after a pause, with the role of then. Who raises is
    told again after a pause, of the role as it is by then: what nobody follows or coordinates would stay so. Anybody
    may therefore hear of the same role twice.
    """

    def __init__(self, current: Callable[[HostedPartition], HostedPartition]):
        super().__init__()
        self._current = current

    def tell(self, hosted: HostedPartition) -> None:
        for listener in self:
            self._notify_one(listener, hosted)

    def _notify_one(self, listener: Callable[[HostedPartition], None], hosted: HostedPartition) -> None:
        if not tell([listener], hosted):
            asyncio.get_running_loop().call_later(_TELL_AGAIN_S, self._notify_again, listener, hosted)

    def _notify_again(self, listener: Callable[[HostedPartition], None], hosted: HostedPartition) -> None:
        self._notify_one(listener, self._current(hosted))

"""What one replica of a partition believes, and what it may do because of it.

The controller tells a replica its role (LeaderAndIsr); its own log and the fetches of the followers tell it how far
each replica has come. From these follow the high watermark, the ISR a leader wants, and the answers "not the leader",
"fenced", "unknown epoch" (KIP-320).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from broker.common.eligible_leaders import eligible_leaders
from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.types import NO_LEADER_EPOCH, TopicPartition
from broker.replication.follower_state import UNKNOWN_BROKER_EPOCH, FollowerState


@dataclass(frozen=True, slots=True)
class LeadershipState:
    """What LeaderAndIsr said of a partition; a leader replaces ISR, ELR and version by what it has written itself."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    controller_epoch: int
    zk_version: int
    #: The leader lacks what others may hold, and has no follower in sync yet (KIP-704).
    is_recovering: bool = False
    #: Eligible leader replicas (KIP-966): while there are any, a leader commits nothing that they may lack.
    elr: tuple[int, ...] = ()


@dataclass(slots=True)
class ReplicaPartition:
    """One replica's view of its partition; `broker_id` is who we are. Times are monotonic."""

    topic_partition: TopicPartition
    broker_id: int
    #: Exclusive: every record below is committed. Never moves backwards within one leader epoch.
    high_watermark: int = 0
    state: LeadershipState | None = None
    #: Where the log ended when this leader epoch began; nobody joins the ISR below it.
    epoch_start_offset: int = 0
    log_end_offset: int = 0
    #: The other replicas as their fetches show them; empty unless we lead.
    followers: dict[int, FollowerState] = field(default_factory=dict)
    #: The ISR that is being written to ZooKeeper, or that may have stood there before what stands there now, of which
    #: LeaderAndIsr will say more; None when there is none.
    pending_isr: tuple[int, ...] | None = None
    #: What whoever asks hears while there is no role.
    refusal: ErrorCode = ErrorCode.NOT_LEADER_OR_FOLLOWER
    #: What the topic asks for; set by `require_in_sync`.
    min_insync_replicas: int = 1
    #: A leader's ISR is smaller than the topic asks for: nothing more counts as committed, acks=all is refused.
    is_under_min_isr: bool = False

    #: A leader's state has an ELR: nothing more counts as committed, until the state is written without.
    has_eligible: bool = False

    @property
    def is_leader(self) -> bool:
        return self.state is not None and self.state.leader == self.broker_id

    @property
    def is_in_sync(self) -> bool:
        """Whether this replica was in the ISR when it was last told its role; a leader's ISR may have changed since."""
        return self.state is not None and self.broker_id in self.state.isr

    @property
    def has_recovering_leader(self) -> bool:
        """Whether the leader was elected from outside the ISR, or after it had lost the end of its log."""
        return self.state is not None and self.state.is_recovering

    @property
    def leader_epoch(self) -> int:
        return self.state.leader_epoch if self.state else NO_LEADER_EPOCH

    def apply(
        self, state: LeadershipState, log_end_offset: int, now_ms: int = 0, *, fsynced_end: int | None = None
    ) -> bool:
        """Take a new state; False if it is older than the current one and ignored.

        `fsynced_end`: of a topic that asks for fsyncs, if not all is; a leader holds no more until `record_flushed`.
        """
        before = self.state
        if before and state.leader_epoch < before.leader_epoch:
            return False
        is_new_epoch = before is None or state.leader_epoch > before.leader_epoch
        if before and not is_new_epoch and state.zk_version <= before.zk_version:
            # Told again, perhaps by a controller that has not read yet how we changed the ISR. What we know counts, and
            # an ISR that is being written stays pending: it may stand in ZooKeeper already.
            return True
        self.state = state
        self.pending_isr = None
        self.log_end_offset = log_end_offset
        self.high_watermark = min(self.high_watermark, log_end_offset)
        self._compare_with_min_isr(state)
        if not self.is_leader:
            self.followers = {}
            return True
        if is_new_epoch:
            self.epoch_start_offset = log_end_offset
            self.followers = {}
        others = {*state.replicas, *state.isr} - {self.broker_id}
        self.followers = {
            other: self.followers.get(other) or FollowerState(last_caught_up_ms=now_ms) for other in others
        }
        if fsynced_end is not None:
            self.log_end_offset = min(log_end_offset, fsynced_end)
        self._advance_high_watermark()
        return True

    def go_offline(self) -> None:
        """Give up every role: the log is lost with its disk, so nothing more is committed and no ISR changed.

        Followers of a leader that cannot read lag without a fault of theirs; were they counted out, what nobody but
        the broken disk holds would be committed. Kafka's `markOffline`.
        """
        self.resign()
        self.refusal = ErrorCode.KAFKA_STORAGE_ERROR

    def resign(self) -> None:
        """Give up the role until the controller assigns one."""
        self.state, self.pending_isr, self.followers = None, None, {}

    # -- what clients may

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Raise FENCED_LEADER_EPOCH for an epoch that is over, UNKNOWN_LEADER_EPOCH for one not heard of yet."""
        if self.state is None:
            raise ApiError(self.refusal)
        if current_leader_epoch != NO_LEADER_EPOCH:
            if current_leader_epoch < self.leader_epoch:
                raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
            if current_leader_epoch > self.leader_epoch:
                raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def check_leader(self, current_leader_epoch: int = NO_LEADER_EPOCH) -> None:
        """Raise the ApiError a client gets when this replica may not serve it as leader."""
        if self.state is None or current_leader_epoch != NO_LEADER_EPOCH:
            self.check_epoch(current_leader_epoch)
        if self.state is None or self.state.leader != self.broker_id:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_enough_in_sync(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS, for acks=all, when fewer replicas are in sync than min.insync.replicas."""
        if self.is_under_min_isr:
            in_sync = len(self.state.isr) if self.state else 0
            reason = f"{in_sync} replicas are in sync, min.insync.replicas is {self.min_insync_replicas}"
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, reason)

    def require_in_sync(self, min_insync_replicas: int) -> bool:
        """Take over the topic's min.insync.replicas; return whether more is committed because of that."""
        self.min_insync_replicas = min_insync_replicas
        return self._isr_changed()

    def _compare_with_min_isr(self, state: LeadershipState) -> None:
        """Compare the ISR with min.insync.replicas, at most the number of replicas: a broker-wide minimum must not make
        topics with one replica useless.
        """
        needed = min(self.min_insync_replicas, len(state.replicas))
        self.is_under_min_isr = self.is_leader and len(state.isr) < needed
        self.has_eligible = self.is_leader and bool(state.elr)

    @property
    def is_high_watermark_established(self) -> bool:
        """Whether the new leader's high watermark covers everything its predecessors committed.

        Until then "the latest offset" would go backwards for whoever asked the predecessor (KIP-207).
        """
        return self.high_watermark >= self.epoch_start_offset

    # -- how far the replicas are

    def record_append(self, log_end_offset: int, now_ms: int = 0) -> bool:
        """Record that the leader wrote up to `log_end_offset`; return True when the high watermark moved.

        Who held all there was is caught up until now: of an idle partition followers have nothing to say.
        """
        if log_end_offset < self.log_end_offset:
            raise InvariantViolation(f"log end of {self.topic_partition} moved backwards to {log_end_offset}")
        for follower in self.followers.values():
            if follower.log_end_offset == self.log_end_offset and follower.last_caught_up_ms < now_ms:
                follower.last_caught_up_ms = now_ms
        self.log_end_offset = log_end_offset
        if self.is_under_min_isr or self.has_eligible:
            return False
        if log_end_offset <= self.high_watermark or len(self.maximal_isr) > 1:
            return False
        self.high_watermark = log_end_offset
        return True

    def record_flushed(self, log_end_offset: int, now_ms: int = 0) -> bool:
        """Record fsynced records as `record_append` records written ones, where only fsynced ones count."""
        return self.record_append(log_end_offset, now_ms) or self._advance_high_watermark()

    def record_fetch(
        self, replica_id: int, log_end_offset: int, now_ms: int, broker_epoch: int = UNKNOWN_BROKER_EPOCH
    ) -> bool:
        """Record that a follower, as registered under `broker_epoch`, holds everything below `log_end_offset`; return
        True when that moved the high watermark.
        """
        follower = self.followers.get(replica_id)
        if follower is None:
            return False
        before = follower.log_end_offset
        follower.broker_epoch = broker_epoch
        follower.record_fetch(log_end_offset, self.log_end_offset, now_ms)
        return before <= self.high_watermark and self._advance_high_watermark()

    def record_log_start(self, replica_id: int, log_start_offset: int) -> bool:
        """Record a follower's log start; return whether it changed."""
        follower = self.followers.get(replica_id)
        if follower is None or follower.log_start_offset == log_start_offset:
            return False
        follower.log_start_offset = log_start_offset
        return True

    def low_watermark(self, log_start_offset: int, is_live: Callable[[int], bool]) -> int:
        """Return the offset before which no live replica has any records.

        Of a live one that was not heard of in this epoch nothing is known: -1. As Kafka's `lowWatermarkIfLeader`,
        which counts in a replica on a failed disk as long as its broker lives.
        """
        starts = [state.log_start_offset for replica_id, state in self.followers.items() if is_live(replica_id)]
        return min([log_start_offset, *starts])

    def record_fetched(self, log_end_offset: int, leader_high_watermark: int, log_start_offset: int = 0) -> bool:
        """Record a fetch of a follower: what it holds, and how much of it the leader says is committed; whether the
        high watermark moved. Whether our high watermark moved.
        """
        self.log_end_offset = log_end_offset
        before = self.high_watermark
        self.high_watermark = max(before, log_start_offset, min(leader_high_watermark, log_end_offset))
        return self.high_watermark > before

    def record_truncation(self, log_end_offset: int) -> None:
        """Record that the follower's log was truncated to `log_end_offset`."""
        self.log_end_offset = log_end_offset
        self.high_watermark = min(self.high_watermark, log_end_offset)

    def truncation_failed(self, high_watermark: int, log_end_offset: int) -> None:
        """Record that truncating the follower's log failed: what was known as committed still is."""
        self.log_end_offset = log_end_offset
        self.high_watermark = min(high_watermark, log_end_offset)

    def started_over(self, offset: int) -> None:
        """Record that the follower's log starts over, empty, at `offset`."""
        self.log_end_offset = self.high_watermark = offset

    def _advance_high_watermark(self) -> bool:
        """Advance the high watermark to what all of the maximal ISR holds: the ISR and replicas that are joining it.
        Return whether it moved.

        A member that was not heard of in this epoch holds everything back. Otherwise an acknowledged record could be
        missing from a replica that has just been counted in. While the ISR is smaller than the topic asks for, nothing
        more is committed (KAFKA-15583): it would be what fewer replicas hold than somebody was promised. Nor while
        replicas outside the ISR are eligible to lead: they would lack it.
        """
        if self.is_under_min_isr or self.has_eligible:
            return False
        committed = self.log_end_offset
        for replica in self.maximal_isr:
            follower = self.followers.get(replica)
            if follower is not None:
                committed = min(committed, follower.log_end_offset)
        moved = committed > self.high_watermark
        self.high_watermark = max(self.high_watermark, committed)
        return moved

    # -- the ISR as the leader wants it

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        if self.state is None:
            raise InvariantViolation(f"{self.topic_partition} has no role here, so no replica is in sync with it")
        isr = self.state.isr
        if self.pending_isr is None:
            return isr
        return isr + tuple(item for item in self.pending_isr if item not in isr)

    def isr_with(self, replica_id: int) -> tuple[int, ...] | None:
        """Return the ISR to write because of the replica's progress; None if there is no reason, or a change is
        pending.

        A replica may join when it holds all that is committed, and all that was there when this epoch began.
        """
        state = self.state
        if state is None or not self.is_leader or self.pending_isr is not None or replica_id in state.isr:
            return None
        if not self._may_join(replica_id):
            return None
        return tuple(replica for replica in state.replicas if replica in state.isr or replica == replica_id)

    def _may_join(self, replica_id: int) -> bool:
        follower = self.followers.get(replica_id)
        return follower is not None and follower.log_end_offset >= max(self.high_watermark, self.epoch_start_offset)

    def isr_without_laggards(self, now_ms: int, lag_ms_max: int) -> tuple[int, ...] | None:
        """Return the ISR without followers that have not been caught up for `lag_ms_max`; None when there are none."""
        state = self.state
        if state is None or not self.is_leader or self.pending_isr is not None or len(state.isr) == 1:
            return None
        kept = tuple(item for item in state.isr if not self.lags(item, now_ms, lag_ms_max))
        return kept if kept != state.isr else None

    def elr_beside(self, isr: tuple[int, ...]) -> tuple[int, ...]:
        """Return the ELR of the state that a leader writes with this ISR."""
        state = self.state
        if state is None:
            return ()
        return eligible_leaders(state.isr, state.elr, isr, state.replicas, self.min_insync_replicas)

    def isr_to_write_without_elr(self) -> tuple[int, ...] | None:
        """Return the present ISR if its state has to be written again, without an ELR: it has enough members."""
        state = self.state
        if state is None or not self.has_eligible or self.pending_isr is not None:
            return None
        return None if self.is_under_min_isr else state.isr

    def lags(self, replica_id: int, now_ms: int, lag_ms_max: int) -> bool:
        """Return whether it lacks records and has not been caught up for `lag_ms_max`; a leader asks of its
        replicas.
        """
        if replica_id == self.broker_id:
            return False
        follower = self.followers.get(replica_id)
        if follower is None:
            return True
        return follower.log_end_offset != self.log_end_offset and now_ms - follower.last_caught_up_ms > lag_ms_max

    def isr_written(self, isr: tuple[int, ...], zk_version: int, elr: tuple[int, ...] = ()) -> bool:
        """Note the ISR and ELR that are written to ZooKeeper; True if that moved the high watermark."""
        self.pending_isr = None
        if self.state is None:
            raise InvariantViolation(f"{self.topic_partition} has no role, and wrote an ISR")
        self.state = replace(self.state, isr=isr, zk_version=zk_version, elr=elr)
        return self._isr_changed()

    def _isr_changed(self) -> bool:
        """Apply a changed ISR; return True also when the high watermark stays, but what lies below it counts again."""
        was_under_min_isr = self.is_under_min_isr
        if self.state is None or not self.is_leader:
            return False
        self._compare_with_min_isr(self.state)
        moved = self._advance_high_watermark()
        return moved or (was_under_min_isr and not self.is_under_min_isr)

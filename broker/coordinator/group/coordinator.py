"""The coordinator of the groups whose ids hash to one partition of `__consumer_offsets`.

Contract with the runtime that embeds it, in order:

1. Call with the time, best a monotonic one: it never goes back here. Nothing blocks; the call returns
   a `CoordinatorOutcome`.
2. If it has records, append them as one batch and call `replay` for each *before any other call*. `replay` is the only
   writer of durable state, here as at start-up.
3. Send the responses when the records are committed. Those without records do not overtake earlier ones, but for
   answers that are `is_at_once`. `written`, before the records are replayed, and `committed` tell how far the log is.
4. If the append fails, `abort(outcome, error)`, before any other call, and send what it returns instead: nothing was
   replayed. If the records are not committed in time, send what `unconfirmed` makes of each answer: the state stays,
   since they may yet be committed. If a call raised, `recover`, before any other call.
5. Ask `next_deadline_ms` after every call, and call `tick` when that time has come.
6. Every token is answered once, unless it was cancelled: at once, or parked and answered by a later call.

An outcome with a `producer` is appended as a transactional batch of that producer, and its records are replayed with
the producer's id. When a marker that ends a transaction is written to the partition, `complete_transaction`, in the
order of the log: a marker is no record, and `replay` never sees one.

To take over a partition: `replay` all of it, complete what markers end, `after_load`. To give it up: `unload`.
"""

from collections.abc import Callable
from functools import partial
from weakref import finalize

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group import records as consumer_records
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.groups import ConsumerGroups
from broker.coordinator.consumer_group.topics import TopicDirectory
from broker.coordinator.group import answers
from broker.coordinator.group.administrative_requests import AdministrativeRequests
from broker.coordinator.group.admission import Admission
from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import TIMER_RETRY_MS, GroupConfig
from broker.coordinator.group.deleted_partitions import DeletedPartitions, OutdatedOffsets
from broker.coordinator.group.expiry import Expiry
from broker.coordinator.group.group import ClassicGroup
from broker.coordinator.group.joining import Join, Joining
from broker.coordinator.group.membership import GroupMembership
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.group.offsets import CommittedOffsets, TopicIdOf, commit_refused, unknown_topic_id
from broker.coordinator.group.rebalance import Rebalance
from broker.coordinator.group.records import GroupKey, OffsetKey, decode_group_value, decode_key, decode_offset_value
from broker.coordinator.group.timers import TimerKey, TimerKind
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorResponse, CoordinatorTurn, TransactionProducer
from broker.coordinator.progress import LogProgress
from broker.coordinator.recorded_owners import Headers, decode_owners, decode_topic_id
from broker.coordinator.timers import Timers
from broker.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from broker.protocol.messages.join_group import JoinGroupRequest
from broker.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from broker.protocol.messages.offset_commit import OffsetCommitRequest
from broker.protocol.messages.offset_fetch import OffsetFetchRequest
from broker.protocol.messages.sync_group import SyncGroupRequest
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest

#: LeaveGroup up to this version names one member and has one error.
_LEAVE_ONE_VERSION = 2


class GroupCoordinator(AdministrativeRequests):
    def __init__(
        self,
        config: GroupConfig,
        new_member_id: Callable[[str], str],
        wall_now_ms: Callable[[], int] | None = None,
        memory: GroupMemory | None = None,
        deleted: DeletedPartitions | None = None,
        topic_id_of: TopicIdOf = unknown_topic_id,
        steady_now_ms: Callable[[], int] | None = None,
        consumer_config: ConsumerGroupConfig | None = None,
        topics: TopicDirectory | None = None,
    ):
        """new_member_id: a new unique id that starts with the given text. memory, deleted: shared by all of a broker.
        topic_id_of: as for `OutdatedOffsets`. steady_now_ms: the wall time by which offsets are too old; without it
        that of records. topics: what members of consumer groups may subscribe to; None for none.
        """
        super().__init__(wall_now_ms)
        self._groups: dict[str, ClassicGroup] = {}
        self._timers: Timers[TimerKey] = Timers()
        self._progress = LogProgress()
        memory = memory or GroupMemory()
        self._account = memory.account()
        finalize(self, self._account.close)  # one that could not be loaded is just dropped
        self._consumers = ConsumerGroups(
            consumer_config or ConsumerGroupConfig(), memory, self._account, new_member_id, topics
        )
        self._offsets = CommittedOffsets(config, self._progress, self._account, OutdatedOffsets(deleted, topic_id_of))
        self._admission = Admission(memory, self._account, self._offsets, self._consumers)
        self._expiry = Expiry(config, self._offsets, self._consumers, steady_now_ms)
        self._rebalance = Rebalance(config, self._timers)
        self._joining = Joining(config, self._timers, self._rebalance, new_member_id, memory)
        self._membership = GroupMembership(self._timers, self._rebalance, self._progress)
        self._group_max_size = config.group_max_size

    @property
    def groups(self) -> dict[str, ClassicGroup]:
        """The groups by id; for reading only."""
        return self._groups

    @property
    def offsets(self) -> CommittedOffsets:
        """The committed offsets; for reading only."""
        return self._offsets

    # -- membership ---------------------------------------------------------------------------------------------------

    def join_group(
        self, request: JoinGroupRequest, client: GroupClientInfo, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        """Join; the response comes at once when refused or unchanged, else when the rebalance completes."""
        turn = self._turn(now_ms)
        join = Join(request, client, token, turn)
        error, group = self._joining.error_of(request), self._group(request.group_id)
        if error is not ErrorCode.NONE:
            join.refuse(error, request.member_id)
        elif self._join_consumers(request, client, token, turn):
            pass
        elif group is None and request.member_id:
            join.refuse(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        else:
            self._leave_consumers(request.group_id, turn)
            group = self._group_or_new(request.group_id)
            self._parked[token] = request.group_id
            self._joining.join(group, join)
            self._forget_if_void(group)
        return self._end(turn)

    def sync_group(self, request: SyncGroupRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        """Handle SyncGroup: the leader's request writes the assignment and answers all waiting members; later requests
        get it at once.
        """
        turn = self._turn(now_ms)
        group = self._group(request.group_id)
        if (consumers := self._consumers.with_members(request.group_id)) is not None:
            self._sync_with_consumers(consumers, request, token, turn)
        elif group is None:
            turn.answer_at_once(token, answers.sync_refused(answers.unknown_group(request.group_id)))
        elif not self._admission.may_assign(group, request, turn):
            turn.answer_at_once(token, answers.sync_refused(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        else:
            self._parked[token] = request.group_id
            self._membership.sync(group, request, token, turn)
        return self._end(turn)

    def heartbeat(self, request: HeartbeatRequest, token: int, now_ms: int) -> CoordinatorOutcome:
        turn = self._turn(now_ms)
        group = self._group(request.group_id)
        if (consumers := self._consumers.with_members(request.group_id)) is not None:
            error = self._heartbeat_among_consumers(consumers, request, turn)
        else:
            unknown = answers.unknown_group(request.group_id)
            error = self._membership.heartbeat(group, request, turn) if group else unknown
        turn.answer_at_once(token, HeartbeatResponse(error_code=error))
        return self._end(turn)

    def leave_group(
        self, request: LeaveGroupRequest, client: GroupClientInfo, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        turn = self._turn(now_ms)
        names_one = client.api_version <= _LEAVE_ONE_VERSION
        identities = [MemberIdentity(member_id=request.member_id)] if names_one else request.members
        group, consumers = self._group(request.group_id), self._consumers.with_members(request.group_id)
        if consumers is not None:
            errors = self._consumers.classic.leave(consumers, identities, turn)
            turn.answer(token, answers.left(identities, errors, names_one))
        elif group is None:
            turn.answer_at_once(token, answers.left_unknown_group(request.group_id, identities, names_one))
        else:
            errors = self._membership.leave(group, identities, turn)
            self._forget_if_void(group)
            answer = turn.answer if turn.outcome.records else turn.answer_at_once
            answer(token, answers.left(identities, errors, names_one))
        return self._end(turn)

    # -- offsets ------------------------------------------------------------------------------------------------------

    def offset_commit(
        self, request: OffsetCommitRequest, client: GroupClientInfo, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        """Commit offsets, one record for each partition; counts as a heartbeat."""
        turn = self._turn(now_ms)
        group = self._group(request.group_id)
        error = self._admission.begin_commit(group, request, client, turn)
        if error is not ErrorCode.NONE:
            turn.answer_at_once(token, commit_refused(request, error))
            return self._end(turn)
        member = group.members.get(request.member_id) if group else None
        if group is not None and member is not None:
            self._rebalance.restart_session(group, member, turn)
        turn.answer(token, self._offsets.commit(request, turn))
        return self._end(turn)

    def txn_offset_commit(
        self, request: TxnOffsetCommitRequest, client: GroupClientInfo, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        """Commit offsets in a producer's transaction, invisible before `complete_transaction`.

        Whether the transaction is open, and has this partition in it, is the caller's to know (KIP-890).
        """
        turn = self._turn(now_ms)
        error = self._admission.begin_txn_commit(self._group(request.group_id), request, client, turn)
        if error is not ErrorCode.NONE:
            turn.answer_at_once(token, commit_refused(request, error))
            return self._end(turn)
        turn.outcome.producer = TransactionProducer(request.producer_id, request.producer_epoch)
        turn.answer(token, self._offsets.commit(request, turn))
        return self._end(turn)

    def offset_fetch(
        self, request: OffsetFetchRequest, api_version: int, token: int, now_ms: int
    ) -> CoordinatorOutcome:
        """Return the committed offsets of these groups, which must be of this coordinator.

        What was loaded is told when it is committed, since the last coordinator may have promised less. Until then
        clients shall ask again: were this answer to wait, their heartbeats would wait behind it.
        """
        turn, fetch = self._turn(now_ms), partial(self._offsets.fetch, refused=self._fetch_error)
        answer = fetch if self._progress.is_load_committed else answers.not_fetched
        turn.answer_at_once(token, answer(request, api_version))
        return self._end(turn)

    # -- time ---------------------------------------------------------------------------------------------------------

    def next_deadline_ms(self) -> int | None:
        """When `tick` must be called next, None if nothing is waiting for time to pass."""
        consumers_ms = self._consumers.next_deadline_ms()
        deadlines = (self._timers.next_deadline_ms(), consumers_ms, self._expiry.next_deadline_ms)
        return min((deadline_ms for deadline_ms in deadlines if deadline_ms is not None), default=None)

    def tick(self, now_ms: int) -> CoordinatorOutcome:
        """Do what the deadlines that have come ask for, a turn's worth that goes into one batch; the rest stays due.
        A group with a record on its way is left for the next tick.
        """
        turn = self._turn(now_ms)
        postponed = []
        while not turn.is_full and (key := self._timers.take_expired(turn.now_ms)) is not None:
            group = self._groups.get(key.group_id)
            if group is not None and group.proposal is not None:
                postponed.append(key)
            elif group is not None:
                turn.things_left -= group.work
                self._time_is_up(group, key, turn)
        for key in postponed:
            self._timers.schedule(key, turn.now_ms + TIMER_RETRY_MS)
        self._consumers.tick(turn, self._downgrade)
        self._expiry.look_at_some(self._groups, turn)
        return self._end(turn)

    def _time_is_up(self, group: ClassicGroup, key: TimerKey, turn: CoordinatorTurn) -> None:
        try:
            match key.kind:
                case TimerKind.SESSION:
                    self._membership.session_is_over(group, key.member_id, turn)
                case TimerKind.JOIN:
                    self._rebalance.join_time_is_up(group, turn)
                case TimerKind.SYNC:
                    self._rebalance.sync_time_is_up(group, turn)
        except Exception:
            self._timers.schedule(key, turn.now_ms + TIMER_RETRY_MS)
            raise
        self._forget_if_void(group)

    # -- records ------------------------------------------------------------------------------------------------------

    def replay(self, key: bytes, value: bytes | None, headers: Headers = (), producer_id: int | None = None) -> None:
        """Apply one record of the partition, at start-up as in normal work. Records of other kinds are passed over.

        producer_id: whose transaction the record's batch belongs to, None if to nobody's. Raises InvariantViolation for
        bytes that are no record of ours, and for one that contradicts what was proposed.
        """
        match decode_key(key):
            case OffsetKey() as offset_key:
                if self._account.is_loading:
                    self._account.load_commit(offset_key.group_id, headers)
                self._replay_offset(offset_key, value, headers, producer_id)
            case GroupKey(group_id):
                self._replay_group(group_id, value, headers)
            case None if (consumer_key := consumer_records.decode_key(key)) is not None:
                self._consumers.replay(consumer_key, value, headers)

    def complete_transaction(self, producer_id: int, is_commit: bool) -> None:
        """Apply a marker that was written or read: the transaction's offsets count, or are dropped.

        A producer without offsets here is ignored: markers may come twice.
        """
        self._account.end_commit()
        for key in (keys := self._offsets.complete_transaction(producer_id, is_commit)):
            self._forget_if_void(self._groups.get(key.group_id))
        self._expiry.transaction_ended(keys)

    def _replay_offset(self, key: OffsetKey, value: bytes | None, headers: Headers, producer_id: int | None) -> None:
        if value is not None:
            known, committed = self._group_or_new(key.group_id), decode_offset_value(value, decode_topic_id(headers))
            known.holdings.store()
            self._expiry.note_stored(key, committed)
            if producer_id is None:
                consumer_group = self._consumers.get(key.group_id)
                by_member = bool((consumer_group or known).members) or known.protocol_type is None
                self._offsets.replay(key, committed, by_member=by_member)
            else:
                self._offsets.replay_pending(key, committed, producer_id)
            if known.protocol_type is not None or key.group_id in self._consumers:
                self._account.note_members(key.group_id)
            return
        self._offsets.replay_tombstone(key)
        self._forget_if_void(self._groups.get(key.group_id))

    def _replay_group(self, group_id: str, value: bytes | None, headers: Headers) -> None:
        if value is not None:
            group = self._group_or_new(group_id)
            group.settle(decode_group_value(value), decode_owners(headers))
            group.recorded_to = self._progress.written_to
        else:
            self._forget_members(group_id)

    def after_load(self, now_ms: int) -> CoordinatorOutcome:
        """Called when the partition is replayed: every member gets a fresh session timeout."""
        turn = self._turn(now_ms)
        self._progress.loaded_to = self._progress.written_to
        self._account.end_load()
        for group in self._groups.values():
            group.recorded_to = self._progress.loaded_to
            for member in group.members.values():
                self._rebalance.restart_session(group, member, turn)
            if len(group.members) > self._group_max_size:
                self._rebalance.prepare(group, turn, "more members than group.max.size")
            elif group.is_leaderless:
                self._rebalance.downgraded(group, (), turn)
        self._consumers.after_load(turn.now_ms)
        self._expiry.begin(turn.now_ms)
        return self._end(turn)

    def written(self, end_offset: int) -> None:
        """Note that records replayed from now on are committed when the log is committed up to `end_offset`."""
        self._progress.written_to = end_offset

    def committed(self, high_watermark: int) -> None:
        """Note that everything before `high_watermark` is committed."""
        self._progress.committed_to = high_watermark
        self._offsets.committed(high_watermark)

    # -- what goes wrong outside --------------------------------------------------------------------------------------

    def abort(self, outcome: CoordinatorOutcome, error_code: ErrorCode) -> CoordinatorOutcome:
        """Handle records that could not be appended or committed; return the outcome to use instead.

        A group whose assignment could not be appended rebalances; the record of an emptied group is tried again soon; a
        static member that returned does not take its place; what expired waits for the next check. An append refused as
        too large comes back to the clients as INVALID_COMMIT_OFFSET_SIZE or UNKNOWN_SERVER_ERROR, others as "look for
        the coordinator again".
        """
        turn = self._turn(self._now_ms)
        self._expiry.abort(outcome, turn.now_ms)
        self._consumers.abort(outcome.records)
        for record in outcome.records:
            key = decode_key(record.key)
            group = self._groups.get(key.group_id) if isinstance(key, GroupKey) else None
            if group is not None and group.proposal is not None:
                self._rebalance.withdraw(group, turn)
                self._forget_if_void(group)
        self._stay_consumers(outcome, answers.not_appended(error_code), turn)
        for answer in outcome.responses:
            turn.outcome.responses.append(self.unconfirmed(answer, error_code))
        return self._end(turn)

    def recover(self) -> CoordinatorOutcome:
        """Recover after a call raised: its proposed records are withdrawn, and requests it has answered stay
        answered.
        """
        broken, self._under_way = self._under_way, None
        return self.abort(broken.outcome if broken else CoordinatorOutcome(), ErrorCode.UNKNOWN_SERVER_ERROR)

    def unconfirmed(self, answer: CoordinatorResponse, error_code: ErrorCode) -> CoordinatorResponse:
        """Return the response to send when the records were not committed; unchanged if it does not depend on any."""
        if answer.is_at_once:
            return answer
        return CoordinatorResponse(answer.token, answers.uncommitted(answer.response, error_code), is_at_once=True)

    def cancel(self, token: int) -> None:
        """Cancel a parked request whose connection has closed; other tokens are ignored."""
        if (group := self._groups.get(self._parked.pop(token, ""))) is not None:
            self._membership.hang_up(group, token)

    def unload(self) -> CoordinatorOutcome:
        """Unload the coordinator after a leader change: every parked request is answered NOT_COORDINATOR, everything
        forgotten.
        """
        turn = self._turn(self._now_ms)
        for group_id in dict.fromkeys(self._parked.values()):
            if group_id in self._groups:
                self._membership.dismiss(self._groups[group_id], ErrorCode.NOT_COORDINATOR, turn)
        turn.outcome.remains = [
            self._groups,
            *self._consumers.unload(),
            *self._offsets.forget(),
            *self._timers.forget(),
        ]
        self._groups = {}
        self._account.close()
        self._expiry.stop()
        return self._end(turn)

"""The partitions this broker hosts: takes roles from the controller, appends for producers and from leaders, reads for
consumers. Others hear of what happens: fetchers of roles, followers of appends, waiting producers of what is committed.

Everything here runs on the broker's loop. A partition is served only after LeaderAndIsr named this broker its leader;
the logs were loaded before that, at start, by the log manager.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from uuid import UUID

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import NO_LEADER_EPOCH, TopicPartition, new_tuple
from broker.log.config import LogConfig
from broker.log.manager import LogManager
from broker.log.validation import BatchValidation
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrTopicState,
)
from broker.protocol.primitives import Buffer
from broker.records.batch import NO_TIMESTAMP, TRANSACTIONAL_BIT, BatchHeader, check_produced_batch, parse_batch_header
from broker.records.control import EndMarker, build_marker
from broker.replication.partition import ReplicaPartition
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.replication.hosted_partition import (
    HostedPartition,
    ProduceResult,
    ReadResult,
    RoleListeners,
    is_of_earlier_state,
    role_of,
    tell,
)
from broker.runtime.replication.leader_flushes import LeaderFlushes
from broker.runtime.replication.replica_logs import ReplicaLogs
from broker.runtime.replication.topic_names import TopicNames
from broker.runtime.serialized_changes import SerializedChanges

_log = logger(__name__)


class ReplicaManager:
    """Roles, appends and reads of the hosted partitions."""

    def __init__(self, broker_id: int, logs: LogManager, delayed_fetches: DelayedFetches, clock: Clock):
        self._broker_id = broker_id
        self.logs = ReplicaLogs(logs)
        #: Not empty while anybody may have to wait, see `flushed`.
        self.flushes_under_way = self.logs.flushes.under_way
        self._leader_flushes = LeaderFlushes(self.logs.flushes, clock, self._high_watermark_moved)
        self._delayed_fetches = delayed_fetches
        self._clock = clock
        self._hosted: dict[TopicPartition, HostedPartition] = {}
        #: Others lead them: stopped with their files kept, because this broker is about to stop, or not taken.
        self._led_elsewhere: set[TopicPartition] = set()
        #: The newest controller known; any other is refused (correctness: one controller at a time).
        self.controller_epoch = -1
        #: czxid of our registration; what was meant for another incarnation of us is refused (KIP-380).
        self.broker_epoch = -1
        #: The last of our registrations that ended by itself, and the last under which we were told our roles.
        self.lost_epoch, self.told_epoch = -2, -1
        self.topic_names = TopicNames()
        self.taking_roles = SerializedChanges()
        # No listener may raise: it would undo nothing of what it is told of. What one raises is logged (`tell`).
        #: Told of each partition whose role was set, and of those that are hosted no more (without a role then).
        self.on_role = RoleListeners(self._as_hosted_now)
        #: Told when followers of a partition this broker leads have something to hear: an append, another log start.
        self.on_append: list[Callable[[HostedPartition], None]] = []
        #: Told of each partition whose topic is configured differently now.
        self.on_config: list[Callable[[HostedPartition], None]] = []
        #: Told of each marker appended as leader, with the id of the producer whose transaction it ends.
        self.on_marker: list[Callable[[HostedPartition, int, EndMarker], None]] = []
        #: Told when the high watermark of a partition led here has moved, but not of appends of one without followers.
        self.on_high_watermark: list[Callable[[HostedPartition], None]] = []

    def __iter__(self) -> Iterator[HostedPartition]:
        return iter(self._hosted.values())

    def __len__(self) -> int:
        return len(self._hosted)

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """Return the high watermarks of all hosted partitions."""
        return {topic_partition: hosted.partition.high_watermark for topic_partition, hosted in self._hosted.items()}

    def get(self, topic: str, partition: int) -> HostedPartition | None:
        return self._hosted.get(new_tuple(TopicPartition, (topic, partition)))

    def _as_hosted_now(self, hosted: HostedPartition) -> HostedPartition:
        return self._hosted.get(hosted.partition.topic_partition, hosted)

    def configure(self, hosted: HostedPartition, config: LogConfig) -> None:
        hosted.log.config = config
        if hosted.partition.require_in_sync(config.min_insync_replicas):
            self._high_watermark_moved(hosted)
        tell(self.on_config, hosted)

    # -- what the controller says

    def check_controller(self, controller_epoch: int, broker_epoch: int) -> None:
        """Raise STALE_CONTROLLER_EPOCH for an old controller, STALE_BROKER_EPOCH for another registration than ours.

        What is newer is known by `ControllerEpochs`.
        """
        if broker_epoch != self.broker_epoch:
            raise ApiError(ErrorCode.STALE_BROKER_EPOCH)
        if controller_epoch != self.controller_epoch:
            raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH)

    def apply_role(
        self, topic: LeaderAndIsrTopicState, state: LeaderAndIsrPartitionState, configs: Mapping[str, LogConfig]
    ) -> ErrorCode:
        """Apply the role of one partition; `configs` are by topic, for partitions not hosted before.

        KAFKA_STORAGE_ERROR: this broker cannot before it starts again. REPLICA_NOT_AVAILABLE and UNKNOWN_SERVER_ERROR:
        it could not just now, and serves the partition no more until it is told again.
        """
        topic_partition = TopicPartition(topic.topic_name, state.partition_index)
        try:
            config = configs.get(topic.topic_name)
            self._take_role(self._host(topic_partition, topic.topic_id, state.is_new, config), state)
        except ApiError as error:
            return self._role_refused(topic_partition, error)
        except Exception:
            # The others of the request get their roles all the same.
            _log.exception("cannot host partition", partition=str(topic_partition))
            self._be_without_role(topic_partition)
            return ErrorCode.UNKNOWN_SERVER_ERROR
        self._delayed_fetches.wake(topic_partition)
        return ErrorCode.NONE

    def _role_refused(self, topic_partition: TopicPartition, error: ApiError) -> ErrorCode:
        """Return the error code for the controller: a disk that is well may accept tomorrow what it refuses today."""
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            # What no disk refused is what was asked for: nonsense, or older than what is known.
            _log.warning("cannot host partition", partition=str(topic_partition), reason=error.message)
            return error.code
        _log.error("cannot host partition", partition=str(topic_partition), reason=error.message)
        self._be_without_role(topic_partition)
        return error.code if self.logs.is_out_of_reach(topic_partition) else ErrorCode.REPLICA_NOT_AVAILABLE

    def _be_without_role(self, topic_partition: TopicPartition) -> None:
        hosted = self._hosted.get(topic_partition)
        if hosted is None:
            self._led_elsewhere.add(topic_partition)
        elif hosted.partition.state is not None:
            self._let_go(hosted)

    def _take_role(self, hosted: HostedPartition, state: LeaderAndIsrPartitionState) -> None:
        role, log = role_of(state), hosted.log
        if role.leader_epoch < log.leader_epochs.latest_epoch or (state.is_new and is_of_earlier_state(hosted, role)):
            raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH)
        log.note_unflushed()
        fsynced_end = log.recovery_point if log.is_flush_due else None
        if not hosted.partition.apply(role, log.log_end_offset, self._clock.monotonic_ms(), fsynced_end=fsynced_end):
            raise ApiError(ErrorCode.STALE_CONTROLLER_EPOCH)
        if hosted.partition.is_leader:
            # Nobody is served under an epoch that the log does not know of.
            log.begin_leader_epoch(hosted.partition.leader_epoch)
            if log.is_flush_due:
                self._leader_flushes.begin(hosted)
        self.on_role.tell(hosted)
        if hosted.partition.is_leader:
            self._high_watermark_moved(hosted)

    def _host(
        self, topic_partition: TopicPartition, topic_id: UUID, is_new: bool, config: LogConfig | None
    ) -> HostedPartition:
        hosted = self._hosted.get(topic_partition)
        noted = self.logs.topic_id_of(topic_partition)
        topic_id = self.topic_names.id_to_host(topic_partition.topic, topic_id, noted)
        if hosted is None:
            log = self.logs.open(topic_partition, topic_id, is_new=is_new)
            log.config = config or log.config
            known_committed = self.logs.high_watermark_of(topic_partition)
            partition = ReplicaPartition(topic_partition, self._broker_id, known_committed)
            partition.require_in_sync(log.config.min_insync_replicas)
            hosted = HostedPartition(partition, log, topic_id)
            self._hosted[topic_partition] = hosted
            self.topic_names.hosted(topic_id, topic_partition.topic)
        else:
            self.logs.check(topic_partition, topic_id)
        return hosted

    def stop_replica(
        self, topic_partition: TopicPartition, *, delete: bool = False, leader_epoch: int = NO_LEADER_EPOCH
    ) -> None:
        """Stop serving the partition; its files stay, see `role_changes`.

        FENCED_LEADER_EPOCH when this broker has had a role of a later epoch since; a negative epoch always counts.
        """
        hosted = self._hosted.get(topic_partition)
        if hosted is not None:
            if 0 <= leader_epoch < hosted.partition.leader_epoch:
                raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
            self._let_go(self._hosted.pop(topic_partition))
            self.topic_names.let_go(hosted.topic_id)
        note = self._led_elsewhere.discard if delete else self._led_elsewhere.add
        note(topic_partition)

    def assigned_elsewhere(
        self, topic_partition: TopicPartition, topic_id: UUID, leader_epoch: int, replicas: Sequence[int]
    ) -> None:
        """Stop serving the partition if a later epoch's replicas exclude this broker.

        It was moved while we were cut off, and the controller that would have stopped us is no longer. The files
        stay.
        """
        hosted = self._hosted.get(topic_partition)
        if hosted is None or self._broker_id in replicas or hosted.topic_id != topic_id:
            return
        if leader_epoch > hosted.partition.leader_epoch:
            # In an ordinary move too, whenever the others' news come before the request to stop.
            _log.info("partition is not here any more", partition=str(topic_partition), replicas=str(replicas))
            self.stop_replica(topic_partition, delete=False, leader_epoch=leader_epoch)

    def resign_offline(self) -> None:
        """Resign from all replicas of a failed log directory until the next start, and tell other parts of the
        broker.
        """
        for hosted in list(self._hosted.values()):
            if hosted.log.is_offline and hosted.partition.state is not None:
                self._let_go(hosted)

    def _let_go(self, hosted: HostedPartition) -> None:
        if hosted.log.is_offline:
            hosted.partition.go_offline()
        else:
            hosted.partition.resign()
        self.on_role.tell(hosted)
        self._delayed_fetches.wake(hosted.partition.topic_partition)

    # -- what clients ask

    def append(
        self,
        topic_partition: TopicPartition,
        batch: bytearray | memoryview,
        *,
        is_for_all: bool = False,
        look: BatchValidation = BatchValidation.WHOLE,
    ) -> ProduceResult:
        """Append one record batch as leader; raises ApiError and writes nothing when it may not.

        `is_for_all` (acks=all): not while fewer than min.insync.replicas are in sync. `look`: see `Log.append`.
        """
        hosted = self._leader(topic_partition)
        if is_for_all:
            hosted.partition.check_enough_in_sync()
        header = check_produced_batch(batch)
        if header.attributes & TRANSACTIONAL_BIT:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "a transactional batch without its id")
        return self.append_checked(hosted, batch, header, look)

    def append_of_transaction(
        self,
        topic_partition: TopicPartition,
        batch: bytearray | memoryview,
        *,
        is_for_all: bool = False,
        look: BatchValidation = BatchValidation.WHOLE,
    ) -> ProduceResult:
        """Append as `append`, knowing that the batch may open a transaction (`TransactionalAppends`)."""
        hosted = self._leader(topic_partition)
        if is_for_all:
            hosted.partition.check_enough_in_sync()
        header = check_produced_batch(batch)
        result = self.append_checked(hosted, batch, header, look)
        if hosted.count is not None and header.attributes & TRANSACTIONAL_BIT:
            hosted.count.give_up()
        return result

    def append_checked(
        self,
        hosted: HostedPartition,
        batch: memoryview | bytearray,
        header: BatchHeader | None = None,
        look: BatchValidation = BatchValidation.DONE,
    ) -> ProduceResult:
        """Append a batch this broker made or has checked; `header` is the batch's, for a caller who has it."""
        log, partition = hosted.log, hosted.partition
        now_ms = self._clock.now_ms()
        base_offset, last_offset, max_timestamp = log.append(batch, partition.leader_epoch, now_ms, header, look)
        count = hosted.count
        if count is not None and (header is None or header.base_timestamp < count.low or max_timestamp >= count.high):
            noted = parse_batch_header(batch) if header is None else header
            count.note(noted, base_offset, last_offset, max_timestamp, log.log_end_offset)
        moved = False
        if log.is_flush_due:
            self._leader_flushes.begin(hosted)
        else:
            moved = partition.record_append(log.log_end_offset, self._clock.monotonic_ms())
        if partition.followers:
            tell(self.on_append, hosted)
            if moved:
                self._high_watermark_moved(hosted)
        elif moved:
            # The only replica: nobody but readers can be waiting.
            self._delayed_fetches.wake(partition.topic_partition)
        append_time_ms = max_timestamp if log.config.uses_append_time else NO_TIMESTAMP
        return new_tuple(ProduceResult, (base_offset, last_offset + 1, log.log_start_offset, hosted, append_time_ms))

    async def flushed(self, topic_partition: TopicPartition) -> None:
        """Returns when what was appended to the partition is fsynced, if its topic asks for that. Raises ApiError."""
        hosted = self._hosted.get(topic_partition)
        if hosted is not None:
            await self.logs.flushes.ended(hosted.log)

    def append_marker(
        self, topic_partition: TopicPartition, marker: EndMarker, producer_id: int, producer_epoch: int
    ) -> ProduceResult:
        """End the producer's transaction in a partition this broker leads, also if none is open. Raises ApiError.

        Nothing is ended for good before the marker is committed.
        """
        hosted = self._leader(topic_partition)
        hosted.partition.check_enough_in_sync()
        batch = build_marker(marker, producer_id, producer_epoch, self._clock.now_ms())
        result = self.append_checked(hosted, batch)
        hosted.log.note_committed(hosted.partition.high_watermark)
        tell(self.on_marker, hosted, producer_id, marker)
        return result

    # -- replicas

    def follower_holds(self, hosted: HostedPartition, replica_id: int, log_end_offset: int, broker_epoch: int) -> None:
        """Record that a follower of this leader, as registered under `broker_epoch`, holds everything before
        `log_end_offset`.
        """
        if hosted.partition.record_fetch(replica_id, log_end_offset, self._clock.monotonic_ms(), broker_epoch):
            self._high_watermark_moved(hosted)

    def isr_written(
        self, hosted: HostedPartition, isr: tuple[int, ...], zk_version: int, elr: tuple[int, ...] = ()
    ) -> None:
        if hosted.partition.isr_written(isr, zk_version, elr):
            self._high_watermark_moved(hosted)

    def take_fetched(
        self, hosted: HostedPartition, records: Buffer, high_watermark: int, log_start_offset: int
    ) -> None:
        """Append the leader's records, and take over its high watermark and log start. Raises ApiError."""
        if len(records):
            hosted.log.append_as_follower(records, self._clock.now_ms())
        hosted.log.follow_log_start(log_start_offset)
        log = hosted.log
        if hosted.partition.record_fetched(log.log_end_offset, high_watermark, log.log_start_offset):
            self._delayed_fetches.wake(hosted.partition.topic_partition)
        log.note_committed(hosted.partition.high_watermark)

    def _high_watermark_moved(self, hosted: HostedPartition) -> None:
        self._delayed_fetches.wake(hosted.partition.topic_partition)
        tell(self.on_high_watermark, hosted)

    # -- reading

    def read(
        self,
        topic_partition: TopicPartition,
        fetch_offset: int,
        max_bytes: int,
        *,
        at_least_one: bool,
        current_leader_epoch: int = NO_LEADER_EPOCH,
        topic_id: UUID | None = None,
        may_follow: bool = False,
        is_stable_only: bool = False,
        is_waiting_for_disk: bool = True,
    ) -> ReadResult:
        """Read committed batches from `fetch_offset` of the topic of that id (any id if None); raises ApiError.
        Unless it `is_waiting_for_disk`, ColdReadError tells what `ReplicaLogs.fetch` has to have read first.

        Only the leader serves, unless `may_follow`: then a follower does as far as it knows records to be committed.
        With `is_stable_only` (read_committed) no batch of a transaction that may still end either way.
        """
        hosted = self._hosted.get(topic_partition)
        if hosted is None:
            raise self._not_hosted(topic_partition)
        if topic_id is not None and hosted.topic_id != topic_id:
            raise ApiError(ErrorCode.INCONSISTENT_TOPIC_ID)
        if may_follow and not hosted.partition.is_leader:
            hosted.partition.check_epoch(current_leader_epoch)
            if hosted.log.is_lent:
                raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE, "this follower's log is being cut")
            if fetch_offset > hosted.log.log_end_offset:
                raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE, "this follower has not come so far yet (KIP-392)")
        else:
            hosted.partition.check_leader(current_leader_epoch)
        log, high_watermark = hosted.log, hosted.partition.high_watermark
        last_stable_offset = log.last_stable_offset(high_watermark)
        end_offset = last_stable_offset if is_stable_only else high_watermark
        if not is_waiting_for_disk:
            log.refuse_if_cold(fetch_offset, max_bytes)
        log_slice = log.read(fetch_offset, max_bytes, end_offset, at_least_one=at_least_one)
        log_slice = log.pass_over_empty(log_slice, fetch_offset, max_bytes, end_offset, at_least_one=at_least_one)
        return new_tuple(
            ReadResult, (log_slice, high_watermark, last_stable_offset, end_offset, log.log_start_offset, log)
        )

    def log_start_moved(self, hosted: HostedPartition) -> None:
        """Wake followers and readers when a leader's log start moves."""
        tell(self.on_append, hosted)
        self._delayed_fetches.wake(hosted.partition.topic_partition)

    def leader_log(self, topic: str, partition: int, current_leader_epoch: int = NO_LEADER_EPOCH) -> HostedPartition:
        """Return the partition if this broker may serve it as leader; raises ApiError."""
        return self._leader(new_tuple(TopicPartition, (topic, partition)), current_leader_epoch)

    def _leader(self, topic_partition: TopicPartition, current_leader_epoch: int = NO_LEADER_EPOCH) -> HostedPartition:
        hosted = self._hosted.get(topic_partition)
        if hosted is None:
            raise self._not_hosted(topic_partition)
        hosted.partition.check_leader(current_leader_epoch)
        return hosted

    def _not_hosted(self, topic_partition: TopicPartition) -> ApiError:
        is_elsewhere = topic_partition in self._led_elsewhere
        return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER if is_elsewhere else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

"""Runs the group coordinators of the `__consumer_offsets` partitions this broker leads.

The pure coordinator answers with records and responses; here the records are appended, replayed and only then the
responses sent. Becoming leader replays the partition from its beginning, in slices between which the loop serves
others; meanwhile requests are answered COORDINATOR_LOAD_IN_PROGRESS.
"""

import asyncio
import itertools
import uuid
from collections import deque
from collections.abc import Awaitable, Callable

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.outcome import Outcome, Producer
from broker.protocol.schema import Message
from broker.records.batch import BatchHeader, iterate_headers
from broker.records.builder import build_batch
from broker.records.control import EndMarker, MarkerType, parse_marker
from broker.records.record import Record, decode_records
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager

_log = logger(__name__)

OFFSETS_TOPIC = "__consumer_offsets"
_LOAD_SLICE_BYTES = 1024 * 1024


class _Shard:
    """One offsets partition led by this broker."""

    def __init__(self, hosted: HostedPartition, coordinator: GroupCoordinator):
        self.hosted = hosted
        self.coordinator = coordinator
        self.is_loaded = False
        self.loading: asyncio.Task | None = None
        #: Outcomes whose answers wait, in order: (offset the high watermark must reach, outcome).
        self.uncommitted: deque[tuple[int, Outcome]] = deque()


class CoordinatorRuntime:
    """Hands group requests to their shard and carries its outcomes out."""

    def __init__(self, replicas: ReplicaManager, config: GroupConfig, clock: Clock):
        self._replicas = replicas
        self._config = config
        self._clock = clock
        self._shards: dict[int, _Shard] = {}
        self._waiting: dict[int, asyncio.Future] = {}
        self._tokens = itertools.count(1)
        self._timer: asyncio.TimerHandle | None = None
        replicas.on_leadership.append(self._on_leadership)
        replicas.on_high_watermark.append(self._on_high_watermark)

    def stop(self) -> None:
        for partition in list(self._shards):
            self._resign(partition)
        if self._timer:
            self._timer.cancel()

    # -- requests

    def submit(
        self, partition: int, ask: Callable[[GroupCoordinator, int, int], Outcome]
    ) -> Message | Awaitable[Message]:
        """Run `ask(coordinator, token, now_ms)` on the shard; its answer now, or when the machine gives it.

        Raises ApiError NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        shard = self.shard(partition)
        token = next(self._tokens)
        outcome = ask(shard.coordinator, token, self._clock.monotonic_ms())
        answer = next((each.response for each in outcome.responses if each.token == token), None)
        is_plain = not outcome.records and not outcome.notes and not shard.uncommitted
        if answer is not None and is_plain and len(outcome.responses) == 1:
            self._arm()
            return answer
        future = self._waiting[token] = asyncio.get_running_loop().create_future()
        self._carry_out(shard, outcome)
        if future.done():
            return future.result()
        return self._await_answer(partition, token, future)

    async def _await_answer(self, partition: int, token: int, future: asyncio.Future) -> Message:
        try:
            return await future
        finally:
            self._waiting.pop(token, None)
            if future.cancelled() and partition in self._shards:
                self._shards[partition].coordinator.cancel(token)

    def shard(self, partition: int) -> _Shard:
        shard = self._shards.get(partition)
        if shard is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not shard.is_loaded:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    @property
    def is_loading(self) -> bool:
        return any(not shard.is_loaded for shard in self._shards.values())

    def loaded_partitions(self) -> list[int]:
        return [partition for partition, shard in self._shards.items() if shard.is_loaded]

    def partitions_deleted(self, partitions: list[TopicPartition]) -> None:
        """Every coordinator forgets what its groups committed for them."""
        for shard in self._shards.values():
            if shard.is_loaded:
                shard.coordinator.partitions_deleted(partitions, self._clock.monotonic_ms())
        self._arm()

    # -- outcomes

    def _carry_out(self, shard: _Shard, outcome: Outcome) -> None:
        committed_at = shard.uncommitted[-1][0] if shard.uncommitted else 0
        try:
            if outcome.records:
                committed_at = self._append(shard, outcome)
        except ApiError as error:
            outcome = shard.coordinator.abort(outcome, error.code)
        for note in outcome.notes:
            _log.info(note.event, **note.facts)
        if committed_at > shard.hosted.partition.high_watermark:
            shard.uncommitted.append((committed_at, outcome))
        else:
            self._answer(outcome)
        self._arm()

    def _answer(self, outcome: Outcome) -> None:
        for answer in outcome.responses:
            future = self._waiting.pop(answer.token, None)
            if future is not None and not future.done():
                future.set_result(answer.response)

    def _on_high_watermark(self, hosted: HostedPartition) -> None:
        """What was waiting in the order of the log is answered in that order."""
        topic_partition = hosted.partition.topic_partition
        shard = self._shards.get(topic_partition.partition) if topic_partition.topic == OFFSETS_TOPIC else None
        while shard and shard.uncommitted and shard.uncommitted[0][0] <= hosted.partition.high_watermark:
            self._answer(shard.uncommitted.popleft()[1])

    def _append(self, shard: _Shard, outcome: Outcome) -> int:
        """Append and replay; where the high watermark must be for the records to be committed. Raises ApiError."""
        shard.hosted.partition.check_leader()
        now_ms = self._clock.now_ms()
        records = [
            Record(offset=i, timestamp_ms=now_ms, key=r.key, value=r.value, headers=())
            for i, r in enumerate(outcome.records)
        ]
        shard.hosted.partition.check_enough_in_sync(shard.hosted.log.config.min_insync_replicas)
        appended = self._replicas.append_checked(shard.hosted, _batch_of(records, outcome.producer))
        producer_id = outcome.producer.producer_id if outcome.producer else None
        for record in outcome.records:
            shard.coordinator.replay(record.key, record.value, producer_id)
        return appended.end_offset

    def complete_transaction(self, hosted: HostedPartition, producer_id: int, marker: EndMarker) -> None:
        """A marker was appended: offsets count at once, but answers that show them wait for it to be committed."""
        topic, partition = hosted.partition.topic_partition
        shard = self._shards.get(partition) if topic == OFFSETS_TOPIC else None
        if shard is None or not shard.is_loaded:  # the load reads the marker
            return
        shard.coordinator.complete_transaction(producer_id, marker.type is MarkerType.COMMIT)
        if hosted.log.log_end_offset > hosted.partition.high_watermark:
            shard.uncommitted.append((hosted.log.log_end_offset, Outcome()))

    # -- time

    def _arm(self) -> None:
        deadlines = [
            deadline
            for shard in self._shards.values()
            if shard.is_loaded and (deadline := shard.coordinator.next_deadline_ms()) is not None
        ]
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if deadlines:
            delay_ms = max(0, min(deadlines) - self._clock.monotonic_ms())
            self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now_ms = self._clock.monotonic_ms()
        for shard in self._shards.values():
            deadline = shard.coordinator.next_deadline_ms() if shard.is_loaded else None
            if deadline is not None and deadline <= now_ms:
                self._carry_out(shard, shard.coordinator.tick(now_ms))
        self._arm()

    # -- leadership

    def _on_leadership(self, topic_partition: TopicPartition, is_leader: bool) -> None:
        if topic_partition.topic != OFFSETS_TOPIC:
            return
        self._resign(topic_partition.partition)
        if is_leader:
            self._take_over(topic_partition.partition)

    def _resign(self, partition: int) -> None:
        shard = self._shards.pop(partition, None)
        if shard is None:
            return
        if shard.loading:
            shard.loading.cancel()
        for _, outcome in shard.uncommitted:
            self._answer(shard.coordinator.abort(outcome, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        if shard.is_loaded:
            self._answer(shard.coordinator.unload())

    def _take_over(self, partition: int) -> None:
        hosted = self._replicas.get(OFFSETS_TOPIC, partition)
        coordinator = GroupCoordinator(self._config, _new_member_id, self._clock.now_ms)
        shard = self._shards[partition] = _Shard(hosted, coordinator)
        if hosted.log.log_end_offset == hosted.log.log_start_offset:
            self._loaded(shard)
        else:
            shard.loading = asyncio.get_running_loop().create_task(self._load(shard))

    async def _load(self, shard: _Shard) -> None:
        """A partition that cannot be read to its end is not coordinated: half of the offsets is worse than none."""
        partition = shard.hosted.partition.topic_partition.partition
        try:
            await self._replay_all(shard)
        except Exception:
            _log.exception("groups cannot be loaded", partition=partition)
            del self._shards[partition]
        else:
            self._loaded(shard)

    async def _replay_all(self, shard: _Shard) -> None:
        """To the end as it is then: markers are appended while the partition is loaded."""
        log = shard.hosted.log
        at = log.log_start_offset
        while at < (end := log.log_end_offset):
            data = memoryview(log.read(at, _LOAD_SLICE_BYTES, end, at_least_one=True).read())
            began_at = at
            for position, header in iterate_headers(data):
                at = header.next_offset
                _replay_batch(shard, header, data[position : position + header.size_bytes])
            if at == began_at:
                raise InvariantViolation(f"nothing is to be read at offset {at}, but the log ends at {end}")
            await asyncio.sleep(0)

    def _loaded(self, shard: _Shard) -> None:
        """What was read need not be committed yet: no answer shows it before it is."""
        shard.coordinator.after_load(self._clock.monotonic_ms())
        if shard.hosted.log.log_end_offset > shard.hosted.partition.high_watermark:
            shard.uncommitted.append((shard.hosted.log.log_end_offset, Outcome()))
        shard.is_loaded = True
        self._arm()


def _batch_of(records: list[Record], producer: Producer | None) -> bytearray:
    if producer is None:
        return build_batch(records)
    return build_batch(records, **producer._asdict(), is_transactional=True)


def _replay_batch(shard: _Shard, header: BatchHeader, batch: memoryview) -> None:
    if header.is_control:
        marker = parse_marker(batch)
        if marker is not None:
            shard.coordinator.complete_transaction(header.producer_id, marker.type is MarkerType.COMMIT)
        return
    producer_id = header.producer_id if header.is_transactional else None
    for record in decode_records(batch):
        _replay(shard, record, producer_id)


def _replay(shard: _Shard, record: Record, producer_id: int | None) -> None:
    try:
        shard.coordinator.replay(record.key or b"", record.value, producer_id)
    except InvariantViolation as error:
        partition = str(shard.hosted.partition.topic_partition)
        _log.error("record passed over", partition=partition, offset=record.offset, reason=str(error))


def _new_member_id(client_id: str) -> str:
    return f"{client_id}-{uuid.uuid4()}"

"""Runs the coordinators of one internal topic: one for each of its partitions that this broker leads.

The pure coordinator answers with records and responses; here the records are appended, replayed and only then, when
they are committed, the responses sent. Becoming leader replays the partition from its beginning (`loading`); meanwhile
requests are answered COORDINATOR_LOAD_IN_PROGRESS. Whatever belongs to a leadership ends with it.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import new_tuple
from broker.coordinator.outcome import RECORD_BYTES_PER_TICK, Outcome
from broker.protocol.schema import Message
from broker.records.batch import HEADER_BYTES
from broker.records.builder import build_batch
from broker.records.control import EndMarker
from broker.records.record import Record
from broker.runtime.coordinators.loading import replay_all
from broker.runtime.coordinators.shard import C, Shard
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager

_log = logger(__name__)


class CoordinatorRuntime(Generic[C]):
    """Hands requests to the shard of their partition and carries its outcomes out."""

    def __init__(self, topic: str, new_coordinator: Callable[[], C], replicas: ReplicaManager, clock: Clock):
        """`new_coordinator` makes an empty one for a partition this broker begins to lead."""
        self.topic = topic
        self._new_coordinator = new_coordinator
        self._replicas = replicas
        self._clock = clock
        self._shards: dict[int, Shard[C]] = {}
        self._waiting: dict[int, asyncio.Future] = {}
        self._tokens = itertools.count(1)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        #: Told of each outcome whose records are committed. It must not call a coordinator before it returns.
        self.on_committed: list[Callable[[Shard[C], Outcome], None]] = []
        #: Told of each partition given up.
        self.on_resigned: list[Callable[[int], None]] = []
        replicas.on_role.append(self._on_role)
        replicas.on_high_watermark.append(self._on_high_watermark)

    def __len__(self) -> int:
        """Partitions led, whether loaded or not."""
        return len(self._shards)

    def __iter__(self) -> Iterator[C]:
        """The coordinators that are served."""
        return (shard.coordinator for shard in self._shards.values() if shard.is_loaded)

    def stop(self) -> None:
        for partition in list(self._shards):
            self._resign(partition)
        if self._timer:
            self._timer.cancel()

    # -- requests

    def submit(self, partition: int, ask: Callable[[C, int, int], Outcome]) -> Message | Awaitable[Message]:
        """Run `ask(coordinator, token, now_ms)` on the shard; its answer now, or when the machine gives it.

        Raises ApiError NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        shard = self.shard(partition)
        token = next(self._tokens)
        outcome = ask(shard.coordinator, token, self._clock.monotonic_ms())
        answer = next((each.response for each in outcome.responses if each.token == token), None)
        is_plain = not outcome.records and not outcome.notes and not shard.uncommitted
        if answer is not None and is_plain and len(outcome.responses) == 1:
            self._arm(shard)
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

    def tell(self, partition: int, tell: Callable[[C, int], Outcome]) -> None:
        """Run `tell(coordinator, now_ms)` on the shard, for news that nobody waits to have answered.

        Raises ApiError as `submit`.
        """
        shard = self.shard(partition)
        self._carry_out(shard, tell(shard.coordinator, self._clock.monotonic_ms()))

    def shard(self, partition: int) -> Shard[C]:
        """The partition's; raises ApiError as `submit`."""
        shard = self._shards.get(partition)
        if shard is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not shard.is_loaded:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def complete_transaction(self, hosted: HostedPartition, producer_id: int, marker: EndMarker) -> None:
        """A marker was appended: its records count at once, but answers that show them wait for it to be committed."""
        topic, partition = hosted.partition.topic_partition
        shard = self._shards.get(partition) if topic == self.topic else None
        if shard is None or not shard.is_loaded:  # the load reads the marker
            return
        shard.complete_transaction(producer_id, marker)
        shard.wait_for_commit()

    @property
    def is_loading(self) -> bool:
        return any(not shard.is_loaded for shard in self._shards.values())

    def loaded_partitions(self) -> list[int]:
        return [partition for partition, shard in self._shards.items() if shard.is_loaded]

    # -- outcomes

    def _carry_out(self, shard: Shard[C], outcome: Outcome) -> None:
        committed_at = shard.committed_after
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
            self._committed(shard, outcome)
        self._arm(shard)

    def _committed(self, shard: Shard[C], outcome: Outcome) -> None:
        self._answer(outcome)
        for listener in self.on_committed:
            listener(shard, outcome)

    def _answer(self, outcome: Outcome) -> None:
        for answer in outcome.responses:
            future = self._waiting.pop(answer.token, None)
            if future is not None and not future.done():
                future.set_result(answer.response)

    def _on_high_watermark(self, hosted: HostedPartition) -> None:
        """What was waiting in the order of the log is answered in that order."""
        topic, partition = hosted.partition.topic_partition
        shard = self._shards.get(partition) if topic == self.topic else None
        while shard and shard.uncommitted and shard.uncommitted[0][0] <= hosted.partition.high_watermark:
            self._committed(shard, shard.uncommitted.popleft()[1])

    def _append(self, shard: Shard[C], outcome: Outcome) -> int:
        """Append and replay; where the high watermark must be for the records to be committed.

        Raises ApiError; of a divisible outcome some records may count then.
        """
        shard.hosted.partition.check_leader()
        shard.hosted.partition.check_enough_in_sync(shard.hosted.log.config.min_insync_replicas)
        producer = outcome.producer._asdict() if outcome.producer else {}
        bytes_max = min(RECORD_BYTES_PER_TICK, shard.hosted.log.config.max_message_bytes - HEADER_BYTES)
        now_ms = self._clock.now_ms()
        for part in outcome.batches(bytes_max):
            records = [new_tuple(Record, (0, now_ms, key, value, ())) for key, value in part]
            batch = build_batch(records, **producer, is_transactional=outcome.producer is not None)
            appended = self._replicas.append_checked(shard.hosted, batch)
            for record in part:
                shard.replay(record.key, record.value, producer.get("producer_id"))
        return appended.end_offset

    # -- time

    def _arm(self, shard: Shard[C]) -> None:
        """After every call into the shard. One timer serves all shards; it may ring too early, never too late."""
        deadline_ms = shard.coordinator.next_deadline_ms()
        if deadline_ms is not None and (self._timer is None or deadline_ms < self._timer_ms):
            self._arm_at(deadline_ms)

    def _arm_at(self, deadline_ms: int) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.monotonic_ms())
        self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now_ms = self._clock.monotonic_ms()
        for shard in [each for each in self._shards.values() if each.is_loaded]:
            deadline_ms = shard.coordinator.next_deadline_ms()
            if deadline_ms is not None and deadline_ms <= now_ms:
                self._carry_out(shard, shard.coordinator.tick(now_ms))
            else:
                self._arm(shard)

    # -- leadership

    def _on_role(self, hosted: HostedPartition) -> None:
        """A later leader epoch of a leadership that never ended changes nothing: the log is still what was replayed."""
        topic, partition = hosted.partition.topic_partition
        if topic != self.topic:
            return
        if not hosted.partition.is_leader:
            self._resign(partition)
        elif partition not in self._shards:
            self._take_over(hosted)

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
        for listener in self.on_resigned:
            listener(partition)

    def _take_over(self, hosted: HostedPartition) -> None:
        shard = Shard(hosted, self._new_coordinator())
        self._shards[shard.partition] = shard
        if hosted.log.log_end_offset == hosted.log.log_start_offset:
            self._loaded(shard)
        else:
            shard.loading = asyncio.get_running_loop().create_task(self._load(shard))

    async def _load(self, shard: Shard[C]) -> None:
        """A partition that cannot be read to its end is not coordinated: half of the state is worse than none."""
        try:
            await replay_all(shard)
        except Exception:
            _log.exception("coordinator cannot be loaded", topic=self.topic, partition=shard.partition)
            del self._shards[shard.partition]
        else:
            self._loaded(shard)

    def _loaded(self, shard: Shard[C]) -> None:
        """What was loaded may not be committed yet: nothing is answered from it before it is."""
        shard.is_loaded = True
        outcome = shard.coordinator.after_load(self._clock.monotonic_ms())
        shard.wait_for_commit()
        self._carry_out(shard, outcome)
        self._on_high_watermark(shard.hosted)

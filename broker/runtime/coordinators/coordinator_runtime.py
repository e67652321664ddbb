"""Runs the coordinators of one internal topic: one for each of its partitions that this broker leads.

The pure coordinator answers with records and responses; here the records are appended, replayed and only then, when
they are committed, the responses sent. Becoming leader replays the partition from its beginning (`loading`); meanwhile
requests are answered COORDINATOR_LOAD_IN_PROGRESS. Whatever belongs to a leadership ends with it.

Committed means: below the high watermark, while as many replicas are in sync as the topic asks for. An answer waits for
that no longer than `answer_within_ms`; its records may be committed later all the same. What raises costs the request,
or the timer, that led to it.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Generic, TypeVarTuple

from broker.common.clock import Clock
from broker.common.errors import ApiError, ErrorCode, InvariantViolation
from broker.common.logs import logger
from broker.common.types import new_tuple
from broker.coordinator.outcome import (
    RECORD_BYTES_PER_TICK,
    CoordinatorOutcome,
    CoordinatorRecord,
    CoordinatorResponse,
    Remains,
    TransactionProducer,
)
from broker.net.turns import Turns
from broker.protocol.schema import Message
from broker.records.batch import HEADER_BYTES
from broker.records.builder import build_batch
from broker.records.control import EndMarker
from broker.records.record import Record
from broker.runtime.coordinators.loading import load
from broker.runtime.coordinators.shard import C, Proposed, Shard
from broker.runtime.in_turns import emptied_in_turns
from broker.runtime.replication.hosted_partition import HostedPartition
from broker.runtime.replication.replica_manager import ReplicaManager

_log = logger(__name__)

#: How long timers of a shard are left alone of which one could not be dealt with.
_TIMERS_WAIT_MS = 1_000
#: Groups, offsets of groups or timers.
_FREED_AT_ONCE = 1_000

#: A call's token, if an answer is waited for; none else.
Token = TypeVarTuple("Token")


class CoordinatorRuntime(Generic[C, Proposed]):
    """Hands requests to the shard of their partition and carries its outcomes out."""

    def __init__(
        self,
        topic: str,
        new_coordinator: Callable[[], C],
        replicas: ReplicaManager,
        clock: Clock,
        answer_within_ms: int,
    ):
        """`new_coordinator` makes an empty one for a partition this broker begins to lead."""
        self.topic = topic
        self._answer_within_ms = answer_within_ms
        self._new_coordinator = new_coordinator
        self._replicas = replicas
        self._clock = clock
        self._shards: dict[int, Shard[C, Proposed]] = {}
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._tokens = itertools.count(1)
        self._loading_turns = Turns()
        self._freeing: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        #: Partitions led here whose coordinators could not be loaded so far.
        self.not_loaded: set[int] = set()
        #: Calls into coordinators, and replays, that raised what nobody foresaw.
        self.failures = 0
        #: Told of each outcome that is followed up, when its records are committed. It must not call a coordinator
        #: before it returns, nor raise.
        self.on_committed: list[Callable[[Shard[C, Proposed], Proposed], None]] = []
        #: Told of each partition given up.
        self.on_resigned: list[Callable[[int], None]] = []
        replicas.on_role.append(self._on_role)
        replicas.on_high_watermark.append(self._on_high_watermark)

    def __len__(self) -> int:
        """Partitions led, whether loaded or not."""
        return len(self._shards)

    def __iter__(self) -> Iterator[C]:
        """Yield the coordinators that are served."""
        return (shard.coordinator for shard in self._shards.values() if shard.is_loaded)

    def settled(self) -> Iterator[tuple[C, int]]:
        """Yield the coordinators all of whose state is committed, with their leader epochs."""
        for shard in self._shards.values():
            if shard.is_loaded and shard.is_all_committed:
                yield shard.coordinator, shard.hosted.partition.leader_epoch

    def stop(self) -> None:
        for partition in list(self._shards):
            self._resign(partition)
        if self._timer:
            self._timer.cancel()

    # -- requests

    def submit(self, partition: int, ask: Callable[[C, int, int], Proposed]) -> Message | Awaitable[Message]:
        """Run `ask(coordinator, token, now_ms)` on the shard; return its response, now or later.

        Raises ApiError NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS. After a lost session others may coordinate,
        and have changed what is known here: nobody is answered until the controller has told which roles go with the
        new registration.
        """
        if self._replicas.told_epoch <= self._replicas.lost_epoch:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        shard = self.shard(partition)
        token = next(self._tokens)
        try:
            outcome = self._call(shard, ask, token)
        except Exception:
            shard.coordinator.cancel(token)
            raise
        if _is_answered(outcome, token) and (outcome.responses[0].is_at_once or shard.is_all_committed):
            self._arm(shard)
            return outcome.responses[0].response
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[token] = future
        self._carry_out(shard, outcome)
        if future.done():
            return future.result()
        future.add_done_callback(partial(self._answered_or_left, partition, token))
        return future

    def _answered_or_left(self, partition: int, token: int, future: asyncio.Future[Message]) -> None:
        if not future.cancelled():
            return
        self._waiting.pop(token, None)
        shard = self._shards.get(partition)
        if shard is not None:
            shard.uncommitted.forget(token)
            shard.coordinator.cancel(token)

    def _call(self, shard: Shard[C, Proposed], call: Callable[[C, *Token, int], Proposed], *token: *Token) -> Proposed:
        """Run `call` on the shard. If it raises, the records it proposed are dropped: they would never be appended."""
        try:
            return call(shard.coordinator, *token, self._clock.monotonic_ms())
        except Exception:
            self.failures += 1
            self._carry_out(shard, shard.coordinator.recover())
            raise

    def tell(self, partition: int, tell: Callable[[C, int], Proposed]) -> None:
        """Run `tell(coordinator, now_ms)` on the shard, without a response. Raises ApiError as `submit`."""
        shard = self.shard(partition)
        self._carry_out(shard, self._call(shard, tell))

    def shard(self, partition: int) -> Shard[C, Proposed]:
        """Return the partition's shard; raises ApiError as `submit`."""
        shard = self._shards.get(partition)
        if shard is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not shard.is_loaded:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return shard

    def complete_transaction(self, hosted: HostedPartition, producer_id: int, marker: EndMarker) -> None:
        """Apply an appended marker: its records count at once, but answers that show them wait for it to be
        committed.
        """
        topic, partition = hosted.partition.topic_partition
        shard = self._shards.get(partition) if topic == self.topic else None
        if shard is None or not shard.is_loaded:  # the load reads the marker
            return
        shard.note_written(hosted.log.log_end_offset)
        shard.complete_transaction(producer_id, marker)
        self._arm(shard)

    @property
    def is_loading(self) -> bool:
        return any(not shard.is_loaded for shard in self._shards.values())

    def loaded_partitions(self) -> list[int]:
        return [partition for partition, shard in self._shards.items() if shard.is_loaded]

    # -- outcomes

    def _carry_out(self, shard: Shard[C, Proposed], outcome: Proposed) -> None:
        if outcome.records:
            outcome = self._written(shard, outcome)
        for note in outcome.notes:
            (_log.warning if note.is_warning else _log.info)(note.event, **note.facts)
        asks_for_replicas = bool(outcome.records) or outcome.is_followed_up
        if shard.is_all_committed and (shard.is_in_sync or not asks_for_replicas):
            self._answer_all(outcome.responses)
            self._follow_up(shard, outcome)
        else:
            self._put_off(shard, outcome)
        self._arm(shard)

    def _put_off(self, shard: Shard[C, Proposed], outcome: Proposed) -> None:
        deadline_ms = self._clock.monotonic_ms() + self._answer_within_ms
        for answer in outcome.responses:
            if answer.is_at_once:
                self._answer(answer)
            elif answer.token in self._waiting:
                shard.uncommitted.add_answer(shard.written_to, deadline_ms, answer)
        if outcome.is_followed_up:
            shard.uncommitted.add_outcome(shard.written_to, outcome)

    def _answer_all(self, answers: Iterable[CoordinatorResponse]) -> None:
        for answer in answers:
            self._answer(answer)

    def _answer(self, answer: CoordinatorResponse) -> None:
        future = self._waiting.pop(answer.token, None)
        if future is not None and not future.done():
            future.set_result(answer.response)

    def _follow_up(self, shard: Shard[C, Proposed], outcome: Proposed) -> None:
        if outcome.is_followed_up:
            for listener in self.on_committed:
                listener(shard, outcome)

    def _on_high_watermark(self, hosted: HostedPartition) -> None:
        """Answer the requests that waited for records below the high watermark, in the order of the log."""
        topic, partition = hosted.partition.topic_partition
        shard = self._shards.get(partition) if topic == self.topic else None
        if shard is None or not shard.is_loaded:
            return
        high_watermark = hosted.partition.high_watermark
        shard.coordinator.committed(high_watermark)
        if shard.is_in_sync:
            self._answer_all(shard.uncommitted.take_answers(high_watermark))
            for outcome in shard.uncommitted.take_outcomes(high_watermark):
                self._follow_up(shard, outcome)

    def _written(self, shard: Shard[C, Proposed], outcome: Proposed) -> Proposed:
        """Return the outcome once its records are appended and replayed, else what to do instead."""
        try:
            self._append(shard, outcome)
            return outcome
        except ApiError as error:
            code = error.code
        except Exception:
            partition = str(shard.hosted.partition.topic_partition)
            _log.exception("coordinator cannot write", partition=partition)
            self.failures += 1
            code = ErrorCode.UNKNOWN_SERVER_ERROR
        aborted: Proposed = shard.coordinator.abort(outcome, code)
        return aborted

    def _append(self, shard: Shard[C, Proposed], outcome: Proposed) -> None:
        """Append and replay. Raises ApiError; of a divisible outcome some records may count then."""
        shard.hosted.partition.check_leader()
        shard.hosted.partition.check_enough_in_sync()
        batch_bytes_max = shard.hosted.log.config.max_message_bytes
        producer_id = outcome.producer.producer_id if outcome.producer else None
        now_ms = self._clock.now_ms()
        for part in outcome.batches(min(RECORD_BYTES_PER_TICK, batch_bytes_max - HEADER_BYTES)):
            batch = _build_batch(part, outcome.producer, now_ms, batch_bytes_max)
            shard.note_written(self._replicas.append_checked(shard.hosted, batch).end_offset)
            for record in part:
                shard.replay(*record, producer_id)

    # -- time

    def _arm(self, shard: Shard[C, Proposed]) -> None:
        """Set the timer after every call into the shard. One timer serves all shards; it may ring too early, never too
        late.
        """
        deadline_ms = shard.next_deadline_ms()
        if deadline_ms is not None and (self._timer is None or deadline_ms < self._timer_ms):
            self._arm_at(deadline_ms)

    def _arm_at(self, deadline_ms: int) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.monotonic_ms())
        self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, self._tick)

    def _tick(self) -> None:
        """Tick the shard that has been due for longest; the others in the next passes."""
        self._timer = None
        now_ms = self._clock.monotonic_ms()
        shards = [shard for shard in self._shards.values() if shard.is_loaded]
        for shard in shards:
            self._try(shard, now_ms, self._answer_overdue)
        timers = [(shard.next_timer_ms(), shard) for shard in shards]
        due = [(timer_ms, shard) for timer_ms, shard in timers if timer_ms is not None and timer_ms <= now_ms]
        if due:
            _, longest_due = min(due, key=itemgetter(0))
            self._try(longest_due, now_ms, self._tick_shard)
        for shard in shards:
            self._arm(shard)

    def _answer_overdue(self, shard: Shard[C, Proposed], now_ms: int) -> None:
        for answer in shard.uncommitted.take_overdue(now_ms):
            self._answer(shard.coordinator.unconfirmed(answer, ErrorCode.REQUEST_TIMED_OUT))

    def _tick_shard(self, shard: Shard[C, Proposed], now_ms: int) -> None:
        self._carry_out(shard, self._call(shard, lambda coordinator, now_ms: coordinator.tick(now_ms)))

    def _try(self, shard: Shard[C, Proposed], now_ms: int, work: Callable[[Shard[C, Proposed], int], None]) -> None:
        """Do the work; what fails is tried again later, never at once: it might fail for ever."""
        try:
            work(shard, now_ms)
        except Exception:
            _log.exception("coordinator's timer failed", partition=str(shard.hosted.partition.topic_partition))
            shard.timers_wait_until_ms = now_ms + _TIMERS_WAIT_MS

    # -- leadership

    def _on_role(self, hosted: HostedPartition) -> None:
        """Follow a role. A later leader epoch of an unbroken leadership changes nothing: the log is still what was
        replayed.
        """
        topic, partition = hosted.partition.topic_partition
        if topic != self.topic:
            return
        if not hosted.partition.is_leader:
            self._resign(partition)
        elif partition not in self._shards:
            self._take_over(hosted)

    def _resign(self, partition: int) -> None:
        self.not_loaded.discard(partition)
        shard = self._shards.pop(partition, None)
        if shard is None:
            return
        if shard.loading:
            shard.loading.cancel()
        for answer in shard.uncommitted.take_all_answers():
            self._answer(shard.coordinator.unconfirmed(answer, ErrorCode.NOT_LEADER_OR_FOLLOWER))
        if shard.is_loaded:
            outcome = shard.coordinator.unload()
            self._answer_all(outcome.responses)
            for remain in outcome.remains:
                self._free(remain)
        for listener in self.on_resigned:
            listener(partition)

    def _free(self, remains: Remains) -> None:
        if len(remains) <= _FREED_AT_ONCE:
            return
        freeing = asyncio.get_running_loop().create_task(emptied_in_turns(remains, self._loading_turns))
        self._freeing.add(freeing)
        freeing.add_done_callback(self._freeing.discard)

    def _take_over(self, hosted: HostedPartition) -> None:
        shard: Shard[C, Proposed] = Shard(hosted, self._new_coordinator())
        self._shards[shard.partition] = shard
        if hosted.log.log_end_offset == hosted.log.log_start_offset:
            self._loaded(shard)
        else:
            shard.loading = asyncio.get_running_loop().create_task(self._load(shard))

    async def _load(self, shard: Shard[C, Proposed]) -> None:
        """Load a shard. Half of the state is worse than none: a partition that cannot be read to its end is not
        coordinated.
        """
        try:
            await load(shard, self._new_coordinator, self._loaded, self.not_loaded, self._loading_turns)
        except InvariantViolation:
            facts = {"topic": self.topic, "partition": shard.partition}
            _log.exception("coordinator cannot be loaded, let another replica lead", **facts)
            self.not_loaded.add(shard.partition)
            del self._shards[shard.partition]

    def _loaded(self, shard: Shard[C, Proposed]) -> None:
        """Start serving a loaded shard. What was loaded may not be committed yet: nothing is promised because of it
        before it is.
        """
        shard.note_written(shard.hosted.log.log_end_offset)
        outcome = self._call(shard, lambda coordinator, now_ms: coordinator.after_load(now_ms))
        shard.is_loaded = True
        self.not_loaded.discard(shard.partition)
        self._carry_out(shard, outcome)


def _is_answered(outcome: CoordinatorOutcome, token: int) -> bool:
    """Return whether the request is answered and nothing else is to do: the usual case, which costs no future."""
    is_plain = len(outcome.responses) == 1 and not outcome.records and not outcome.notes
    return is_plain and outcome.responses[0].token == token and not outcome.is_followed_up


def _build_batch(
    part: Sequence[CoordinatorRecord], producer: TransactionProducer | None, now_ms: int, bytes_max: int
) -> bytearray:
    """Return the batch of the records, without their headers where it has more bytes than the maximum with them.

    Headers only tell a later coordinator for which clients it counts the records: no record is refused for them.
    """
    of_producer = {**producer._asdict(), "is_transactional": True} if producer else {}
    batch = build_batch([new_tuple(Record, (0, now_ms, *record)) for record in part], **of_producer)
    if len(batch) <= bytes_max:
        return batch
    return build_batch([Record(0, now_ms, record.key, record.value) for record in part], **of_producer)

"""A sink's task, at least once: consumed, converted, put; offsets committed when the task says they are safe."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from itertools import groupby
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException
from confluent_kafka import TopicPartition as Place

from broker.client.cluster import ClusterConnections
from broker.common.logs import logger
from broker.connect.api import (
    ConnectError,
    ConnectPartition,
    RecordError,
    RetriableError,
    SinkColumns,
    SinkRecord,
    SinkTask,
)
from broker.connect.group.wire import Unit
from broker.connect.redaction import NO_REFERENCES, Redaction, redacting
from broker.connect.tasks.consumed import is_passing, partition_of, place_of, read_at
from broker.connect.tasks.dead_letters import DeadLetters
from broker.connect.tasks.matching_topics import MatchingTopics
from broker.connect.tasks.pipeline import Pipeline
from broker.connect.tasks.retriable import failure_of
from broker.connect.tasks.sink_audit import SinkAudit, is_enabled
from broker.connect.tasks.sink_batch import Offsets, SinkBatch
from broker.connect.tasks.sink_consumer import SinkConsumer, leaves_out
from broker.connect.tasks.tolerance import RecordFailure, Tolerance
from broker.connect.tasks.unit import RunningUnit, Tell
from broker.connect.traces import trace_of

_log = logger("broker.connect")
_BATCH_RECORDS = 500
_WAIT_S = 0.5
_RETRY_PAUSE_S = 1.0
_HOLD_S = 0.05
_LIST_S = 10.0
_NOTHING_MATCHES = "no topic that this login may describe matches topics.regex: READ on a topic lets it be seen"


class _NamedError(ConnectError):
    """An error that names the record at fault."""


class RunningSink(RunningUnit):
    """The context of its task, too. Everything but `ask_to_stop` happens on its thread."""

    def __init__(
        self,
        unit: Unit,
        tell: Tell,
        is_paused: bool,
        *,
        task: Callable[[], SinkTask],
        props: Mapping[str, str],
        worker_props: Mapping[str, str],
        consumer: Mapping[str, Any],
        connect: Callable[[], ClusterConnections],
        producer: Mapping[str, Any],
        admin: Mapping[str, Any],
        holds: Callable[[], bool],
        used: Callable[[Unit, str], None],
        flush_interval_s: float,
        redaction: Redaction = NO_REFERENCES,
    ):
        super().__init__(unit, tell, is_paused, redaction)
        self._make, self._props, self._worker_props = task, props, worker_props
        self._consumer_config, self._producer_config, self._admin_config = consumer, producer, admin
        self._connect = connect
        self._holds, self._used = holds, used
        self._flush_interval_s = flush_interval_s
        self._seen_topics: set[str] = set()
        self._reset()

    def _reset(self) -> None:
        """Forget the run before: what it had not committed is read again."""
        self._audit: SinkAudit | None = None
        self._assigned: set[ConnectPartition] = set()
        #: Behind what `put` has returned for, and what the group has.
        self._processed: Offsets = {}
        self._committed: Offsets = {}
        self._paused: set[ConnectPartition] = set()
        self._retry_pause_s = _RETRY_PAUSE_S
        self._commit_asked = False
        self._batch = SinkBatch()
        self._matching: MatchingTopics | None = None
        self._is_uncommitted = False

    # --- what a task may ask

    def assignment(self) -> set[ConnectPartition]:
        return set(self._assigned)

    def offset(self, offsets: Mapping[ConnectPartition, int]) -> None:
        for partition, offset in offsets.items():
            self._seek(partition, offset)

    def timeout(self, timeout_ms: int) -> None:
        self._retry_pause_s = timeout_ms / 1000

    def pause(self, *partitions: ConnectPartition) -> None:
        """Pause the consumer without partitions: the worker pauses the whole task."""
        if not partitions:
            super().pause()
            return
        self._paused |= set(partitions)
        self._consumer.pause([Place(*partition) for partition in partitions])

    def resume(self, *partitions: ConnectPartition) -> None:
        if not partitions:
            super().resume()
            return
        self._paused -= set(partitions)
        self._consumer.resume([Place(*partition) for partition in partitions])

    def request_commit(self) -> None:
        self._commit_asked = True

    @property
    def errant_record_reporter(self) -> "RunningSink":
        return self

    def report(self, record: SinkRecord, error: Exception) -> "Future[None]":
        done: Future[None] = Future()
        message = self._batch.message_of(record)
        if message is None:
            raise ConnectError("the record reported is not of the batch that was put last")
        if self._audit is not None:
            self._audit.reported(message)
        with redacting(self._redaction):  # a task may report on a thread of its own
            self._give_up(message, RecordFailure("TASK_PUT", self._task_name, error))
        self._dead_letters.flush()
        done.set_result(None)
        return done

    # --- life

    def run(self) -> None:
        self._reset()
        self._tolerance = Tolerance(self._props, self.stopping)
        self._pipeline = Pipeline(self._worker_props, self._props, self._tolerance)
        self._dead_letters = DeadLetters(self.unit, self._props, self._producer_config, self._admin_config)
        self._begin_audit()
        self._consumer = SinkConsumer(self._consumer_config, self._connect, leaves_out(self.unit, self._tolerance))
        self._task = self._make()
        self._task_name = type(self._task).__name__
        try:
            self._task.start(self._props, self)
            self._subscribe()
            self.say("PAUSED" if self.is_paused else "RUNNING")
            self._loop()
            self._close(self._assigned, commits=True)
        finally:
            try:
                self._task.stop()
            finally:
                self._dead_letters.close()
                if self._audit is not None:
                    self._audit.close()
                self._consumer.close()
                self._pipeline.close()
        self.say("UNASSIGNED")

    def _begin_audit(self) -> None:
        if is_enabled(self._props, self._worker_props):
            has_dead_letters = self._dead_letters.has_topic
            self._audit = SinkAudit(self.unit.connector, self._producer_config, has_dead_letters=has_dead_letters)

    def _subscribe(self) -> None:
        if pattern := self._props.get("topics.regex"):
            self._matching = MatchingTopics(pattern, self._topic_names, time.monotonic)
            self._find_topics()
        else:
            topics = self._props.get("topics", "").split(",")
            self._subscribe_to([topic.strip() for topic in topics if topic.strip()])

    def _topic_names(self) -> list[str]:
        return list(self._consumer.list_topics(timeout=_LIST_S).topics)

    def _find_topics(self) -> None:
        """Find the topics of a pattern; after a failure they are asked for a little later."""
        if self._matching is None:
            return
        try:
            topics = self._matching.changed()
        except KafkaException as error:
            _log.warning("topics not listed", connector=self.unit.connector, reason=error.args[0].str())
            return
        if topics is not None:
            self._subscribe_to(topics) if topics else self._consumer.unsubscribe()
        if self._matching.is_empty:
            self.falters("nothing to read", ConnectError(_NOTHING_MATCHES))

    def _subscribe_to(self, topics: list[str]) -> None:
        self._consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)

    def _loop(self) -> None:
        commit_at = time.monotonic() + self._flush_interval_s
        while not self.stopping.is_set():
            if self.is_paused:
                self._rest_paused()
                continue
            if not self._holds():
                self.stopping.wait(_HOLD_S)
                continue
            if not self._batch.ends:
                self._find_topics()
                self._take(self._consumer.consume(_BATCH_RECORDS, _WAIT_S))
            self._deliver()
            if self._commit_asked or time.monotonic() >= commit_at:
                self._commit(self._assigned)
                self._commit_asked = False
                commit_at = time.monotonic() + self._flush_interval_s

    def _rest_paused(self) -> None:
        """Wait while paused; polling goes on, so that the group keeps its member."""
        self._commit(self._assigned)
        self.say("PAUSED")
        self._hold_all()
        while self.is_paused and not self.stopping.is_set():
            self._take(self._consumer.consume(_BATCH_RECORDS, _WAIT_S))
            self._hold_all()
        self._release_all()
        if not self.stopping.is_set():
            self.say("RUNNING")

    def _take(self, messages: list[Any]) -> None:
        if not messages:
            return
        if not self._batch.ends:
            self._batch.forget_messages()
        records = [message for message in messages if message.error() is None or not is_passing(message.error())]
        for partition, batch in groupby(records, partition_of):
            run = list(batch)
            if partition.topic not in self._seen_topics:
                self._seen_topics.add(partition.topic)
                self._used(self.unit, partition.topic)
            columns = self._pipeline.columns(run) if self._task.takes_columns else None
            if columns is None:
                self._take_each(run)
            else:
                self._read_together(columns, run)
            self._batch.ends[partition] = run[-1].offset() + 1

    def _read_together(self, columns: SinkColumns, messages: list[Any]) -> None:
        if self._audit is not None:
            for message in messages:
                self._audit.read(message, columns)
        self._batch.add_columns(columns, messages)

    def _take_each(self, messages: Iterable[Any]) -> None:
        for message in messages:
            record = self._pipeline.sink(message)
            if self._audit is not None:
                self._audit.read(message, record)
            if isinstance(record, RecordFailure):
                self._give_up(message, record)
            elif record is not None:
                self._batch.add(record, message)

    def _deliver(self) -> None:
        """Put the same batch until the task takes it; meanwhile nothing is read, and polling keeps the group
        membership.
        """
        while not self.stopping.is_set() and self._holds():
            try:
                self._put()
            except RetriableError as error:
                self.falters("put failed for now", error)
                self._wait_for_retry()
                continue
            if not self._is_uncommitted and not (self._matching and self._matching.is_empty):
                self.goes_on()
            self._processed |= {p: end for p, end in self._batch.ends.items() if p in self._assigned}
            break
        else:
            return
        self._batch.taken()

    def _put(self) -> None:
        for part in self._batch.parts():
            try:
                if isinstance(part, SinkColumns):
                    self._task.put_columns(part)
                else:
                    self._task.put(part)
            except (RetriableError, _NamedError):
                raise
            except RecordError as error:
                place = self._origin_of(error.topic, error.partition, error.offset)
                raise _NamedError(f"put failed at the record at {place}") from error
            except Exception as error:
                if given := self._batch.where_of(part):
                    raise ConnectError(f"put failed {given}") from error
                raise

    def _origin_of(self, topic: str, partition: int, offset: int) -> str:
        message = self._batch.message_at(topic, partition, offset)
        return place_of(topic, partition, offset) if message is None else read_at(message)

    def _wait_for_retry(self) -> None:
        self._hold_all()
        end = time.monotonic() + self._retry_pause_s
        while not self.stopping.is_set() and time.monotonic() < end:
            for message in self._consumer.consume(_BATCH_RECORDS, 0.1):
                topic, partition, offset = message.topic(), message.partition(), message.offset()
                if not message.error() and topic is not None and partition is not None and offset is not None:
                    # Assigned just now, before it was held: it comes again.
                    self._seek(ConnectPartition(topic, partition), offset)
            self._hold_all()
        self._release_all()

    def _hold_all(self) -> None:
        if self._assigned:
            self._consumer.pause([Place(*item) for item in self._assigned])

    def _release_all(self) -> None:
        if free := self._assigned - self._paused:
            self._consumer.resume([Place(*item) for item in free])

    def _seek(self, partition: ConnectPartition, offset: int) -> None:
        if partition in self._assigned:
            self._consumer.seek(Place(*partition, offset))
            self._processed[partition] = offset
            if self._audit is not None:
                self._audit.went_back(partition, offset)
            self._batch.drop({partition})

    # --- partitions come and go, on this thread, within consume

    def _on_assign(self, _consumer: Consumer, places: list[Place]) -> None:
        partitions = {ConnectPartition(place.topic, place.partition) for place in places}
        self._assigned |= partitions
        if self._audit is not None:
            committed = self._consumer.committed(places, timeout=30)
            self._audit.assigned(
                {ConnectPartition(partition.topic, partition.partition): partition.offset for partition in committed}
            )
        self._task.open(partitions)

    def _on_revoke(self, _consumer: Consumer, places: list[Place]) -> None:
        self._close({ConnectPartition(place.topic, place.partition) for place in places}, commits=True)

    def _on_lost(self, _consumer: Consumer, places: list[Place]) -> None:
        self._close({ConnectPartition(place.topic, place.partition) for place in places}, commits=False)

    def _close(self, partitions: Collection[ConnectPartition], *, commits: bool) -> None:
        """Close the revoked partitions. Records that were read and not put go to the next owner (KAFKA-13472)."""
        gone = set(partitions) & self._assigned
        self._batch.drop(gone)
        try:
            if commits:
                self._commit(gone, is_last=True)
        finally:
            self._task.close(gone)
            self._assigned -= gone
            self._paused -= gone
            for partition in gone:
                if self._audit is not None:
                    self._audit.gone(partition)
                self._processed.pop(partition, None)
                self._committed.pop(partition, None)

    def _commit(self, partitions: Collection[ConnectPartition], *, is_last: bool = False) -> None:
        current = {p: self._processed[p] for p in partitions if p in self._processed}
        if not current or not (self._holds() and self.may_write):
            return
        self._dead_letters.flush()
        try:
            wanted = self._task.pre_commit(current)
        except Exception as error:  # a plugin's code: nothing it has put is known to be safe
            if not self._is_uncommitted:
                trace = trace_of(error)
                _log.error("pre_commit failed", connector=self.unit.connector, task=self.unit.task, exception=trace)
            if not is_last:
                self._is_uncommitted = True
                self.falters("pre_commit failed", error)
                self._rewind(current, error)
            return
        if self._is_uncommitted:
            self._is_uncommitted = False
            self.goes_on()
        safe = {
            p: offset
            for p, offset in wanted.items()
            if offset <= current.get(p, -1) and self._committed.get(p) != offset
        }
        if not safe:
            return
        if self._audit is not None:
            self._audit.tell(safe)
        try:
            self._consumer.commit(offsets=[Place(*p, offset) for p, offset in safe.items()])
            self._committed |= safe
        except KafkaException as error:
            _log.warning("offsets not committed", connector=self.unit.connector, reason=error.args[0].str())

    def _rewind(self, current: Offsets, error: Exception) -> None:
        """Rewind to the group's committed offsets, or to the beginning."""
        try:
            places = self._consumer.committed([Place(*p) for p in current], timeout=30)
        except KafkaException as problem:
            raise failure_of(f"cannot go back after {error}", problem.args[0]) from error
        for place in places:
            partition = ConnectPartition(place.topic, place.partition)
            offset = place.offset
            if offset <= OFFSET_INVALID or offset < 0:
                offset = self._consumer.get_watermark_offsets(place, 30)[0]
            self._seek(partition, offset)

    def _give_up(self, message: Any, failure: RecordFailure) -> None:
        self._dead_letters.send(message, failure)
        if not self._tolerance.tolerates:
            self._dead_letters.flush()
        self._tolerance.leave_out(self.unit.connector, self.unit.task, read_at(message), failure, _NamedError)

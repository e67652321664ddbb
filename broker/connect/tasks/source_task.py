"""A source's task, at least once: polled, produced, and its offsets stored as far as all is acknowledged."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from broker.common.backoff import Backoff
from broker.common.logs import logger
from broker.common.quiet_clients import with_error_logging
from broker.connect.api import ConnectError, RetriableError, SourceRecord, SourceTask
from broker.connect.api.plugin import TransactionContext
from broker.connect.group.wire import Unit
from broker.connect.redaction import NO_REFERENCES, Redaction
from broker.connect.storage.logs import StorageError
from broker.connect.storage.records import dump
from broker.connect.storage.source_offsets import SourceOffsets
from broker.connect.tasks.acknowledged import Acknowledged, PendingRun
from broker.connect.tasks.new_topics import NewTopics
from broker.connect.tasks.pipeline import Pipeline, Produced
from broker.connect.tasks.retriable import ClusterUnavailable, failure_of
from broker.connect.tasks.tolerance import RecordFailure, Tolerance
from broker.connect.tasks.topic_creation import read_topic_rules
from broker.connect.tasks.unit import RunningUnit, Tell
from broker.connect.traces import error_text

_log = logger("broker.connect")
#: What a poll that failed for now is followed by, twice as long each time.
_POLL_PAUSE_S, _POLL_PAUSE_MAX_S = 0.1, 5.0
_HOLD_S = 0.05


class _SourceContext:
    def __init__(self, kept: SourceOffsets, transactions: TransactionContext | None):
        self._kept = kept
        self.transaction_context = transactions

    @property
    def offset_reader(self) -> "_SourceContext":
        return self

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        return self._kept.of(partition)

    def offsets(self, partitions: Collection[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        return [self.offset(partition) for partition in partitions]


class RunningSource(RunningUnit):
    _waits_for_open = False

    def __init__(
        self,
        unit: Unit,
        tell: Tell,
        is_paused: bool,
        *,
        task: Callable[[], SourceTask],
        props: Mapping[str, str],
        worker_props: Mapping[str, str],
        producer: Mapping[str, Any],
        admin: Mapping[str, Any],
        offsets: SourceOffsets,
        holds: Callable[[], bool],
        used: Callable[[Unit, str], None],
        flush_interval_s: float,
        flush_timeout_s: float,
        makes_topics: bool = False,
        redaction: Redaction = NO_REFERENCES,
    ):
        """`holds`: whether this worker may still write, by its group.

        `used` is told each topic once.
        """
        super().__init__(unit, tell, is_paused, redaction)
        self._make, self._props, self._worker_props, self._producer_config = task, props, worker_props, producer
        self._kept, self._holds, self._used = offsets, holds, used
        self._flush_interval_s, self._flush_timeout_s = flush_interval_s, flush_timeout_s
        self._topics: set[str] = set()
        rules = read_topic_rules(props) if makes_topics else None
        self._new_topics = NewTopics(rules, admin, self.stopping) if rules else None
        self._task: SourceTask | None = None
        self._reset()

    def _reset(self) -> None:
        """Forget the run before: what it had not stored is read again."""
        self._acknowledged = Acknowledged()
        #: Acknowledged, and not in the storage yet: that failed and is tried again.
        self._unstored: dict[bytes, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        self._failure: ConnectError | None = None
        self._poll_backoff = Backoff(_POLL_PAUSE_S, _POLL_PAUSE_MAX_S)

    def interrupt(self) -> None:
        if self._task is not None:
            self._task.stop()

    def run(self) -> None:
        self._reset()
        self._tolerance = Tolerance(self._props, self.stopping)
        pipeline = Pipeline(self._worker_props, self._props, self._tolerance)
        self._producer = Producer(with_error_logging(self._producer_config))
        task = self._task = self._make()
        try:
            self._prepare()
            # What a former owner stored.
            self._kept.catch_up(waits_for_open=self._waits_for_open)
            task.start(self._props, _SourceContext(self._kept, self._transactions))
            self.say("PAUSED" if self.is_paused else "RUNNING")
            self._loop(task, pipeline)
        except BaseException:
            self._end(task, failed=True)
            raise
        else:
            self._end(task, failed=False)
        finally:
            self._task = None
            self._producer.purge()
            pipeline.close()
            self._kept.close()
        self.say("UNASSIGNED")

    @property
    def _transactions(self) -> TransactionContext | None:
        return None

    def _prepare(self) -> None:
        """Prepare the task before offsets that others stored are read."""

    def _leave(self, what: str, reason: str) -> None:
        _log.warning(what, connector=self.unit.connector, task=self.unit.task, reason=reason)

    def _end(self, task: SourceTask, *, failed: bool) -> None:
        """Wait for the records in flight, so that a successor need not repeat them; then write nothing more."""
        try:
            if self._holds() and self.may_write:
                self._producer.flush(self._flush_timeout_s)
                self._commit(task)
        finally:
            if not self.stopping.is_set():
                task.stop()

    def _loop(self, task: SourceTask, pipeline: Pipeline) -> None:
        tells_each = type(task).commit_record is not SourceTask.commit_record
        commit_at = time.monotonic() + self._flush_interval_s
        while not self.stopping.is_set():
            if self.is_paused:
                self._producer.flush(self._flush_timeout_s)
                self._commit(task)
                self.wait_while_paused(task.rest)
                continue
            self._produce_all(task, pipeline, self._polled(task), tells_each)
            self._producer.poll(0)
            if self._failure:
                raise self._failure
            if time.monotonic() >= commit_at:
                self._commit(task)
                commit_at = time.monotonic() + self._flush_interval_s

    def _polled(self, task: SourceTask) -> list[SourceRecord]:
        try:
            records = task.poll() or []
        except RetriableError as error:
            self.falters("poll failed for now", error)
            self.stopping.wait(self._poll_backoff.fail())
            return []
        self._poll_backoff.succeed()
        if not self._unstored:
            self.goes_on()
        return records

    def _produce_all(self, task: SourceTask, pipeline: Pipeline, records: list[SourceRecord], tells_each: bool) -> None:
        run: PendingRun | None = None
        settle: Callable[..., None] | None = None
        for record in records:
            if run is None or record.source_partition != run.partition:
                if run is not None:
                    run.left -= 1
                run = self._acknowledged.begin(record.source_partition)
                run.left = 1
                settle = self._settler(run)
            run.offset = record.source_offset
            made = pipeline.source(record)
            if made is None or isinstance(made, RecordFailure):
                if made is not None:
                    self._give_up(record, made)
                task.commit_record(record, None)
                continue
            run.left += 1
            on_delivery = self._settle_callback(task, record, run) if tells_each else settle
            self._produce(*made, on_delivery)
        if run is not None:
            run.left -= 1

    def _settler(self, run: PendingRun) -> Callable[..., None]:
        """Return one callback for all records of a run: it is called for each, a hundred thousand times a second."""

        def settle(error: Any, message: Any) -> None:
            if error is None or self._leaves_out(error, message):
                run.left -= 1

        return settle

    def _settle_callback(self, task: SourceTask, record: SourceRecord, run: PendingRun) -> Callable[..., None]:
        def settle(error: Any, message: Any) -> None:
            if error is None:
                task.commit_record(record, (message.topic(), message.partition(), message.offset()))
            elif self._leaves_out(error, message):
                task.commit_record(record, None)
            else:
                return
            run.left -= 1

        return settle

    def _leaves_out(self, error: Any, message: Any) -> bool:
        """Return whether a failed delivery is left out, with errors.tolerance=all (KIP-779); else the task fails.

        A time-out refuses nothing: the task begins again, and reads the record again.
        """
        failure = failure_of(f"record for {message.topic()} was not written", error)
        if self._tolerance.tolerates and not isinstance(failure, ClusterUnavailable):
            reason = error_text(failure)
            _log.error("record left out", connector=self.unit.connector, stage="KAFKA_PRODUCE", reason=reason)
            return True
        self._failure = self._failure or failure
        return False

    def _produce(self, record: SourceRecord, made: Produced, on_delivery: Callable[..., None] | None) -> None:
        key, value, headers = made
        if record.topic not in self._topics:
            if self._new_topics is not None:
                self._new_topics.ensure(record.topic)
            self._topics.add(record.topic)
            self._used(self.unit, record.topic)
        named: dict[str, Any] = {}
        if record.partition is not None:
            named["partition"] = record.partition
        if record.timestamp_ms is not None:
            named["timestamp"] = record.timestamp_ms
        if headers:
            named["headers"] = headers
        while not self._failure:
            if not self._holds():
                # Somebody else may have the task by now; whoever leads says so soon.
                if self.stopping.wait(_HOLD_S):
                    raise ConnectError("stopped with records that were not written; they are read again")
                continue
            try:
                self._producer.produce(record.topic, value, key, on_delivery=on_delivery, **named)
                return
            except BufferError:
                if self.stopping.is_set():
                    raise ConnectError("stopped while brokers take no records") from None
                self._producer.poll(0.1)
            except KafkaException as error:
                raise failure_of(f"record for {record.topic} was not written", error.args[0]) from None
        raise self._failure

    def _give_up(self, record: SourceRecord, failure: RecordFailure) -> None:
        place = f"{dict(record.source_partition)} {dict(record.source_offset)}"
        self._tolerance.leave_out(self.unit.connector, self.unit.task, place, failure)

    def _commit(self, task: SourceTask) -> None:
        """Commit offsets of acknowledged records, unless another worker may have the task.

        As Kafka's, it goes on when offsets could not be stored in time, and stores them at the next commit.
        """
        self._producer.poll(0)
        if not (self._holds() and self.may_write):
            return
        for partition, offset in self._acknowledged.take():
            self._unstored[dump(sorted(partition.items()))] = partition, offset
        if self._unstored:
            try:
                self._kept.put(list(self._unstored.values()))
            except StorageError as error:
                self.falters("offsets not stored", error)
                return
            self._unstored = {}
        task.commit()

"""A source's task, exactly once: records and source offsets in one transaction, its predecessors fenced (KIP-618)."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from broker.connect.api import ConnectError, SourceRecord, SourceTask
from broker.connect.storage.records import dump
from broker.connect.tasks.boundaries import Boundaries, TransactionEnd
from broker.connect.tasks.pipeline import Pipeline
from broker.connect.tasks.retriable import ClusterUnavailable, failure_of
from broker.connect.tasks.source_task import RunningSource
from broker.connect.tasks.tolerance import RecordFailure
from broker.connect.traces import error_text

#: How long one call to the transaction's coordinator waits before it looks whether the task is to stop.
_CALL_S = 5.0
_ABORT_S = 10.0
#: As long as a request may take (A1).
_FENCE_S, _PAUSE_S = 90.0, 0.5
#: The coordinator ended the transaction, as after its time-out: the next run begins another one. A producer that was
#: fenced has a fatal error, and ends its task.
_ABORTED = frozenset(
    {
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.INVALID_TXN_STATE,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.TRANSACTION_ABORTABLE,
        KafkaError.UNKNOWN_PRODUCER_ID,
    }
)

Partition = Mapping[str, Any]
Offset = Mapping[str, Any]


class RunningExactlyOnceSource(RunningSource):
    """`fence` ends the tasks of older configurations; `is_current` raises ConnectError if this one is older itself."""

    _waits_for_open = True

    def __init__(
        self,
        *unit: Any,
        fence: Callable[[str], None],
        is_current: Callable[[], None],
        **common: Any,
    ):
        super().__init__(*unit, **common)
        self._fence, self._is_current = fence, is_current

    def _reset(self) -> None:
        super()._reset()
        self._boundaries = Boundaries(self._props, self._flush_interval_s)
        self._is_open = False
        self._offsets: dict[bytes, tuple[Partition, Offset]] = {}
        self._delivered: list[tuple[SourceRecord, Any]] = []

    @property
    def _transactions(self) -> Boundaries | None:
        return self._boundaries.context

    def _prepare(self) -> None:
        """Prepare the task in this order: older tasks are fenced, then this one is known not to be older."""
        self._fence_in_time()
        self._call(lambda: self._producer.init_transactions(_CALL_S))
        self._is_current()

    def _fence_in_time(self) -> None:
        """Fence older tasks; retried for a while, because the leader may be changing."""
        deadline = time.monotonic() + _FENCE_S
        while True:
            try:
                return self._fence(self.unit.connector)
            except ConnectError as error:
                if time.monotonic() >= deadline or self.stopping.wait(_PAUSE_S):
                    raise
                self._leave("older tasks not fenced yet", error_text(error))

    def _call(self, call: Callable[[], None]) -> None:
        """Call until it succeeds, as long as that may help. Raises ConnectError: ClusterUnavailable where another run
        may succeed.
        """
        sentence = f"the transaction of {self.unit.connector} failed"
        while True:
            try:
                return call()
            except KafkaException as problem:
                error = problem.args[0]
                if error.retriable() and not self.stopping.is_set():
                    continue
                if self._failure:
                    raise self._failure from None
                if error.code() in _ABORTED and not error.fatal():
                    raise ClusterUnavailable(f"{sentence}: {error.str()}") from None
                raise failure_of(sentence, error) from None

    def _loop(self, task: SourceTask, pipeline: Pipeline) -> None:
        self._tells_each = type(task).commit_record is not SourceTask.commit_record
        while not self.stopping.is_set():
            if self.is_paused:
                self._finish(task)
                self.wait_while_paused(task.rest)
                continue
            records = self._polled(task)
            for record in records:
                self._take(task, pipeline, record)
                self._end_transaction(task, self._boundaries.behind(record))
            self._end_transaction(task, self._boundaries.behind_batch(time.monotonic()))

    def _take(self, task: SourceTask, pipeline: Pipeline, record: SourceRecord) -> None:
        """Take a record; its offset counts whatever becomes of the record."""
        made = pipeline.source(record)
        if made is None or isinstance(made, RecordFailure):
            if made is not None:
                self._give_up(record, made)
            if self._tells_each:
                self._delivered.append((record, None))
        else:
            if made[0].topic == self._kept.topic:
                raise ConnectError(f"a task may not write to {self._kept.topic}, which keeps its offsets")
            self._begin_transaction()
            self._produce(*made, self._settle_later_callback(record) if self._tells_each else self._settled)
        self._offsets[dump(sorted(record.source_partition.items()))] = record.source_partition, record.source_offset

    def _begin_transaction(self) -> None:
        if not self._is_open:
            self._call(self._producer.begin_transaction)
            self._is_open = True

    def _settled(self, error: Any, message: Any) -> None:
        """Settle a delivery. An error is never left out: it ends the transaction, whatever is tolerated."""
        if error is not None:
            self._failure = self._failure or failure_of(f"record for {message.topic()} was not written", error)

    def _settle_later_callback(self, record: SourceRecord) -> Callable[..., None]:
        def on_delivery(error: Any, message: Any) -> None:
            self._settled(error, message)
            if error is None:
                self._delivered.append((record, (message.topic(), message.partition(), message.offset())))

        return on_delivery

    def _end_transaction(self, task: SourceTask, end: TransactionEnd) -> None:
        if self._failure:
            raise self._failure
        if end is TransactionEnd.NOT_YET or not self._offsets:
            return
        if end is TransactionEnd.ABORT and self._is_open:
            self._call(lambda: self._producer.abort_transaction(_CALL_S))
            self._is_open = False
            self._delivered = []
        self._begin_transaction()
        for partition, offset in self._offsets.values():
            key, value = self._kept.record(partition, offset)
            self._producer.produce(self._kept.topic, value, key, on_delivery=self._settled)
        self._call(lambda: self._producer.commit_transaction(_CALL_S))
        self._is_open = False
        self._kept.are_committed(list(self._offsets.values()))
        self._offsets = {}
        for record, metadata in self._delivered:
            task.commit_record(record, metadata)
        self._delivered = []
        task.commit()

    def _finish(self, task: SourceTask) -> None:
        if self._boundaries.ends_with_task and self._holds() and self.may_write:
            self._end_transaction(task, TransactionEnd.COMMIT)

    def _end(self, task: SourceTask, *, failed: bool) -> None:
        """Write what is left and commit, unless the task failed; abort a transaction that is still open."""
        try:
            if not failed:
                self._finish(task)
            if self._is_open:
                self._producer.abort_transaction(_ABORT_S)
        except KafkaException as error:
            # Who comes next ends it, or its timeout.
            self._leave("transaction not aborted", error.args[0].str())
        finally:
            if not self.stopping.is_set():
                task.stop()

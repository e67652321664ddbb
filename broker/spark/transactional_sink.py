"""`df.write` and `df.writeStream.format("barnabas")`: rows become records, in transactions.

Columns and options are those of Spark's Kafka connector: `value` and, if wanted, `key`, `headers`, `topic`,
`partition`; `topic` as an option goes before the column. `kafka.transaction.timeout.ms` (15 minutes) bounds how long
one batch may take; `kafka.compression.type` is for the records. A batch write names its mode, `.mode("append")`: Spark
refuses its own default, ErrorIfExists, for any sink in Python. A topic is created where brokers do so.

A stream's batch is in the topics exactly once for readers of committed records; ledger.py says how and why. It is known
by the query, which Spark names in the checkpoint, and by its number; a batch write says both with the options `queryId`
and `batchId` (batch_output.py does). Without them nothing of it is seen before all of it is written, and it is written
again when it is run again.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from broker.client.coordinators import Coordinators
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import Leaders
from broker.client.transactions import ProducerIdentity, end_transaction, init_producer
from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.records.batch import Compression
from broker.spark.client_settings import ClientSettings, cluster_of, read_sink_settings
from broker.spark.ledger import CommitDecision, OldCheckpointError, SinkCommitLog, SinkError, is_task_id
from broker.spark.ledger_names import LEDGER_PREFIX
from broker.spark.output_rows import by_partition, check_columns
from broker.spark.task_producer import TaskProducer

#: As Spark names them in the properties of its tasks.
_QUERY, _BATCH, _RUN = "sql.streaming.queryId", "streaming.sql.batchId", "spark.jobGroup.id"

#: How long a topic that brokers create is awaited, and one that is not there looked for.
NEW_TOPIC_S = 10.0

_log = logger("broker.spark.sink")


@dataclass(frozen=True)
class SinkOptions:
    """Everything a task needs; travels by pickle. `query` and `batch` are None where Spark's properties say them."""

    client: ClientSettings
    topic: str | None
    query: str | None
    batch: int | None


@dataclass
class TaskResult(WriterCommitMessage):
    """The transaction a task has left open, if it had rows; `decision` is the one it met of a batch that is written."""

    name: str
    run: str
    batch: int
    #: Whether the batch can be run again, and is in the ledger therefore.
    keyed: bool = True
    producer: ProducerIdentity | None = None
    decision: CommitDecision | None = None


#: One for each task, None for a task that has failed; Spark hands them to the driver.
Messages = list[WriterCommitMessage | None]


def _results(messages: Messages) -> list[TaskResult]:
    return [message for message in messages if isinstance(message, TaskResult)]


def _producers(results: Iterable[TaskResult]) -> list[ProducerIdentity]:
    return [result.producer for result in results if result.producer is not None]


def _task_context() -> TaskContext:
    """Return the context of the task that runs here. Raise SinkError outside of a task."""
    context = TaskContext.get()
    if context is None:
        raise SinkError("records are written by a task of Spark, and none runs here")
    return context


def read_sink_options(options: Mapping[str, str], schema: StructType, *, overwrite: bool) -> SinkOptions:
    """ValueError for what cannot be, before anything is written."""
    if overwrite:
        raise ValueError("a topic cannot be overwritten: use mode append")
    given = {name.lower(): text for name, text in options.items()}
    topic = given.get("topic", "").strip() or None
    check_columns(schema, topic)
    query, batch = given.get("queryid"), given.get("batchid")
    if (query is None) != (batch is None):
        raise ValueError("the options queryId and batchId go together")
    if query is not None and is_task_id(query):
        raise ValueError(f"option queryId: {query!r} must not end as -1.0 does; tasks are named so")
    if batch is not None and not batch.isdecimal():
        raise ValueError(f"option batchId: {batch!r} is not a number")
    return SinkOptions(read_sink_settings(options), topic, query, None if batch is None else int(batch))


class _Sink:
    """What both writers share: tasks write, the driver commits or aborts."""

    def __init__(self, options: SinkOptions):
        self._options = options
        self._client = options.client

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskResult:
        """Write a task's rows. BrokerUnreachable, TimeoutError: brokers are away; ApiError: permanent failure."""
        context = _task_context()
        result = self._identify(context)
        task = _Task(self._options, result, context)
        try:
            for batch in iterator:
                if batch.num_rows and result.decision is None:
                    task.write(batch)
        except BaseException:
            task.give_up()
            raise
        return result

    def _identify(self, context: TaskContext) -> TaskResult:
        raise NotImplementedError

    def _ledger(self, name: str) -> SinkCommitLog:
        cluster = cluster_of(self._client)
        return SinkCommitLog(name, cluster, Coordinators(cluster))

    def _commit(self, messages: Messages) -> None:
        """Commit on the driver, when every task has a result."""
        results = _results(messages)
        written = [result for result in results if result.producer is not None]
        producers = _producers(results)
        if not written:
            for result in results[:1]:
                if result.keyed:
                    self._ledger(result.name).finish_if_decided(result.batch)
            return
        some, ledger = written[0], self._ledger(written[0].name)
        if some.keyed:
            ledger.decide(some.run, some.batch, producers)
            ledger.finish(some.batch)
        else:
            self._end(producers, commit=True)
        try:
            ledger.sweep(some.run)
        except (ApiError, BrokerUnreachable) as error:
            _log.warning("transactions of repeated tasks stay open until they time out", reason=str(error))

    def _abort(self, messages: Messages) -> None:
        """Abort without touching what is decided. Open transactions are aborted by the next run, or by their
        coordinator.
        """
        written = [result for result in _results(messages) if result.producer is not None]
        try:
            if not written:
                return
            some = written[0]
            if not some.keyed or self._ledger(some.name).is_undecided(some.run, some.batch):
                self._end(_producers(written), commit=False)
        except (ApiError, BrokerUnreachable) as error:
            _log.warning("transactions of a failed batch stay open until they time out", reason=str(error))

    def _end(self, producers: list[ProducerIdentity], *, commit: bool) -> None:
        coordinators = Coordinators(cluster_of(self._client))
        for producer in producers:
            end_transaction(coordinators, producer, commit=commit)


class StreamWriter(_Sink, DataSourceStreamArrowWriter):
    """A stream's batches: Spark's properties name query, batch and run."""

    def _identify(self, context: TaskContext) -> TaskResult:
        query, batch, run = (context.getLocalProperty(name) for name in (_QUERY, _BATCH, _RUN))
        if not (query and batch and run):
            raise SinkError("Spark does not name the query of this task, so that its batch could not be recognised")
        return TaskResult(LEDGER_PREFIX + query, run, int(batch))

    def commit(self, messages: Messages, batchId: int) -> None:
        self._commit(messages)

    def abort(self, messages: Messages, batchId: int) -> None:
        self._abort(messages)


class BatchWriter(_Sink, DataSourceArrowWriter):
    """One write, all or nothing; recognised when it is run again only if the options name query and batch."""

    def __init__(self, options: SinkOptions):
        super().__init__(options)
        self._run = str(uuid.uuid4())

    def _identify(self, context: TaskContext) -> TaskResult:
        options = self._options
        if options.query is None or options.batch is None:
            return TaskResult(LEDGER_PREFIX + self._run, self._run, 0, keyed=False)
        return TaskResult(LEDGER_PREFIX + options.query, context.getLocalProperty(_RUN) or self._run, options.batch)

    def commit(self, messages: Messages) -> None:
        self._commit(messages)

    def abort(self, messages: Messages) -> None:
        self._abort(messages)


class _Task:
    """One attempt of one task; it fills `result`."""

    def __init__(self, options: SinkOptions, result: TaskResult, context: TaskContext):
        self._options = options
        self._result = result
        self._context = context
        self._cluster = cluster_of(options.client)
        self._coordinators = Coordinators(self._cluster)
        self._leaders = Leaders(self._cluster)
        self._counts: dict[str, int] = {}
        self._producer: TaskProducer | None = None
        self._turn = context.partitionId()

    def write(self, batch: pa.RecordBatch) -> None:
        rows = by_partition(batch, self._options.topic, self._count_of, self._turn)
        self._turn += 1
        producer = self._producer or self._open()
        if producer is not None:
            producer.write(rows)

    def give_up(self) -> None:
        """Abort the failed attempt's transaction, which would keep readers waiting."""
        if self._result.producer is None:
            return
        try:
            end_transaction(self._coordinators, self._result.producer, commit=False)
        except (ApiError, BrokerUnreachable) as error:
            _log.warning("transaction of a failed task stays open until it times out", reason=str(error))

    def _open(self) -> TaskProducer | None:
        """Begin the task's transaction and return its producer; None when the batch is written already."""
        result = self._result
        ledger = SinkCommitLog(result.name, self._cluster, self._coordinators)
        if result.keyed:
            decision = ledger.enter(result.run)
            if decision.batch > result.batch:
                raise OldCheckpointError(
                    f"{result.name}: batch {decision.batch} is written, and the checkpoint is at {result.batch}: it is "
                    "an older copy. Start with a new checkpoint."
                )
            if decision.batch == result.batch:
                result.decision = decision
                return None
        client = self._options.client
        transactional_id = ledger.free_id(self._context.partitionId(), self._context.attemptNumber())
        result.producer = init_producer(self._coordinators, transactional_id, client.transaction_timeout_ms)
        compression = Compression[client.compression.upper()]
        self._producer = TaskProducer(self._leaders, self._coordinators, result.producer, compression)
        return self._producer

    def _count_of(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = len(self._leaders.partitions_to_write(topic, NEW_TOPIC_S))
        return self._counts[topic]

"""Everything beside the batches is lost or garbled: indexes, producer snapshots, leader epochs, checkpoints."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka import Producer, TopicPartition

from broker.common.errors import ErrorCode
from broker.log.checkpoints import LOG_START_OFFSET_CHECKPOINT, RECOVERY_POINT_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT
from broker.log.leader_epoch_file import LEADER_EPOCH_CHECKPOINT
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.barnabas_cluster import await_true
from tests.faults.copy.readings import read_committed
from tests.faults.matrix.late_client import FETCH_VERSION, PRODUCE_VERSION
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.tail_rows import KEPT
from tests.faults.matrix.wire import WireClient

TOLD = (
    'event="checkpoint ignored"',
    'event="leader epochs malformed, rebuilt"',
    'event="producer snapshot damaged"',
    'event="transaction index damaged, rebuilt"',
    'event="offset checkpoints are missing: logs may have lost their ends"',
    KEPT,  # a log in doubt follows, and truncates what the leader has not got yet
)
#: Checkpoints often enough that there is something to spoil.
RESTLESS = {
    "log.flush.offset.checkpoint.interval.ms": "500",
    "log.flush.scheduler.interval.ms": "500",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "transaction.state.log.num.partitions": "1",
}
_TOPIC, _ENDED = "remembered", "ended"
_REPLICAS = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
_BATCHES = 40
_DELETED = 7
_TRANSACTIONS = 8
_FIRST_TIMESTAMP_MS = 1_700_000_000_000
_STEP_MS = 1_000
_LIST_OFFSETS_VERSION = 7
_INIT_VERSION = 4
_LATEST, _EARLIEST = -1, -2


def spoil_files(stage: Stage) -> None:
    """All brokers stop, cleanly and then by kill -9, and what lies beside the batches of all replicas is spoiled.

    Then one alone loses where its log begins, too, which only the others can tell it. Each time offsets, times,
    aborted transactions and repeated batches mean what they meant.
    """
    written = _Written(stage)
    for how in ("clean", "kill -9"):
        if how == "clean":
            stage.cluster.stop_brokers()
            stage.note("all have stopped")
        else:
            _await_checkpoints(stage)
            stage.kill(*stage.others())
        _spoil(stage, stage.others(), _BESIDE_EVERY_LOG)
        stage.heal()
        stage.await_whole()
        written.expect_as_before(how)
    alone = stage.random.choice(stage.others())
    _await_checkpoints(stage)
    stage.kill_and_expire(alone)
    _spoil(stage, [alone], (*_BESIDE_EVERY_LOG, LOG_START_OFFSET_CHECKPOINT))
    stage.heal()
    stage.await_whole()
    written.expect_as_before(f"kill -9 of {alone}")


def _await_checkpoints(stage: Stage) -> None:
    """Written a while after a start: who is killed before has none to spoil."""
    names = (RECOVERY_POINT_CHECKPOINT, REPLICATION_OFFSET_CHECKPOINT)
    paths = [stage.broker(other).directory / "logs" / name for other in stage.others() for name in names]
    await_true(lambda: all(path.exists() for path in paths), "every broker has its checkpoints", WHOLE_WITHIN_S)


# -- spoiling

_BESIDE_EVERY_LOG = (
    "*/*.txnindex",
    "*/*.index",
    "*/*.timeindex",
    "*/*.snapshot",
    f"*/{LEADER_EPOCH_CHECKPOINT}",
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)


def _lost(path: Path, _randomly: random.Random) -> None:
    path.unlink()


def _zeroed(path: Path, _randomly: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _garbled(path: Path, randomly: random.Random) -> None:
    path.write_bytes(randomly.randbytes(path.stat().st_size or 1))


def _oversized(path: Path, randomly: random.Random) -> None:
    with path.open("ab") as file:
        file.write(randomly.choice((bytes, randomly.randbytes))(4_000))


_HOW: tuple[Callable[[Path, random.Random], None], ...] = (_lost, _zeroed, _garbled, _oversized)


def _spoil(stage: Stage, broker_ids: list[int], patterns: tuple[str, ...]) -> None:
    """Each file in one of four ways, in turn, so that each kind of file meets them all."""
    done = 0
    for broker_id in broker_ids:
        for pattern in patterns:
            paths = sorted((stage.broker(broker_id).directory / "logs").glob(pattern))
            assert paths, f"broker {broker_id} has no {pattern}"
            for number, path in enumerate(paths, stage.random.randrange(len(_HOW))):
                _HOW[number % len(_HOW)](path, stage.random)
            done += len(paths)
    stage.note(f"spoiled {done} files of {broker_ids}")


# -- what has to stay


class _Written:
    """Three partitions, each preferably led by another broker, of batches of one record, offset by offset a step later,
    from an idempotent producer; the first few are deleted. And one of transactions, half of them aborted.
    """

    def __init__(self, stage: Stage):
        self._stage = stage
        self._batches: dict[tuple[int, int], bytearray] = {}
        settings = {"segment_bytes": "2500", "index_interval_bytes": "400", "min_insync_replicas": "1"}
        stage.create(_TOPIC, _REPLICAS, retention_ms="-1", **settings)
        stage.create(_ENDED, _REPLICAS[:1], **settings)
        with self._leader(0) as client:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
            producer = client.ask(request, _INIT_VERSION)
        for partition in range(len(_REPLICAS)):
            for number in range(_BATCHES):
                value = b"%d/%d " % (partition, number) * 20
                self._batches[partition, number] = build_batch(
                    [Record(0, _FIRST_TIMESTAMP_MS + number * _STEP_MS, None, value)],
                    producer_id=producer.producer_id,
                    producer_epoch=0,
                    base_sequence=number,
                )
            with self._leader(partition) as client:
                wanted = [(ErrorCode.NONE, number) for number in range(_BATCHES)]
                assert self._produce(client, partition, *range(_BATCHES)) == wanted
        deleted = [TopicPartition(_TOPIC, partition, _DELETED) for partition in range(len(_REPLICAS))]
        admin = stage.admin()
        for answer in admin.delete_records(deleted).values():
            answer.result(WHOLE_WITHIN_S)
        self._committed = self._end_transactions()

    def _leader(self, partition: int) -> WireClient:
        return WireClient(self._stage.broker(self._stage.state(_TOPIC, partition).leader).port)

    def _produce(self, client: WireClient, partition: int, *numbers: int) -> list[tuple[ErrorCode, int]]:
        """Errors and base offsets, in the order of the batches."""
        for number in numbers:
            data = PartitionProduceData(index=partition, records=self._batches[partition, number])
            topic = TopicProduceData(name=_TOPIC, partition_data=[data])
            client.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[topic]), PRODUCE_VERSION)
        answers = [client.answer(ApiKey.PRODUCE, PRODUCE_VERSION) for _ in numbers]
        partition_responses = [answer.responses[0].partition_responses[0] for answer in answers]
        return [(ErrorCode(item.error_code), item.base_offset) for item in partition_responses]

    def _end_transactions(self) -> list[bytes]:
        """The values of those that were committed."""
        committed = []
        servers = self._stage.cluster.bootstrap_servers
        producer = Producer({"bootstrap.servers": servers, "transactional.id": "half", "log_level": 0})
        producer.init_transactions(WHOLE_WITHIN_S)
        for number in range(_TRANSACTIONS):
            values = [b"%d/%d" % (number, index) * 20 for index in range(5)]
            producer.begin_transaction()
            for value in values:
                producer.produce(_ENDED, value, partition=0)
            producer.flush()
            if number % 2:
                producer.abort_transaction(WHOLE_WITHIN_S)
            else:
                producer.commit_transaction(WHOLE_WITHIN_S)
                committed += values
        return committed

    def expect_as_before(self, after: str) -> None:
        """Asked of whoever is preferred, so that each broker answers for a partition."""
        self._stage.lead_as_preferred(_TOPIC)
        for partition in range(len(_REPLICAS)):
            with self._leader(partition) as client:
                self._stage.violations += [
                    f"after {after}, {_TOPIC}-{partition}: {change}" for change in self._changes(client, partition)
                ]
        came_out = read_committed(self._stage.cluster.bootstrap_servers, _ENDED, 1).values[0]
        if came_out != self._committed:
            self._stage.violations.append(
                f"I7: after {after} {len(came_out)} records are committed, {len(self._committed)} were"
            )

    def _changes(self, client: WireClient, partition: int) -> Iterator[str]:
        await_true(lambda: _offset_of(client, partition, _LATEST) == _BATCHES, "all is committed", WHOLE_WITHIN_S)
        start = _offset_of(client, partition, _EARLIEST)
        if start != _DELETED:
            yield f"it starts at {start}, not at {_DELETED}"
        for offset in range(_DELETED, _BATCHES):
            result = _offset_of(client, partition, _FIRST_TIMESTAMP_MS + offset * _STEP_MS)
            if result != offset:
                yield f"the time of {offset} is at {result}"
            read = _batch_at(client, partition, offset)
            if read != offset:
                yield f"who asks for {offset} is given {read}"
        repeated = self._produce(client, partition, _BATCHES - 1)
        if repeated != [(ErrorCode.NONE, _BATCHES - 1)]:
            yield f"the last batch, sent again, was answered {repeated}"
        end = _offset_of(client, partition, _LATEST)
        if end != _BATCHES:
            yield f"it ends at {end}, not at {_BATCHES}"


def _offset_of(client: WireClient, partition: int, timestamp: int) -> int:
    topic = ListOffsetsTopic(
        name=_TOPIC, partitions=[ListOffsetsPartition(partition_index=partition, timestamp=timestamp)]
    )
    answered = client.ask(ListOffsetsRequest(isolation_level=0, topics=[topic]), _LIST_OFFSETS_VERSION)
    (first,) = answered.topics[0].partitions
    return first.offset


def _batch_at(client: WireClient, partition: int, offset: int) -> int | None:
    """The base offset of the first batch that a fetch from `offset` brings."""
    fetch_partition = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1)
    topic = FetchTopic(topic=_TOPIC, partitions=[fetch_partition])
    request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1, topics=[topic])
    (first,) = client.ask(request, FETCH_VERSION).responses[0].partitions
    return parse_batch_header(first.records).base_offset if first.records else None

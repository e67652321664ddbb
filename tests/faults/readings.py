"""Reading everything there is, after the last fault: as a consumer, and from the segment files of each replica."""

import time
from collections.abc import Iterable
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from broker.log.files import SharedFile, read_at
from broker.log.scan import scan_batches
from broker.records.record import decode_records
from tests.faults.history import Extent, HistoryWriter, Seen, digest_of, name_in, now
from tests.faults.load import seen

_SILENCE_S = 30


def read_all(bootstrap_servers: str, topics: dict[str, int], history: HistoryWriter, reader: str = "final") -> None:
    """Every record of `topics` (name to partitions) from its beginning to its end; AssertionError if that stalls."""
    note_extents(bootstrap_servers, topics, history, reader)
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": f"reader-{reader}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
        }
    )
    try:
        left = {TopicPartition(topic, index) for topic, count in topics.items() for index in range(count)}
        consumer.assign([TopicPartition(partition.topic, partition.partition, OFFSET_BEGINNING) for partition in left])
        while left:
            first = consumer.poll(_SILENCE_S)
            assert first, f"nothing for {_SILENCE_S} s, and the end not seen of {left}"
            for message in (first, *consumer.consume(1_000, 0.01)):
                if message.error() is None:
                    history.note(seen(reader, message))
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    left.discard(TopicPartition(message.topic(), message.partition()))
                else:
                    raise AssertionError(f"{message.topic()}-{message.partition()}: {message.error()}")
    finally:
        consumer.close()


def note_extents(bootstrap_servers: str, topics: dict[str, int], history: HistoryWriter, reader: str = "final") -> None:
    """Where the partitions of `topics` begin and end, without reading them."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": f"reader-{reader}"})
    try:
        for topic, index in ((topic, index) for topic, count in topics.items() for index in range(count)):
            start, end = _watermarks(consumer, TopicPartition(topic, index))
            history.note(Extent(reader, topic, index, start, end))
    finally:
        consumer.close()


def _watermarks(consumer: Consumer, partition: TopicPartition) -> tuple[int, int]:
    """Of whoever leads when it is asked: the library does not look for a leader that has just moved."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return consumer.get_watermark_offsets(partition, timeout=20)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def replica_directories(log_dir: Path, topic: str) -> list[tuple[int, Path]]:
    """By partition; not those that wait to be deleted."""
    numbered = ((path.name.removeprefix(f"{topic}-"), path) for path in log_dir.glob(f"{topic}-*"))
    return sorted((int(number), path) for number, path in numbered if number.isdigit())


def read_replica_files(log_dir: Path, topics: Iterable[str], history: HistoryWriter, reader: str) -> None:
    """Every record in the segment files of the replicas of `topics` in a stopped broker's log directory.

    Raises BadBatchError at a batch that is not whole, so call it after a clean stop.
    """
    for topic in topics:
        for partition, directory in replica_directories(log_dir, topic):
            for path in sorted(path for path in directory.glob("*.log") if path.stem.isdigit()):
                for record in _records_of(path):
                    key = record.key.decode() if record.key else None
                    digest = digest_of(record.key, record.value)
                    name = name_in(record.value)
                    history.note(Seen(reader, topic, partition, record.offset, key, name, digest, now()))


def _records_of(path: Path):
    file = SharedFile(path)
    for position, header in scan_batches(file, 0, file.size_bytes, int(path.stem), verify_crc=True):
        if header.is_control:
            continue
        yield from decode_records(read_at(file, position, header.size_bytes))

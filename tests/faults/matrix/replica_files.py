"""What the replicas of a stopped cluster hold, batch by batch, for the checker."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from broker.log.files import SharedFile, read_at
from broker.log.scan import scan_batches
from broker.records.batch import BatchHeader
from tests.faults.history import HistoryWriter, Stored
from tests.faults.readings import replica_directories

_DIGEST_BYTES = 8


def note_stored_batches(broker_id: int, log_dir: Path, topics: Iterable[str], history: HistoryWriter) -> None:
    """Every batch in the segment files of the broker's replicas of `topics`; raises BadBatchError at a torn one."""
    for topic in topics:
        for partition, directory in replica_directories(log_dir, topic):
            for path in sorted(path for path in directory.glob("*.log") if path.stem.isdigit()):
                for header, batch in _batches_of(path):
                    history.note(
                        Stored(
                            broker_id,
                            topic,
                            partition,
                            header.base_offset,
                            header.last_offset,
                            header.partition_leader_epoch,
                            blake2b(batch, digest_size=_DIGEST_BYTES).hexdigest(),
                        )
                    )


def _batches_of(path: Path) -> Iterator[tuple[BatchHeader, bytes]]:
    file = SharedFile(path)
    for position, header in scan_batches(file, 0, file.size_bytes, int(path.stem), verify_crc=True):
        yield header, read_at(file, position, header.size_bytes)

"""What a disk does to a replica's files behind its broker's back: where batches lie, and bytes that change."""

import contextlib
import random
from pathlib import Path
from typing import NamedTuple

from broker.log.files import SharedFile
from broker.log.scan import BadBatchError, scan_batches
from tests.barnabas_cluster import BrokerProcess

#: Of a batch: what its CRC covers behind the header.
RECORDS_FROM = 61


class Batch(NamedTuple):
    """Where a batch lies in the file of its segment."""

    path: Path
    position: int
    size: int
    base_offset: int
    last_offset: int


def replica_directory(broker: BrokerProcess, topic: str, partition: int) -> Path:
    return broker.directory / "logs" / f"{topic}-{partition}"


def segments(directory: Path) -> list[Path]:
    """The files with batches, the active one last."""
    return sorted(path for path in directory.glob("*.log") if path.stem.isdigit())


def batches(path: Path) -> list[Batch]:
    """All whole ones from its beginning: a kill, or a write under way, may have left a part of one behind them."""
    file = SharedFile(path)
    batches = []
    with contextlib.suppress(BadBatchError):
        for at, header in scan_batches(file, 0, file.size_bytes, int(path.stem)):
            batches.append(Batch(path, at, header.size_bytes, header.base_offset, header.last_offset))
    return batches


def truncate(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def flip(path: Path, position: int) -> None:
    """All bits of one byte."""
    with path.open("r+b") as file:
        file.seek(position)
        (byte,) = file.read(1)
        file.seek(position)
        file.write(bytes([byte ^ 0xFF]))


def garble_records(batch: Batch, randomly: random.Random) -> None:
    """A byte of its records: the header is as it was, the CRC does not match."""
    flip(batch.path, batch.position + randomly.randrange(RECORDS_FROM, batch.size))

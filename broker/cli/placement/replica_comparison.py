"""Whether the replicas of a partition hold the same batches: what was read of each is compared in step. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from broker.cli.frame.declaration import CommandError
from broker.common.types import TopicPartition
from broker.protocol.primitives import Buffer
from broker.records.batch import iterate_headers


class Batch(NamedTuple):
    last_offset: int
    crc: int


class ReplicaRead(NamedTuple):
    """Replica read of one replica from the offset on that all were asked for: whole batches, and how far it knows
    records to be committed.
    """

    batches: tuple[Batch, ...]
    high_watermark: int


def batches_of(records: Buffer | None, from_offset: int) -> tuple[Batch, ...]:
    """Return the batches with records at or after an offset, without a truncated one.

    Raises ApiError(CORRUPT_MESSAGE).
    """
    if not records:
        return ()
    batches = (Batch(header.last_offset, header.crc) for _, header in iterate_headers(records))
    return tuple(batch for batch in batches if batch.last_offset >= from_offset)


@dataclass(slots=True)
class Compared:
    """One partition. `offset` is where the next reading begins: all replicas agreed on what is before."""

    partition: TopicPartition
    replicas: tuple[int, ...]
    offset: int
    high_watermark: int = 0
    #: Replicas that could not be read in the last round, with a sentence.
    unread: dict[int, str] = field(default_factory=dict)

    @property
    def lag(self) -> int:
        return max(0, self.high_watermark - self.offset)

    def compare(self, reads: Mapping[int, ReplicaRead]) -> list[str]:
        """Return the differences of checksums, and continue behind what every replica had.

        Raises CommandError for batches that end at different offsets: what follows cannot be compared.
        """
        differences: list[str] = []
        self.high_watermark = max([self.high_watermark, *(read.high_watermark for read in reads.values())])
        if len(reads) < len(self.replicas):
            return differences
        first = min(reads)
        for in_step in zip(*(reads[replica].batches for replica in sorted(reads)), strict=False):
            for replica, batch in zip(sorted(reads), in_step, strict=True):
                differences += self._differ(first, in_step[0], replica, batch)
            self.offset = in_step[0].last_offset + 1
        return differences

    def _differ(self, first: int, expected: Batch, replica: int, batch: Batch) -> list[str]:
        if batch.last_offset != expected.last_offset:
            raise CommandError(
                f"partition {self.partition}: replica {first}'s offset {expected.last_offset} doesn't match replica "
                f"{replica}'s offset {batch.last_offset}",
                on_stdout=True,
            )
        if batch.crc == expected.crc:
            return []
        return [
            f"partition {self.partition} has unmatched checksum at offset {batch.last_offset}; replica {first}'s "
            f"checksum {expected.crc}; replica {replica}'s checksum {batch.crc}"
        ]


def report(partitions: list[Compared]) -> str:
    worst = max(partitions, key=lambda partition: partition.lag)
    return (
        f"max lag is {worst.lag} for partition {worst.partition} at offset {worst.offset} "
        f"among {len(partitions)} partitions"
    )

"""A log as compaction may leave it, without keys and without a cleaner."""

from broker.log.log import Log
from broker.log.segment import Segment
from broker.log.segment_files import CLEANED_SUFFIX, SWAP_SUFFIX


def thin_out(log: Log) -> None:
    """Leave of each sealed segment its last batch."""
    for old in log.segments[:-1]:
        new = Segment.create(log.directory, old.base_offset, log.config.index_interval_bytes, CLEANED_SUFFIX)
        position, header = list(old.batches())[-1]
        new.append(old.read_batch(position, header), header.last_offset, header.max_timestamp)
        new.flush()
        new.seal()
        new.rename(SWAP_SUFFIX)
        log.replace_segments([old], [new])

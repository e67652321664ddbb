"""What a leader answers of one partition to a follower: records up to the log's end, or why there are none."""

from uuid import UUID

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import NO_LEADER_EPOCH, NO_TOPIC_ID
from broker.log.log import Log
from broker.log.log_slice import LogSlice
from broker.net.file_part import SENDFILE_BYTES_MIN, FilePart, records_of
from broker.protocol.messages.fetch import EpochEndOffset, FetchPartition, PartitionData
from broker.protocol.primitives import Buffer
from broker.replication.follower_feed import FedPartition
from broker.runtime.replication.hosted_partition import HostedPartition


def refused(partition: int, code: ErrorCode, log_start_offset: int = -1) -> PartitionData:
    return PartitionData(
        partition_index=partition,
        error_code=code,
        high_watermark=-1,
        log_start_offset=log_start_offset,
        records=b"",
    )


def is_of(hosted: HostedPartition, topic_id: UUID) -> bool:
    """Return whether a follower that says this id means the topic there is, and not an earlier one of its name.

    A fetch by name (before version 13) has no id: it was found by its name alone.
    """
    return topic_id in (NO_TOPIC_ID, hosted.topic_id)


def check_is_of(hosted: HostedPartition, topic_id: UUID) -> None:
    """Raise ApiError(INCONSISTENT_TOPIC_ID) if it is not `is_of`: its records and its offsets are others."""
    if not is_of(hosted, topic_id):
        raise ApiError(ErrorCode.INCONSISTENT_TOPIC_ID)


def disagreement(hosted: HostedPartition, fetch_partition: FetchPartition) -> PartitionData | None:
    """Return the divergence of the follower's log from ours; None if there is none (KIP-595).

    Raises ApiError if we do not lead in its epoch.
    """
    hosted.partition.check_leader(fetch_partition.current_leader_epoch)
    log = hosted.log
    answer = diverging(log, fetch_partition.partition, fetch_partition.fetch_offset, fetch_partition.last_fetched_epoch)
    if answer is not None:
        return answer
    if fetch_partition.fetch_offset > log.log_end_offset:
        return _diverging_at(
            log, fetch_partition.partition, log.leader_epoch_at(log.log_end_offset - 1), log.log_end_offset
        )
    if fetch_partition.fetch_offset < log.log_start_offset:
        return refused(fetch_partition.partition, ErrorCode.OFFSET_OUT_OF_RANGE, log.log_start_offset)
    return None


def diverging(log: Log, partition: int, fetch_offset: int, last_fetched_epoch: int) -> PartitionData | None:
    """Return where the reader's log diverges from `log`; None if it does not.

    Of an epoch above all that `log` knows, it says epoch and offset -1.
    """
    if last_fetched_epoch == NO_LEADER_EPOCH:
        return None
    epoch_end = log.end_offset_for_epoch(last_fetched_epoch)
    if epoch_end.epoch == last_fetched_epoch and epoch_end.end_offset >= fetch_offset:
        return None
    return _diverging_at(log, partition, epoch_end.epoch, epoch_end.end_offset)


def _diverging_at(log: Log, partition: int, epoch: int, end_offset: int) -> PartitionData:
    answer = refused(partition, ErrorCode.NONE, log.log_start_offset)
    answer.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return answer


def read_for_follower(
    hosted: HostedPartition, fed: FedPartition, max_bytes: int, *, at_least_one: bool
) -> PartitionData | None:
    """Read what is new for a follower, which then counts as sent; None if nothing is.

    Raises ApiError, and ColdReadError.
    """
    log, high_watermark = hosted.log, hosted.partition.high_watermark
    if fed.is_in_memory:
        fed.is_in_memory = False
    else:
        log.refuse_if_cold(fed.read_from, min(max_bytes, fed.max_bytes))
    log_slice = log.read(fed.read_from, min(max_bytes, fed.max_bytes), log.log_end_offset, at_least_one=at_least_one)
    bounds = (high_watermark, log.log_start_offset)
    if not log_slice.length and bounds == (fed.high_watermark, fed.log_start_offset):
        return None
    if log_slice.length:
        fed.read_from = log.offset_after(fed.read_from, log_slice)
    fed.high_watermark, fed.log_start_offset = bounds
    return PartitionData(
        partition_index=fed.topic_partition.partition,
        high_watermark=high_watermark,
        last_stable_offset=high_watermark,
        log_start_offset=log.log_start_offset,
        records=_payload(log_slice),
    )


def _payload(log_slice: LogSlice) -> Buffer:
    if log_slice.length >= SENDFILE_BYTES_MIN and log_slice.file is not None:
        return records_of(FilePart(log_slice.file, log_slice.position, log_slice.length))
    return log_slice.read()

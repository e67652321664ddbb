"""Reads the records of one partition between two offsets, in Arrow batches, over our own client.

A range ends where its offsets end, not where its records do: compaction and transactions leave offsets that hold no
record for the reader, at the end too, and the batches that were fetched say how far they go.
"""

import time
from collections.abc import Iterator

import pyarrow as pa

from broker.client.errors import BrokerUnreachable
from broker.client.leaders import MOVED, Leaders
from broker.client.offsets import list_offsets
from broker.client.visible_batches import end_of, visible_batches
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.common.types import IsolationLevel
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from broker.spark.client_settings import ClientSettings, cluster_of
from broker.spark.offsets import TO_GO_ON, DataLossError, OffsetRange
from broker.spark.rows import in_portions, to_arrow

#: How long a range may bring nothing new before its reader gives up.
NO_PROGRESS_TIMEOUT_S = 60.0
#: How long a partition may end before a range that was promised to exist does: a new leader is still catching up.
CATCH_UP_TIMEOUT_S = 10.0
_PAUSE_S = 0.1
#: The newest version that names topics by name.
_FETCH_BY_NAME = 12

_log = logger("broker.spark.source")


def read_range(
    client: ClientSettings, wanted: OffsetRange, *, fail_on_data_loss: bool = True, with_headers: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the records of the range in order.

    Raises DataLossError when part of the range is gone and `fail_on_data_loss`, else leaves that part out;
    ApiError for what waiting does not mend (a damaged batch, no authorisation); TimeoutError when the brokers bring
    nothing new for NO_PROGRESS_TIMEOUT_S.
    """
    reader = _RangeReader(client, wanted, fail_on_data_loss)
    while not reader.finished:
        fetched = reader.next_fetched()
        if fetched is None:
            continue
        start, data = fetched
        aborted = (data.aborted_transactions or ()) if client.committed_only else None
        for portion in in_portions(visible_batches(memoryview(data.records or b""), aborted)):
            yield from to_arrow(portion, wanted.partition, start, wanted.end, with_headers)


class _RangeReader:
    """The reader's position in the range. It moves by batches, by the end of the partition, and by lost parts."""

    def __init__(self, client: ClientSettings, wanted: OffsetRange, fail_on_data_loss: bool):
        self._client = client
        self._leaders = Leaders(cluster_of(client))
        self._wanted = wanted
        self._fail_on_data_loss = fail_on_data_loss
        self._trouble = "no error was reported"
        self._ends_early_since: float | None = None
        self._move_to(wanted.start)

    @property
    def finished(self) -> bool:
        return self._position >= self._wanted.end

    def next_fetched(self) -> tuple[int, PartitionData] | None:
        """Return the offset that was asked for and what was answered; None when nothing came, perhaps for the
        moment.
        """
        try:
            data = self._fetch()
            match error_code_of(data.error_code):
                case ErrorCode.NONE:
                    return self._take(data)
                case ErrorCode.OFFSET_OUT_OF_RANGE:
                    self._skip_to_earliest()
                case code:
                    raise ApiError(code)
        except ApiError as error:
            self._heed(error)
        except BrokerUnreachable as error:
            self._trouble = str(error)
            self._leaders.forget(self._wanted.partition, connection_broken=True)
        self._check_deadlines()
        time.sleep(_PAUSE_S)
        return None

    def _fetch(self) -> PartitionData:
        topic, index = self._wanted.partition
        fetch_partition = FetchPartition(
            partition=index, fetch_offset=self._position, partition_max_bytes=self._client.fetch_bytes
        )
        request = FetchRequest(
            max_wait_ms=self._client.fetch_max_wait_ms,
            min_bytes=1,
            max_bytes=self._client.fetch_bytes,
            isolation_level=_isolation(self._client),
            topics=[FetchTopic(topic=topic, partitions=[fetch_partition])],
        )
        response = self._leaders.connection(self._wanted.partition).ask(request, version_max=_FETCH_BY_NAME)
        if response.error_code:
            raise ApiError(error_code_of(response.error_code))
        if not response.responses:
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        data: PartitionData = response.responses[0].partitions[0]
        return data

    def _take(self, data: PartitionData) -> tuple[int, PartitionData] | None:
        start = self._position
        end = end_of(memoryview(data.records)) if data.records else None
        if end is not None:
            self._move_to(max(end, start))
            return start, data
        if data.records:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{self._description()}: no whole batch at {start}")
        readable = data.last_stable_offset if self._client.committed_only else data.high_watermark
        if readable >= self._wanted.end:
            self._move_to(self._wanted.end)
        elif self._ends_early_since is None:
            self._ends_early_since = time.monotonic()
        self._check_deadlines()
        return None

    def _heed(self, error: ApiError) -> None:
        self._trouble = error.message
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            self._ends_early_since = self._ends_early_since or time.monotonic()
        elif not error.code.retriable or error.code is ErrorCode.CORRUPT_MESSAGE:
            raise error
        if error.code in MOVED:
            self._leaders.forget(self._wanted.partition)

    def _skip_to_earliest(self) -> None:
        partition = self._wanted.partition
        (earliest,) = list_offsets(self._leaders, {partition: EARLIEST_TIMESTAMP}).values()
        if earliest > self._position:
            self._lose(f"it begins at {earliest}")
            self._move_to(min(earliest, self._wanted.end))
        elif self._ends_early_since is None:
            (latest,) = list_offsets(self._leaders, {partition: LATEST_TIMESTAMP}).values()
            self._trouble = f"it begins at {earliest} and ends at {latest}"
            self._ends_early_since = time.monotonic()

    def _move_to(self, offset: int) -> None:
        self._position = offset
        self._moved_at = time.monotonic()
        self._ends_early_since = None

    def _check_deadlines(self) -> None:
        now = time.monotonic()
        if self._ends_early_since is not None and now - self._ends_early_since > CATCH_UP_TIMEOUT_S:
            self._lose(f"it ends before {self._wanted.end} ({self._trouble})")
            self._move_to(self._wanted.end)
        if now - self._moved_at > NO_PROGRESS_TIMEOUT_S:
            raise TimeoutError(
                f"{self._description()}: nothing after {self._position} in {NO_PROGRESS_TIMEOUT_S:g} s; {self._trouble}"
            )

    def _lose(self, finding: str) -> None:
        if self._fail_on_data_loss:
            raise DataLossError(f"{self._description()} is gone at {self._position}: {finding}. {TO_GO_ON}")
        _log.warning("records are gone", range=self._description(), position=self._position, finding=finding)

    def _description(self) -> str:
        return f"{self._wanted.partition} from {self._wanted.start} to {self._wanted.end}"


def _isolation(client: ClientSettings) -> IsolationLevel:
    return IsolationLevel.READ_COMMITTED if client.committed_only else IsolationLevel.READ_UNCOMMITTED

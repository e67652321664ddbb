"""The topic of mirrors of one cluster, read to its end and kept up to date."""

import threading
import time

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import MOVED, Leaders
from broker.client.offsets import list_offsets
from broker.client.visible_batches import end_of, visible_batches
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.types import IsolationLevel, TopicPartition
from broker.mirror.mirror_state import MirrorState
from broker.mirror.records import TOPIC
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from broker.records.record import decode_records

LEDGER = TopicPartition(TOPIC, 0)
#: A transaction that a dead mirror has left open ends by its timeout, a minute.
_TIMEOUT_S = 120.0
_PAUSE_S = 0.1
_FETCH_BYTES = 1 << 20
_FETCH_WAIT_MS = 100
#: The newest version that names topics by name.
_FETCH_BY_NAME = 12


class LedgerUnread(BarnabasError):
    """The end of the topic was not reached in time."""


class MirrorLedger(MirrorState):
    """Ledger of one cluster; readers wait for one another. A cluster without the topic has an empty one."""

    def __init__(self, cluster: ClusterConnections, timeout_s: float = _TIMEOUT_S):
        super().__init__()
        self._leaders = Leaders(cluster)
        self._timeout_s = timeout_s
        self._next = 0
        self._reading = threading.Lock()

    def read_to_end(self, *, waits_for_open: bool = True) -> None:
        """Read what was committed before the call.

        Raises LedgerUnread, BrokerUnreachable, ApiError.
        """
        with self._reading:
            self._read_on(waits_for_open=waits_for_open)

    def _read_on(self, *, waits_for_open: bool) -> None:
        deadline = time.monotonic() + self._timeout_s
        end = self._end(deadline, IsolationLevel.READ_UNCOMMITTED if waits_for_open else IsolationLevel.READ_COMMITTED)
        while self._next < end:
            if time.monotonic() >= deadline:
                raise LedgerUnread(f"{TOPIC} was not read to its end, {end}, in {self._timeout_s:g} s")
            try:
                self._take(self._fetched())
            except ApiError as error:
                if error.code not in MOVED:
                    raise
                self._leaders.forget(LEDGER)
                time.sleep(_PAUSE_S)
            except BrokerUnreachable:
                self._leaders.forget(LEDGER, connection_broken=True)
                time.sleep(_PAUSE_S)

    def _end(self, deadline: float, isolation: IsolationLevel) -> int:
        try:
            self._leaders.partitions(TOPIC)
        except ApiError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not self._next:
                return 0
            if not error.code.retriable:
                raise
        left_s = max(deadline - time.monotonic(), 1.0)
        (end,) = list_offsets(self._leaders, {LEDGER: LATEST_TIMESTAMP}, isolation, timeout_s=left_s).values()
        return end

    def _fetched(self) -> PartitionData:
        fetch_partition = FetchPartition(partition=0, fetch_offset=self._next, partition_max_bytes=_FETCH_BYTES)
        request = FetchRequest(
            max_wait_ms=_FETCH_WAIT_MS,
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=IsolationLevel.READ_COMMITTED,
            topics=[FetchTopic(topic=TOPIC, partitions=[fetch_partition])],
        )
        answer = self._leaders.connection(LEDGER).ask(request, version_max=_FETCH_BY_NAME)
        if answer.error_code:
            raise ApiError(error_code_of(answer.error_code))
        data: PartitionData = answer.responses[0].partitions[0]
        return data

    def _take(self, data: PartitionData) -> None:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            (self._next,) = list_offsets(self._leaders, {LEDGER: EARLIEST_TIMESTAMP}).values()
            return
        if data.error_code:
            raise ApiError(error_code_of(data.error_code))
        fetched = memoryview(data.records or b"")
        for header, batch in visible_batches(fetched, data.aborted_transactions or ()):
            if header.last_offset < self._next:
                continue
            for record in decode_records(batch):
                if record.offset >= self._next:
                    self.apply(record.key, record.value)
        self._next = max(self._next, end_of(fetched) or 0)

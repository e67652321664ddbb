"""Reads records of partitions over our own client, from given offsets on, with a bound on what they may unpack to.

librdkafka unpacks whatever it fetches, and bounds gzip by nothing: a batch of 1 MB may become 1 GB. Here a batch that
unpacks to more than the bound is left out and told, and reading goes on behind it. A call of `read` ends with the batch
that reaches the bound, so that it brings twice as much at most, however many batches have come. Nothing is committed,
and no group is joined.
"""

import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import dropwhile, islice
from typing import NamedTuple

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection, SentRequest
from broker.client.errors import BrokerUnreachable, UnreadableAnswer
from broker.client.leaders import MOVED, Address, Leaders
from broker.client.offsets import list_offsets
from broker.client.visible_batches import Batch, end_of, visible_batches
from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.types import IsolationLevel, TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP
from broker.records.batch import HEADER_BYTES, BatchHeader, TimestampType
from broker.records.compression import decompress
from broker.records.record import Record, iterate_records

#: The newest version that names topics by name.
_FETCH_BY_NAME = 12
_PAUSE_S = 0.05
#: A call ends with the batch that reaches it, 10 to 20 MB: what a batch unpacks to says little of its headers.
_HEADERS_MAX = 100_000
#: A leader that hangs is given up, and whoever leads by then is asked.
_RESPONSE_S = 30.0
#: Between two questions who leads a partition that has no leader; the others are read meanwhile.
_NO_LEADER_S = 0.5


class RecordRun(NamedTuple):
    """Records of a partition in a row. Their `timestamp_ms` is the broker's where `is_append_time`, else the
    producer's, and -1 for none."""

    partition: TopicPartition
    is_append_time: bool
    records: list[Record]


class LeftOutBatch(NamedTuple):
    """A batch that was not read, with the first and the last offset it takes up."""

    partition: TopicPartition
    first: int
    last: int
    reason: str


class PartitionRefused(ApiError):
    """A leader answers for a partition what waiting does not mend; the others can be read once it is dropped."""

    def __init__(self, code: ErrorCode, partition: TopicPartition):
        super().__init__(code, f"{partition}: {code.meaning}")
        self.partition = partition


class _PendingFetch(NamedTuple):
    connection: BrokerConnection
    sent: SentRequest[FetchResponse]
    offsets: dict[TopicPartition, int]
    until: float
    turn: ExitStack


class _Fetched(NamedTuple):
    """What a response brought of a partition, behind `start`; `end` is the offset behind its last batch."""

    partition: TopicPartition
    start: int
    end: int
    batches: Iterator[Batch]


class RecordReader:
    """Used by one thread, until `close`; the cluster stays open."""

    def __init__(
        self,
        cluster: ClusterConnections,
        starts: Mapping[TopicPartition, int],
        isolation: IsolationLevel,
        *,
        fetch_bytes: int,
        fetch_wait_ms: int,
        unpacked_bytes_max: int,
        reset: int | None = EARLIEST_TIMESTAMP,
        turn: Callable[[str], AbstractContextManager[object]] | None = None,
    ):
        """`reset`: where an offset goes that is out of range, as ListOffsets names it; None: it is an error.
        `turn(address)` is entered around each request, as a limit of requests under way wants it."""
        self._cluster, self._leaders = cluster, Leaders(cluster)
        self._isolation, self._reset = isolation, reset
        self._fetch_bytes, self._fetch_wait_ms = fetch_bytes, fetch_wait_ms
        self._unpacked_bytes_max = unpacked_bytes_max
        self._turn = turn
        #: The offset to be read next, of each partition.
        self.positions = dict(starts)
        self._wanted = set(starts)
        self._fetches: dict[Address, _PendingFetch] = {}
        self._fetched: deque[_Fetched] = deque()
        #: Of the response that is being read, and of its batch.
        self._reading: _Fetched | None = None
        self._batch: BatchHeader | None = None
        self._batch_bytes = 0
        self._records: Iterator[Record] = iter(())
        self._left_out: list[LeftOutBatch] = []
        self._rotation = 0
        #: When the leader of a partition that has none is asked for again.
        self._leader_at: dict[TopicPartition, float] = {}

    def take_left_out(self) -> list[LeftOutBatch]:
        """Return the batches that were left out since the last call."""
        taken, self._left_out = self._left_out, []
        return taken

    @property
    def is_reading(self) -> bool:
        """Whether there is a partition to read."""
        return bool(self._wanted)

    def wants(self, partition: TopicPartition) -> bool:
        return partition in self._wanted

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read the partition from there on; it may be new."""
        self.drop(partition)
        self.positions[partition] = offset
        self._wanted.add(partition)

    def drop(self, partition: TopicPartition) -> None:
        """Read no more of the partition until the next `seek`; its position stays."""
        self._wanted.discard(partition)
        self._fetched = deque(fetched for fetched in self._fetched if fetched.partition != partition)
        if self._reading is not None and self._reading.partition == partition:
            self._reading = self._batch = None

    def read(self, timeout_s: float, records_max: int) -> list[RecordRun]:
        """Return at most `records_max` records, waited for no longer than `timeout_s`; none if nothing came, or only a
        batch that was left out. Of a partition nothing behind a batch that was left out comes with the same call.

        Raises ApiError for what waiting does not mend, PartitionRefused if it is of one, NotTrusted, LoginRefused.
        """
        deadline = time.monotonic() + timeout_s
        left_out = len(self._left_out)
        runs = self._buffered(records_max)
        while not runs and len(self._left_out) == left_out and self._wanted and time.monotonic() < deadline:
            if self._reading is None and not self._fetched:
                self._fetch(deadline)
            runs = self._buffered(records_max)
        return runs

    def _buffered(self, records_max: int) -> list[RecordRun]:
        """Return what has come already, until a bound of a call is reached or a batch was left out."""
        runs: list[RecordRun] = []
        left, unpacked, headers, left_out = records_max, 0, 0, len(self._left_out)
        while self._batch is not None or self._next_batch():
            assert self._reading is not None
            assert self._batch is not None
            partition = self._reading.partition
            records = self._taken(self._batch, partition, left)
            if records:
                left -= len(records)
                headers += sum([len(record.headers) for record in records])
                self.positions[partition] = records[-1].offset + 1
                is_append_time = self._batch.timestamp_type is TimestampType.LOG_APPEND_TIME
                runs.append(RecordRun(partition, is_append_time, records))
            unpacked += self._batch_bytes
            if left:
                self.positions[partition] = max(self.positions[partition], self._batch.next_offset)
                self._batch = None
            is_full = not left or unpacked >= self._unpacked_bytes_max or headers >= _HEADERS_MAX
            if is_full or len(self._left_out) > left_out:
                break
        return runs

    def _taken(self, header: BatchHeader, partition: TopicPartition, records_max: int) -> list[Record]:
        """Return the next records of the batch; fewer than `records_max` at its end, or where it cannot be read on."""
        records: list[Record] = []
        try:
            records.extend(islice(self._records, records_max))
        except ApiError as error:
            self._leave_out(partition, header, error)
        return records

    def _leave_out(self, partition: TopicPartition, header: BatchHeader, error: ApiError) -> None:
        self._left_out.append(LeftOutBatch(partition, header.base_offset, header.last_offset, error.message))
        self._records, self._batch_bytes = iter(()), 0

    def _next_batch(self) -> bool:
        """Return whether there is another one of a partition that is still wanted."""
        while True:
            if self._reading is None:
                if not self._fetched:
                    return False
                self._reading = self._fetched.popleft()
                continue
            partition, start, end, batches = self._reading
            try:
                header, batch = next(batches, (None, memoryview(b"")))
            except ApiError as error:
                # Damaged, or of before Kafka 0.11: where the next batch begins is only known of the whole response.
                self._left_out.append(LeftOutBatch(partition, self.positions[partition], end - 1, error.message))
                header = None
            if header is None:
                self.positions[partition] = max(self.positions[partition], end)
                self._reading = None
                continue
            self._unpack(header, batch, partition, start)
            return True

    def _unpack(self, header: BatchHeader, batch: memoryview, partition: TopicPartition, start: int) -> None:
        self._batch = header
        try:
            payload = decompress(header.compression, batch[HEADER_BYTES:], self._unpacked_bytes_max)
        except ApiError as error:
            self._leave_out(partition, header, error)
            return
        self._batch_bytes = len(payload)
        self._records = iterate_records(header, payload)
        if header.base_offset < start:
            self._records = dropwhile(lambda record: record.offset < start, self._records)

    def _fetch(self, deadline: float) -> None:
        """Ask every leader that is not asked yet, and take what the first of them answers. A cluster that is away
        brings nothing; it is asked again."""
        try:
            self._ask_all()
            if self._fetches:
                self._take_first(deadline)
                return
        except ApiError as error:
            if error.code not in MOVED:
                raise
        except BrokerUnreachable as error:
            if isinstance(error, UnreadableAnswer):
                raise
        time.sleep(_PAUSE_S)

    def _take_first(self, deadline: float) -> None:
        closed = [address for address, fetch in self._fetches.items() if fetch.connection.fileno() < 0]
        for address in closed:
            self._lost(address, self._fetches.pop(address))
        if closed:
            return
        poll = select.poll()
        by_number = {fetch.connection.fileno(): address for address, fetch in self._fetches.items()}
        for number in by_number:
            poll.register(number, select.POLLIN)
        for number, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            address = by_number[number]
            self._take(address, self._fetches.pop(address))
        now = time.monotonic()
        for address in [item for item, fetch in self._fetches.items() if now > fetch.until]:
            self._lost(address, self._fetches.pop(address))

    def _ask_all(self) -> None:
        self._rotation += 1
        led = self._led()
        for address, partitions in led.items():
            if address in self._fetches:
                continue
            turned = self._rotation % len(partitions)
            offsets = {partition: self.positions[partition] for partition in partitions[turned:] + partitions[:turned]}
            with ExitStack() as turn:
                try:
                    if self._turn is not None:
                        turn.enter_context(self._turn(f"{address[0]}:{address[1]}"))
                    connection = self._cluster.connection(*address)
                    sent = connection.send(self._request(offsets, len(led)), version_max=_FETCH_BY_NAME)
                except BrokerUnreachable:
                    self._leaders.forget(partitions[0], connection_broken=True)
                    continue
                self._fetches[address] = _PendingFetch(
                    connection, sent, offsets, time.monotonic() + _RESPONSE_S, turn.pop_all()
                )

    def _led(self) -> dict[Address, list[TopicPartition]]:
        """Return the partitions to be asked for, by their leaders; without those that have none at the moment."""
        busy = {partition for fetch in self._fetches.values() for partition in fetch.offsets}
        led: dict[Address, list[TopicPartition]] = {}
        for partition in sorted(self._wanted - busy):
            if self._leader_at and self._leader_at.get(partition, 0) > time.monotonic():
                continue
            try:
                led.setdefault(self._leaders.address(partition), []).append(partition)
                self._leader_at.pop(partition, None)
            except ApiError as error:
                if error.code not in MOVED:
                    raise
                self._leader_at[partition] = time.monotonic() + _NO_LEADER_S
        return led

    def _request(self, offsets: Mapping[TopicPartition, int], leaders: int) -> FetchRequest:
        most = max(self._fetch_bytes // leaders, 1)
        topics: dict[str, list[FetchPartition]] = {}
        for (topic, number), offset in offsets.items():
            fetch_partition = FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=most)
            topics.setdefault(topic, []).append(fetch_partition)
        return FetchRequest(
            max_wait_ms=self._fetch_wait_ms,
            min_bytes=1,
            max_bytes=most,
            isolation_level=self._isolation,
            topics=[FetchTopic(topic=name, partitions=fetch_partitions) for name, fetch_partitions in topics.items()],
        )

    def _take(self, address: Address, fetch: _PendingFetch) -> None:
        try:
            with fetch.turn:
                response = fetch.connection.answer(fetch.sent)
        except BrokerUnreachable:
            self._lost(address, fetch)
            return
        if response.error_code:
            raise ApiError(error_code_of(response.error_code))
        for topic in response.responses:
            for data in topic.partitions:
                at = TopicPartition(topic.topic, data.partition_index)
                # Unless it was sent elsewhere meanwhile.
                if at in self._wanted and self.positions[at] == fetch.offsets.get(at):
                    self._take_partition(at, data)

    def _lost(self, address: Address, fetch: _PendingFetch) -> None:
        fetch.turn.close()
        self._cluster.forget(*address)
        self._leaders.forget(next(iter(fetch.offsets)))
        time.sleep(_PAUSE_S)

    def _take_partition(self, at: TopicPartition, data: PartitionData) -> None:
        code = error_code_of(data.error_code)
        if code is ErrorCode.OFFSET_OUT_OF_RANGE and self._reset is not None:
            (self.positions[at],) = list_offsets(self._leaders, {at: self._reset}, self._isolation).values()
        elif code in MOVED or (code is not ErrorCode.NONE and code.retriable):
            self._leaders.forget(at)
            time.sleep(_PAUSE_S)
        elif code is not ErrorCode.NONE:
            raise PartitionRefused(code, at)
        elif data.records:
            records = memoryview(data.records)
            aborted = (data.aborted_transactions or ()) if self._isolation is IsolationLevel.READ_COMMITTED else None
            end = end_of(records)
            if end is None:
                raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{at}: no whole batch at {self.positions[at]}")
            start = self.positions[at]
            self._fetched.append(_Fetched(at, start, max(start, end), visible_batches(records, aborted)))

    def close(self) -> None:
        """Close the connections; unanswered requests are given up."""
        for address, fetch in self._fetches.items():
            fetch.turn.close()
            self._cluster.forget(*address)
        self._fetches.clear()

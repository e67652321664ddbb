"""Reads partitions of the source ahead of the writer to the target: committed records only, batch by batch.

It reads on a thread of its own, as far ahead as a few megabytes, so that source and target work at the same time.
"""

import queue
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from broker.client.cluster import ClusterConnections
from broker.client.connection import BrokerConnection, SentRequest
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import MOVED, Address, Leaders
from broker.client.offsets import list_offsets
from broker.client.visible_batches import end_of, visible_batches
from broker.client.wire import ReceiveBuffer
from broker.common.errors import ApiError, BarnabasError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.common.types import IsolationLevel, TopicPartition
from broker.mirror.batches import Copy, copy_of
from broker.mirror.provenance import Clusters, Provenance
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from broker.protocol.messages.list_offsets import LATEST_TIMESTAMP
from broker.records.batch import iterate_headers

_log = logger("broker.mirror")
_FETCH_BY_NAME, _FETCH_BY_ID = 12, 13
_FETCH_WAIT_MS = 500
_FETCH_BYTES = 8 << 20
_PARTITION_BYTES = 2 << 20
#: Answers of a source that wait for the target.
_AHEAD = 1
#: That are kept while nothing is in them: no more are in use unless the source has many brokers.
_ROOMS = _AHEAD + 3
_PAUSE_S = 0.2
#: After an error that no code foresaw: each has a traceback in the log.
_UNFORESEEN_S = 5.0
_OTHER_TOPIC = (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INCONSISTENT_TOPIC_ID)
#: Between answers of brokers that have nothing and do not wait as they were asked to.
_IDLE_S = 0.01
_SELECT_MS = 200
#: A broker that hangs is asked again, or whoever leads by then.
_ANSWER_S = 30.0
#: Between looks at where partitions end that are not read meanwhile.
_ENDS_S = 3.0
#: In place of an offset: not read.
_RESTS = -1


class Portion(NamedTuple):
    """What one answer brought of a partition. `turn`: how often the partition has been sent elsewhere (`seek`)."""

    partition: TopicPartition
    turn: int
    #: In order, with the clusters each has been in.
    copies: tuple[tuple[Copy, Clusters], ...]
    next_offset: int
    #: Where the partition ends for a reader of committed records.
    end_offset: int


class FetchRefusal(NamedTuple):
    """The source does not answer for a partition what waiting mends."""

    partition: TopicPartition
    turn: int
    code: ErrorCode
    message: str


Read = Portion | FetchRefusal


class _FetchStart(NamedTuple):
    offset: int
    turn: int
    topic_id: UUID | None


class _SourceFetch(NamedTuple):
    connection: BrokerConnection
    sent: SentRequest[FetchResponse]
    wanted: dict[TopicPartition, _FetchStart]
    until: float


class SourceReader:
    """`start` before anything else; `stop` ends the thread. `connect` makes a Cluster, which the thread closes."""

    def __init__(
        self, connect: Callable[[], ClusterConnections], provenance: Callable[[ClusterConnections], Provenance]
    ):
        self._connect, self._make_provenance = connect, provenance
        self._wanted: dict[TopicPartition, _FetchStart] = {}
        self._fetches: dict[Address, _SourceFetch] = {}
        self._turns = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._ready: queue.Queue[tuple[list[Read], list[ReceiveBuffer]]] = queue.Queue(_AHEAD)
        #: Where answers may go, and where those are that `next` gave last.
        self._rooms: deque[ReceiveBuffer] = deque(maxlen=_ROOMS)
        self._in_use: list[ReceiveBuffer] = []
        self._thread = threading.Thread(target=self._run, name="mirror-reader", daemon=True)
        #: Where partitions end for readers of committed records, as last told.
        self.ends: dict[TopicPartition, int] = {}
        #: Why nothing comes; None when all is well.
        self.trouble: str | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        while self._thread.is_alive():
            self._drain()
            self._thread.join(0.05)

    def _drain(self) -> None:
        try:
            while True:
                self._ready.get_nowait()
        except queue.Empty:
            return

    def seek(self, partition: TopicPartition, offset: int, topic_id: UUID | None) -> int:
        """Read the partition from `offset` on; records read before are to be thrown away. Return the turn.

        With its id a topic that was deleted and made anew under its name is not taken for the one before.
        """
        with self._lock:
            before = self._wanted.get(partition)
            turn = before.turn + 1 if before else 1
            self._wanted[partition] = _FetchStart(offset, turn, topic_id)
        return turn

    def rest(self, partition: TopicPartition) -> None:
        """Pause reading the partition until the next `seek`."""
        self.seek(partition, _RESTS, None)

    def next(self, timeout_s: float) -> list[Read]:
        """Return what was read meanwhile; nothing after the timeout. Earlier results may be overwritten."""
        self._rooms.extend(self._in_use)
        self._in_use = []
        try:
            read, self._in_use = self._ready.get(timeout=timeout_s)
        except queue.Empty:
            return []
        return read

    def _run(self) -> None:
        while not self._stopping.is_set():
            # One for requests that are answered before the next one is sent, one for those that are not.
            with self._connect() as cluster, self._connect() as fetching:
                self._leaders, self._provenance = Leaders(cluster), self._make_provenance(cluster)
                self._fetches.clear()
                try:
                    while not self._stopping.is_set():
                        self._put(*self._round(fetching))
                except (BarnabasError, OSError) as error:
                    self.trouble = str(error)
                    _log.warning("source not read for now", reason=str(error))
                    self._stopping.wait(_PAUSE_S)
                except Exception as error:  # a response that lies: without this thread the mirror copies nothing more
                    self.trouble = f"{type(error).__name__}: {error}"
                    _log.exception("source not read for now")
                    self._stopping.wait(_UNFORESEEN_S)

    def _put(self, read: list[Read], rooms: list[ReceiveBuffer]) -> None:
        if not read:
            self._rooms.extend(rooms)
        looked_s = time.monotonic()
        while read and not self._stopping.is_set():
            try:
                self._ready.put((read, rooms), timeout=0.2)
                return
            except queue.Full:
                if time.monotonic() - looked_s > _ENDS_S:
                    self._look_at_ends()
                    looked_s = time.monotonic()

    def _look_at_ends(self) -> None:
        """Look at the source's ends, which grow while the target accepts nothing."""
        with self._lock:
            wanted = {partition: LATEST_TIMESTAMP for partition, item in self._wanted.items() if item.offset != _RESTS}
        with suppress(ApiError, BrokerUnreachable):
            self.ends.update(list_offsets(self._leaders, wanted, IsolationLevel.READ_COMMITTED))

    def _round(self, fetching: ClusterConnections) -> tuple[list[Read], list[ReceiveBuffer]]:
        """Return the first responses of leaders, and the buffers they are in."""
        self._ask_all(fetching)
        if not self._fetches:
            self._stopping.wait(_PAUSE_S)
            return [], []
        by_number = {fetch.connection.fileno(): address for address, fetch in self._fetches.items()}
        poll = select.poll()
        for number in by_number:
            poll.register(number, select.POLLIN)
        readable = [number for number, _ in poll.poll(_SELECT_MS)]
        reads: list[Read] = []
        rooms = [self._room() for _ in readable]
        for number, room in zip(readable, rooms, strict=True):
            address = by_number[number]
            reads += self._answered(fetching, address, self._fetches.pop(address), room)
        for address in [item for item, fetch in self._fetches.items() if time.monotonic() > fetch.until]:
            fetch = self._fetches.pop(address)
            late = BrokerUnreachable(f"{fetch.connection.address} did not answer a fetch in {_ANSWER_S:g} s")
            self._lost(fetching, address, next(iter(fetch.wanted)), late)
        if not reads and len(readable) == len(by_number):
            self._stopping.wait(_IDLE_S)
        return reads, rooms

    def _room(self) -> ReceiveBuffer:
        try:
            return self._rooms.popleft()
        except IndexError:
            return ReceiveBuffer()

    def _ask_all(self, fetching: ClusterConnections) -> None:
        with self._lock:
            busy = {partition for fetch in self._fetches.values() for partition in fetch.wanted}
            wanted = {
                partition: item
                for partition, item in self._wanted.items()
                if item.offset != _RESTS and partition not in busy
            }
        for address, partitions in self._led(wanted).items():
            if address in self._fetches:
                continue
            mine = {partition: wanted[partition] for partition in partitions}
            try:
                connection = fetching.connection(*address)
                has_ids = all(wanted.topic_id for wanted in mine.values())
                sent = connection.send(_request(mine), version_max=_FETCH_BY_ID if has_ids else _FETCH_BY_NAME)
            except BrokerUnreachable as error:
                self._lost(fetching, address, partitions[0], error)
                continue
            self._fetches[address] = _SourceFetch(connection, sent, mine, time.monotonic() + _ANSWER_S)

    def _led(self, wanted: Mapping[TopicPartition, _FetchStart]) -> dict[Address, list[TopicPartition]]:
        """Return partitions by leader, rotated, so that each is the first of a request once."""
        led: dict[Address, list[TopicPartition]] = {}
        for partition in wanted:
            try:
                led.setdefault(self._leaders.address(partition), []).append(partition)
            except ApiError as error:
                if error.code not in MOVED:
                    raise
                self.trouble = error.message
        self._turns += 1
        return {at: item[self._turns % len(item) :] + item[: self._turns % len(item)] for at, item in led.items()}

    def _answered(
        self, fetching: ClusterConnections, address: Address, fetch: _SourceFetch, room: ReceiveBuffer
    ) -> list[Read]:
        try:
            answer = fetch.connection.answer(fetch.sent, room=room)
        except BrokerUnreachable as error:
            self._lost(fetching, address, next(iter(fetch.wanted)), error)
            return []
        if answer.error_code:
            raise ApiError(error_code_of(answer.error_code))
        self.trouble = None
        reads: list[Read] = []
        names = {wanted.topic_id: partition.topic for partition, wanted in fetch.wanted.items()}
        for topic in answer.responses:
            for data in topic.partitions:
                name = topic.topic or names.get(topic.topic_id, "")
                partition = TopicPartition(name, data.partition_index)
                wanted = fetch.wanted[partition]
                read = self._taken(partition, wanted.turn, wanted.offset, data)
                if read is not None:
                    reads.append(read)
                    self._go_on(read)
        return reads

    def _go_on(self, read: Read) -> None:
        with self._lock:
            wanted = self._wanted[read.partition]
            if wanted.turn == read.turn:
                offset = read.next_offset if isinstance(read, Portion) else _RESTS
                self._wanted[read.partition] = wanted._replace(offset=offset)

    def _lost(
        self, fetching: ClusterConnections, address: Address, partition: TopicPartition, error: BrokerUnreachable
    ) -> None:
        self.trouble = str(error)
        fetching.forget(*address)
        self._leaders.forget(partition)
        self._stopping.wait(_PAUSE_S)

    def _taken(self, partition: TopicPartition, turn: int, offset: int, data: PartitionData) -> Read | None:
        code = error_code_of(data.error_code)
        if code in _OTHER_TOPIC:
            # Or a broker that has just come back and knows of none.
            self._leaders.forget(partition)
            self._stopping.wait(_PAUSE_S)
            return FetchRefusal(partition, turn, code, code.meaning)
        if code in MOVED:
            self._leaders.forget(partition)
            self._stopping.wait(_PAUSE_S)
            return None
        if code is not ErrorCode.NONE:
            return None if code.retriable else FetchRefusal(partition, turn, code, code.meaning)
        self.ends[partition] = data.last_stable_offset
        fetched = memoryview(data.records or b"")
        end = end_of(fetched)
        if end is None or end <= offset:
            return None
        try:
            copies = self._copies(fetched, data, offset)
        except ApiError as error:
            return FetchRefusal(partition, turn, error.code, error.message)
        return Portion(partition, turn, copies, end, data.last_stable_offset)

    def _copies(self, fetched: memoryview, data: PartitionData, offset: int) -> tuple[tuple[Copy, Clusters], ...]:
        clusters = self._provenance.of({header.producer_id for _, header in iterate_headers(fetched)})
        copies = []
        for header, batch in visible_batches(fetched, data.aborted_transactions or ()):
            if header.last_offset >= offset and (copy := copy_of(header, batch, offset)) is not None:
                copies.append((copy, clusters(header.producer_id)))
        return tuple(copies)


def _request(wanted: Mapping[TopicPartition, _FetchStart]) -> FetchRequest:
    topics: dict[str, list[FetchPartition]] = {}
    ids = {partition.topic: item.topic_id for partition, item in wanted.items()}
    for partition, (offset, _, _) in wanted.items():
        fetch_partition = FetchPartition(
            partition=partition.partition, fetch_offset=offset, partition_max_bytes=_PARTITION_BYTES
        )
        topics.setdefault(partition.topic, []).append(fetch_partition)
    return FetchRequest(
        max_wait_ms=_FETCH_WAIT_MS,
        min_bytes=1,
        max_bytes=_FETCH_BYTES,
        isolation_level=IsolationLevel.READ_COMMITTED,
        topics=[
            FetchTopic(topic=name, topic_id=ids[name] or UUID(int=0), partitions=item) for name, item in topics.items()
        ],
    )

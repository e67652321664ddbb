"""A client that costs next to nothing: requests are encoded once, answers are counted, not decoded."""

import selectors
import socket
import time

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from broker.protocol.headers import RequestHeader, encode_request_header
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record

PRODUCE_VERSION = 9
FETCH_VERSION = 12
_RECEIVE_BYTES = 1 << 20


def frame(api: ApiKey, version: int, body: bytes, correlation_id: int = 1) -> bytes:
    head = encode_request_header(RequestHeader(api, version, correlation_id, "bench"))
    return (len(head) + len(body)).to_bytes(4) + head + body


def produce_frame(topic: str, value: bytes, records: int = 1, acks: int = 1) -> bytes:
    batch = build_batch([Record(0, 1_700_000_000_000, None, value)] * records)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[data])
    return frame(ApiKey.PRODUCE, PRODUCE_VERSION, encode(request, PRODUCE_VERSION))


def fetch_frame(topic: str, offset: int, max_bytes: int) -> bytes:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )
    return frame(ApiKey.FETCH, FETCH_VERSION, encode(request, FETCH_VERSION))


class RawConnection:
    """One socket; `answers(n)` reads n whole responses and returns their bytes."""

    def __init__(self, host: str, port: int):
        self.sock = socket.create_connection((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(_RECEIVE_BYTES)
        self._start = self._end = 0

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def answers(self, count: int) -> int:
        received = 0
        for _ in range(count):
            size = self._read_size()
            received += size
            self._skip(size)
        return received

    def _read_size(self) -> int:
        while self._end - self._start < 4:
            self._more()
        size = int.from_bytes(self._buffer[self._start : self._start + 4])
        self._start += 4
        return size

    def _skip(self, size: int) -> None:
        while size > self._end - self._start:
            size -= self._end - self._start
            self._start = self._end = 0
            self._more()
        self._start += size

    def _more(self) -> None:
        rest = self._end - self._start
        if self._start:
            self._buffer[:rest] = self._buffer[self._start : self._end]
            self._start, self._end = 0, rest
        received = self.sock.recv_into(memoryview(self._buffer)[self._end :])
        if not received:
            raise ConnectionError("the broker closed the connection")
        self._end += received

    def close(self) -> None:
        self.sock.close()


def pipelined(connection: RawConnection, request: bytes, in_flight: int, seconds: float) -> int:
    """Requests answered within about `seconds`, `in_flight` on the way at any time."""
    burst, done = request * (in_flight // 2), 0
    connection.send(burst)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        connection.send(burst)
        connection.answers(in_flight // 2)
        done += in_flight // 2
    connection.answers(in_flight // 2)
    return done + in_flight // 2


def one_at_a_time(connections: list[RawConnection], request: bytes, seconds: float) -> int:
    """Requests answered within about `seconds`, one in flight on each connection."""
    selector, done = selectors.DefaultSelector(), 0
    for connection in connections:
        selector.register(connection.sock, selectors.EVENT_READ, connection)
        connection.send(request)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(1):
            key.data.answers(1)
            key.data.send(request)
            done += 1
    for connection in connections:
        connection.answers(1)
    return done


def paced(connection: RawConnection, request: bytes, per_second: int, seconds: float) -> list[float]:
    """Latency in ms of each of `per_second` single requests a second."""
    latencies, start = [], time.perf_counter()
    for number in range(int(per_second * seconds)):
        due = start + number / per_second
        while time.perf_counter() < due:
            time.sleep(max(0.0, due - time.perf_counter()))
        sent = time.perf_counter()
        connection.send(request)
        connection.answers(1)
        latencies.append((time.perf_counter() - sent) * 1_000)
    return latencies

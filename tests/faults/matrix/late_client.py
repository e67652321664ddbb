"""A client that has not heard that a broker was replaced: it produces to and reads from exactly that broker."""

import time
from collections.abc import Iterator

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.batch import parse_batch_header
from broker.records.builder import build_batch
from broker.records.record import Record, decode_records
from tests.faults.history import (
    HistoryWriter,
    Outcome,
    Produced,
    Seen,
    digest_of,
    name_in,
    now,
    record_name,
    record_value,
)
from tests.faults.matrix.wire import WireClient
from tests.place import HERE

PRODUCE_VERSION = 9
FETCH_VERSION = 12
_REFUSALS = frozenset((ErrorCode.NOT_ENOUGH_REPLICAS,))
_ACKS = {"all": -1, "1": 1}
_TIMEOUT_MS = 8_000


class LateProducer:
    """Sends one record for each call of `send`, whatever the broker's state; `outcomes` takes the answers.

    `refusals` are the errors that say that a record was not written; it was sent once. Any other leaves that open.
    """

    def __init__(
        self,
        name: str,
        port: int,
        topic: str,
        acks: str,
        history: HistoryWriter,
        host: str = HERE.address,
        refusals: frozenset[ErrorCode] = _REFUSALS,
    ):
        self._name = name
        self._topic = topic
        self._acks = acks
        self._history = history
        self._outcomes = {ErrorCode.NONE: Outcome.OK} | dict.fromkeys(refusals, Outcome.FAILED)
        self._client = WireClient(port, host)
        self._sent: list[tuple[int, str, tuple[float, float]]] = []

    def send(self, partition: int) -> None:
        value = record_value(record_name(self._name, len(self._sent)), 100)
        batch = build_batch([Record(0, int(time.time() * 1000), None, value)])
        data = TopicProduceData(name=self._topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
        self._sent.append((partition, digest_of(None, value), now()))
        request = ProduceRequest(acks=_ACKS[self._acks], timeout_ms=_TIMEOUT_MS, topic_data=[data])
        self._client.send(request, PRODUCE_VERSION)

    def outcomes(self) -> list[ErrorCode]:
        """Of all that was sent."""
        codes = []
        with self._client:
            for number, (partition, digest, began) in enumerate(self._sent):
                answer = self._client.answer(ApiKey.PRODUCE, PRODUCE_VERSION).responses[0].partition_responses[0]
                code = ErrorCode(answer.error_code)
                codes.append(code)
                self._note(number, partition, digest, code, answer.base_offset, began)
        return codes

    def _note(self, number: int, partition: int, digest: str, code: ErrorCode, offset: int, began) -> None:
        self._history.note(
            Produced(
                producer=self._name,
                number=number,
                topic=self._topic,
                partition=partition,
                key=None,
                digest=digest,
                acks=self._acks,
                is_idempotent=False,
                may_repeat=False,
                outcome=self._outcomes.get(code, Outcome.UNKNOWN),
                offset=offset,
                error=code.name if code else "",
                began=began,
                ended=now(),
            )
        )


class LateReader:
    """Reads a partition from one broker, without a word of what epoch it believes in."""

    def __init__(self, name: str, port: int, history: HistoryWriter, host: str = HERE.address):
        self._name = name
        self._history = history
        self._client = WireClient(port, host)

    def ask(self, topic: str, partition: int, offset: int) -> None:
        fetch_partition = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1_000_000)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1_000_000,
            topics=[FetchTopic(topic=topic, partitions=[fetch_partition])],
        )
        self._client.send(request, FETCH_VERSION)

    def note_answer(self) -> int:
        """Records that were read; they count as read like anybody's."""
        count = 0
        with self._client:
            for topic in self._client.answer(ApiKey.FETCH, FETCH_VERSION).responses:
                for data in topic.partitions:
                    for record in _records_in(bytes(data.records or b"")):
                        count += 1
                        digest = digest_of(record.key, record.value)
                        self._history.note(
                            Seen(
                                self._name,
                                topic.topic,
                                data.partition_index,
                                record.offset,
                                None,
                                name_in(record.value),
                                digest,
                                now(),
                            )
                        )
        return count


def _records_in(data: bytes) -> Iterator[Record]:
    at = 0
    while at + 61 <= len(data):
        header = parse_batch_header(data, at)
        if at + header.size_bytes > len(data):
            return
        yield from decode_records(data[at : at + header.size_bytes])
        at += header.size_bytes

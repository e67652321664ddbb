"""The connection to one broker, on a thread of its own: a silent broker holds up no other.

A round writes one record to each partition that the broker leads, waits for all replicas, and reads back what is new.
One request each is under way at a time, and none is sent again: what is measured is what the first try gives.
"""

from threading import Event
from typing import TYPE_CHECKING

from broker.client.connection import BrokerConnection
from broker.client.errors import BrokerUnreachable
from broker.client.leaders import MOVED
from broker.common.errors import BarnabasError, ErrorCode, error_code_of
from broker.common.logs import logger
from broker.probe.fetching import FETCH_VERSION_MAX, fetch_request, marks_of
from broker.probe.record import ProbeMark, encode
from broker.probe.shared_state import ProbeSharedState
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.fetch import PartitionData
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.protocol.schema import Request

if TYPE_CHECKING:
    from broker.client.security.properties import ClientSecurity

#: A record that was acknowledged can be read at once; this is for a leader that has just changed.
FETCH_WAIT_MS = 200
#: A leader waits so long for its replicas, and its answer has so much longer to arrive.
_ANSWER_S = 0.5
_NOT_WRITTEN = MOVED | {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.TOPIC_AUTHORIZATION_FAILED}

_log = logger("broker.probe")


class ProbeLane:
    def __init__(self, broker: int, desk: ProbeSharedState, timeout_ms: int, security: "ClientSecurity | None"):
        self._broker, self._desk, self._timeout_ms, self._security = broker, desk, timeout_ms, security
        self._connection: BrokerConnection | None = None
        self.stop = Event()

    def run(self, interval_s: float) -> None:
        """Probe until `stop` is set."""
        while not self.stop.is_set():
            began = self._desk.at_ms()
            try:
                self.round()
            except BarnabasError as error:
                self._failed(error)
            except Exception as error:  # a broker that lies: without this thread it is measured no more
                _log.exception("a round of the probe failed", broker=self._broker)
                self._failed(error)
            self.stop.wait(max(interval_s - (self._desk.at_ms() - began) / 1000, 0.05))
        self._hang_up()

    def round(self) -> None:
        """Raises BarnabasError when the broker does not answer."""
        desk = self._desk
        with desk.lock:
            led, topic = desk.book.led_by(self._broker), desk.topic
        marks = {}
        try:
            self._connect()
            if desk.claims_look():
                desk.learn(self._ask(desk.metadata_request))
            if not led:
                self._ask(ApiVersionsRequest())
                return
            with desk.lock:
                at_ms = desk.at_ms()
                marks = {number: desk.book.sending(number, at_ms) for number in led if number in desk.book.partitions}
            written = self._write(topic, marks, at_ms)
        except BarnabasError as error:
            self._note_lost_round(led, marks, _why(error))
            raise
        self._read(topic, led, written)

    def _note_lost_round(self, led: list[int], marks: dict[int, ProbeMark], why: str) -> None:
        with self._desk.lock:
            at_ms = self._desk.at_ms()
            for number in led:
                index = marks[number].number if number in marks else None
                self._desk.book.not_written(self._broker, number, index, at_ms, why, is_refused=False)
                self._desk.book.not_fetched(self._broker, number, at_ms, why)

    def _write(self, topic: str, marks: dict[int, ProbeMark], sent_at_ms: float) -> set[int]:
        """Write the marks and return the partitions that acknowledged theirs."""
        now_ms = self._desk.now_ms()
        data = [PartitionProduceData(index=item, records=encode(mark, now_ms)) for item, mark in marks.items()]
        request = ProduceRequest(
            acks=-1, timeout_ms=self._timeout_ms, topic_data=[TopicProduceData(name=topic, partition_data=data)]
        )
        answer = self._ask(request)
        written = set()
        with self._desk.lock:
            at_ms, book = self._desk.at_ms(), self._desk.book
            for response in (
                partition_response for topic in answer.responses for partition_response in topic.partition_responses
            ):
                mark = marks[response.index]
                if not response.error_code:
                    book.written(self._broker, response.index, mark.number, response.base_offset, at_ms - sent_at_ms)
                    written.add(response.index)
                    continue
                code = error_code_of(response.error_code)
                is_refused = code in _NOT_WRITTEN
                book.not_written(self._broker, response.index, mark.number, at_ms, code.meaning, is_refused=is_refused)
                self._desk.look_again = self._desk.look_again or code in MOVED
        return written

    def _read(self, topic: str, led: list[int], written: set[int]) -> None:
        with self._desk.lock:
            followed = self._desk.book.partitions
            places = {number: followed[number].position for number in led if number in followed}
        wanted = {item: place for item, place in places.items() if place is not None}
        if not wanted:
            return
        try:
            answer = self._ask(fetch_request(topic, wanted, FETCH_WAIT_MS if written else 0))
        except BarnabasError as error:
            with self._desk.lock:
                for number in wanted:
                    self._desk.book.not_fetched(self._broker, number, self._desk.at_ms(), _why(error))
            raise
        for data in (data for answered in answer.responses for data in answered.partitions):
            self._note_read(data, wanted[data.partition_index], data.partition_index in written)

    def _note_read(self, data: PartitionData, position: int, is_written: bool) -> None:
        marks, position, why = marks_of(data, position)
        with self._desk.lock:
            at_ms, book, index = self._desk.at_ms(), self._desk.book, data.partition_index
            if why:
                is_out = data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
                book.not_fetched(self._broker, index, at_ms, why, is_out_of_range=is_out)
                self._desk.look_again = True
                return
            end = data.high_watermark
            book.fetched(self._broker, index, marks, position, data.log_start_offset, end, at_ms)
            if is_written:
                book.well(index)

    def _connect(self) -> None:
        if self._connection is not None:
            return
        with self._desk.lock:
            host, port = self._desk.book.addresses[self._broker]
            self._desk.book.watch.ask(self._broker)
        timeout_s = self._timeout_ms / 1000 + _ANSWER_S
        self._connection = BrokerConnection(
            host, port, timeout_s=timeout_s, client_id=self._desk.client_id, security=self._security
        )

    def _ask(self, request: Request[AnyResponse]) -> AnyResponse:
        assert self._connection is not None
        with self._desk.lock:
            self._desk.book.watch.ask(self._broker)
        answer = self._connection.ask(request, version_max=FETCH_VERSION_MAX)
        with self._desk.lock:
            was_blamed = self._desk.book.answered(self._broker)
        if was_blamed:
            _log.info("a broker answers again", broker=self._broker)
        return answer

    def _failed(self, error: Exception) -> None:
        self._hang_up()
        is_broken = isinstance(error, BrokerUnreachable) and not isinstance(error.__cause__, TimeoutError)
        with self._desk.lock:
            self._desk.book.unanswered(self._broker, _why(error), is_broken=is_broken)
            self._desk.look_again = True

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _why(error: Exception) -> str:
    return str(error)[:300]

"""The lines to the brokers that lead partitions of transactions: WriteTxnMarkers in batches, one request at a time.

What one broker is to write while it still answers goes into its next request. What this broker leads itself is written
without a socket, and nothing waits for another's answer there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from broker.common.backoff import Backoff
from broker.common.errors import ErrorCode, ProtocolError, error_code_of
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome
from broker.net.dialer import Dialer, PeerUnreachable
from broker.net.outbound import RelocatableConnection
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from broker.protocol.schema import Message
from broker.runtime.coordinators.request_sizes import how_many_fit, size_of
from broker.runtime.coordinators.shard import Shard

#: From 2 on a request says which transactions have raised the epoch; where any have, all brokers know that version.
_VERSION, _VERSION_OF_RAISED = 1, 2
_CONNECT_TIMEOUT_MS = 5_000
#: More than the 30 s a leader waits for a marker to be committed.
_REQUEST_TIMEOUT_MS = 40_000
#: Transactions of one request, unless fewer fill it (`request_sizes`).
_MARKERS_PER_REQUEST_MAX = 1_000
_BACK_OFF_FIRST_S = 0.05
_BACK_OFF_MAX_S = 1.0

_log = logger(__name__)


@dataclass(eq=False, slots=True)
class Ending:
    """A transaction whose outcome is durable, and the partitions that still need its marker."""

    shard: Shard[TransactionCoordinator, TransactionOutcome]
    markers: MarkersToWrite
    left: set[TopicPartition]
    #: Refusals that stand in the log already.
    noted: set[ErrorCode] = field(default_factory=set)
    #: The shard was given up: whoever leads it now sends the markers.
    is_dropped: bool = False


Waiting = dict[Ending, set[TopicPartition]]
Codes = dict[TopicPartition, ErrorCode]
OnCodes = Callable[[Ending, Codes], None]


class MarkerLine:
    """What waits for one broker. `on_codes` is called with what came of each transaction that was added."""

    def __init__(self, on_codes: OnCodes):
        self._on_codes = on_codes
        self._waiting: Waiting = {}
        self._is_due = False

    def add(self, ending: Ending, partitions: set[TopicPartition]) -> None:
        self._waiting.setdefault(ending, set()).update(partitions)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._send)

    def close(self) -> None:
        self._waiting.clear()

    def _send(self) -> None:
        raise NotImplementedError

    def _take(self) -> Waiting:
        self._is_due = False
        waiting = [item for item in self._waiting.items() if not item[0].is_dropped]
        count = how_many_fit(size_of(partitions) for _, partitions in waiting[:_MARKERS_PER_REQUEST_MAX])
        self._waiting = dict(waiting[count:])
        return dict(waiting[:count])

    def _answered(self, waiting: Waiting, codes: dict[int, Codes]) -> None:
        """Process a response. `codes` by producer id; a producer that is missing may not have its marker."""
        for ending, partitions in waiting.items():
            code = codes.get(ending.markers.producer_id, {})
            try:
                self._on_codes(
                    ending, {partition: code.get(partition, ErrorCode.NETWORK_EXCEPTION) for partition in partitions}
                )
            except Exception:
                _log.exception("markers not accounted for", transactional_id=ending.markers.transactional_id)


class OwnLine(MarkerLine):
    """To this broker's own partitions; `write` answers as the WriteTxnMarkers handler does."""

    def __init__(self, on_codes: OnCodes, write: Callable[[WriteTxnMarkersRequest], Message | Awaitable[Message]]):
        super().__init__(on_codes)
        self._write = write

    def _send(self) -> None:
        while waiting := self._take():
            asyncio.ensure_future(self._write_all(waiting)).add_done_callback(partial(self._written, waiting))

    async def _write_all(self, waiting: Waiting) -> dict[int, Codes]:
        reply = self._write(_request(waiting))
        response = reply if isinstance(reply, Message) else await reply
        assert isinstance(response, WriteTxnMarkersResponse)
        return _codes(response)

    def _written(self, waiting: Waiting, work: asyncio.Future[dict[int, Codes]]) -> None:
        if work.cancelled():
            return
        if (error := work.exception()) is not None:
            _log.error("markers cannot be written here", reason=repr(error))
        self._answered(waiting, {} if error else work.result())


class PeerLine(MarkerLine):
    """Sends markers to another broker, found again for each connection."""

    def __init__(
        self,
        on_codes: OnCodes,
        broker_id: int,
        address_of: Callable[[], tuple[str, int] | None],
        dialer: Dialer,
        name: str,
    ):
        super().__init__(on_codes)
        self._broker_id = broker_id
        self._connection = RelocatableConnection(dialer, broker_id, address_of, name)
        self._sending: asyncio.Task[None] | None = None

    def close(self) -> None:
        super().close()
        if self._sending is not None:
            self._sending.cancel()
        self._connection.close()

    def _send(self) -> None:
        if self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        """Send markers to all brokers. One that does not answer gives its transactions back, and is left alone for a
        while.
        """
        backoff = Backoff(_BACK_OFF_FIRST_S, _BACK_OFF_MAX_S)
        try:
            while waiting := self._take():
                try:
                    request = _request(waiting)
                    response = await self._connection.request(
                        request, _version_of(request), _CONNECT_TIMEOUT_MS, _REQUEST_TIMEOUT_MS
                    )
                    codes = _codes(response)
                except Exception as error:
                    self._note_failure(error)
                    self._answered(waiting, {})
                    await asyncio.sleep(backoff.fail())
                else:
                    self._answered(waiting, codes)
                    backoff.succeed()
        finally:
            self._sending = None

    def _note_failure(self, error: Exception) -> None:
        """Give the transactions back after an unforeseen error, so that they are not lost with this task."""
        is_foreseen = isinstance(error, PeerUnreachable | ProtocolError)
        (_log.info if is_foreseen else _log.error)(
            "broker takes no markers", broker=self._broker_id, reason=str(error) if is_foreseen else repr(error)
        )


def _request(waiting: Waiting) -> WriteTxnMarkersRequest:
    return WriteTxnMarkersRequest(markers=[_marker(ending, partitions) for ending, partitions in waiting.items()])


def _version_of(request: WriteTxnMarkersRequest) -> int:
    has_raised = any(marker.transaction_version for marker in request.markers)
    return _VERSION_OF_RAISED if has_raised else _VERSION


def _marker(ending: Ending, partitions: set[TopicPartition]) -> WritableTxnMarker:
    """Return the marker with the coordinator epoch in which the shard is led now: it may have risen since the outcome
    was decided.
    """
    topics: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        topics.setdefault(topic, []).append(index)
    return WritableTxnMarker(
        producer_id=ending.markers.producer_id,
        producer_epoch=ending.markers.producer_epoch,
        transaction_result=ending.markers.is_commit,
        coordinator_epoch=ending.shard.hosted.partition.leader_epoch,
        transaction_version=ending.markers.transaction_version,
        topics=[WritableTxnMarkerTopic(name=name, partition_indexes=indexes) for name, indexes in topics.items()],
    )


def _codes(response: WriteTxnMarkersResponse) -> dict[int, Codes]:
    return {
        marker.producer_id: {
            TopicPartition(topic.name, result.partition_index): error_code_of(result.error_code)
            for topic in marker.topics
            for result in topic.partitions
        }
        for marker in response.markers
    }

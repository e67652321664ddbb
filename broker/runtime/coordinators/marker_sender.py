"""Ends transactions in the partitions they wrote to: repeated until each has its marker, or the coordinator resigned.

Who leads a partition is looked up anew for each try. Which answers end a partition's part is Kafka's rule
(TransactionMarkerRequestCompletionHandler), but for two: a partition missing in the metadata counts as deleted only if
ZooKeeper says so too, since a new controller tells of partitions one after the other; and a coordinator that is told
it has been replaced goes on until it hears so from the controller, with the epoch it then has.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from broker.common.errors import ErrorCode
from broker.common.logs import logger
from broker.common.types import NO_BROKER, TopicPartition
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.coordinator.transaction.outcome import MarkersToWrite, TransactionOutcome
from broker.net.dialer import Dialer
from broker.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from broker.protocol.schema import Message
from broker.runtime.coordinators.marker_lines import Codes, Ending, MarkerLine, OwnLine, PeerLine
from broker.runtime.coordinators.shard import Shard
from broker.runtime.metadata_cache import MetadataCache
from broker.zookeeper.errors import ZooKeeperError

_log = logger(__name__)

_RETRY_S = 0.05
#: The partition's part is over: it has its marker, it can have none, or the producer went on there with a later epoch.
_FINAL = {ErrorCode.NONE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.INVALID_PRODUCER_EPOCH}
_EXPECTED = {
    ErrorCode.NONE,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
}


class MarkerSender:
    """Sends the markers of decided transactions to the leaders of their partitions."""

    def __init__(
        self,
        broker_id: int,
        metadata: MetadataCache,
        address_of: Callable[[int], tuple[str, int] | None],
        dialer: Dialer,
        partition_exists: Callable[[TopicPartition], Awaitable[bool]],
    ):
        """`partition_exists` asks ZooKeeper, and may raise ZooKeeperError."""
        self._broker_id = broker_id
        self._metadata = metadata
        self._address_of = address_of
        self._dialer = dialer
        self._partition_exists = partition_exists
        #: Called when all partitions of a transaction are told.
        self.on_written: Callable[[Ending], None] = lambda _ending: None
        #: Set by whoever puts the broker together, before the first marker: writes to this broker's own partitions.
        self.write_here: Callable[[WriteTxnMarkersRequest], Message | Awaitable[Message]] | None = None
        self._endings: dict[str, Ending] = {}
        self._lines: dict[int, MarkerLine] = {}
        self._again: dict[Ending, set[TopicPartition]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._asking: set[asyncio.Task[None]] = set()
        #: Who wants to know when the transaction of an id has ended, and has not given up.
        self._waiting: dict[str, dict[asyncio.Future[None], None]] = {}

    def __len__(self) -> int:
        """Transactions whose markers are on their way."""
        return len(self._endings)

    def close(self) -> None:
        for line in self._lines.values():
            line.close()
        for task in self._asking:
            task.cancel()
        if self._timer is not None:
            self._timer.cancel()

    def send(self, shard: Shard[TransactionCoordinator, TransactionOutcome], markers: MarkersToWrite) -> None:
        """Write `markers`; those of an earlier transaction of the id are no longer needed."""
        self._drop(markers.transactional_id)
        ending = Ending(shard, markers, set(markers.partitions))
        self._endings[markers.transactional_id] = ending
        self._route(ending, set(ending.left))

    def forget(self, partition: int) -> None:
        """Forget markers of a partition of `__transaction_state` whose coordinator resigned."""
        for transactional_id, ending in list(self._endings.items()):
            if ending.shard.partition == partition:
                self._drop(transactional_id)

    def ended(self, transactional_id: str) -> asyncio.Future[None] | None:
        """Return a future for the end of the transaction's markers; None if none are being written."""
        if transactional_id not in self._endings:
            return None
        future = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(transactional_id, {})
        waiting[future] = None
        future.add_done_callback(lambda _: waiting.pop(future, None))
        return future

    # -- on the way

    def _drop(self, transactional_id: str) -> None:
        ending = self._endings.pop(transactional_id, None)
        if ending is not None:
            ending.is_dropped = True
            self._again.pop(ending, None)
        for waiting in self._waiting.pop(transactional_id, ()):
            if not waiting.done():
                waiting.set_result(None)

    def _route(self, ending: Ending, partitions: set[TopicPartition]) -> None:
        by_leader: dict[int, set[TopicPartition]] = {}
        for partition in partitions:
            state = self._metadata.partition_of(*partition)
            if state is None:
                self._start(self._look_for(ending, partition))
            elif state.leader == NO_BROKER:
                self._later(ending, {partition})
            else:
                by_leader.setdefault(state.leader, set()).add(partition)
        for leader, its in by_leader.items():
            self._line(leader).add(ending, its)
        if not ending.left:
            self._finish(ending)

    def _line(self, broker_id: int) -> MarkerLine:
        if broker_id not in self._lines:
            self._lines[broker_id] = self._new_line(broker_id)
        return self._lines[broker_id]

    def _new_line(self, broker_id: int) -> MarkerLine:
        if broker_id == self._broker_id:
            assert self.write_here is not None
            return OwnLine(self._on_codes, self.write_here)
        name = f"broker-{self._broker_id}-markers"
        return PeerLine(self._on_codes, broker_id, lambda: self._address_of(broker_id), self._dialer, name)

    def _on_codes(self, ending: Ending, codes: Codes) -> None:
        if ending.is_dropped:
            return
        self._note(ending, codes)
        ending.left -= {partition for partition, code in codes.items() if code in _FINAL}
        if ending.left:
            self._later(ending, {partition for partition, code in codes.items() if code not in _FINAL})
        else:
            self._finish(ending)

    def _note(self, ending: Ending, codes: Codes) -> None:
        """Log marker errors that no leader election explains, once for each transaction."""
        for partition, code in codes.items():
            if code not in _EXPECTED and code not in ending.noted:
                ending.noted.add(code)
                _log.warning("marker refused", partition=str(partition), reason=code.name, **_names(ending))

    def _finish(self, ending: Ending) -> None:
        self._drop(ending.markers.transactional_id)
        self.on_written(ending)

    # -- once more

    def _later(self, ending: Ending, partitions: set[TopicPartition]) -> None:
        if partitions:
            self._again.setdefault(ending, set()).update(partitions)
        if self._again and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_RETRY_S, self._retry)

    def _retry(self) -> None:
        self._timer = None
        again, self._again = self._again, {}
        for ending, partitions in again.items():
            if ending.is_dropped:
                continue
            try:
                self._route(ending, partitions)
            except Exception:  # the others are routed all the same
                _log.exception("markers not routed", **_names(ending))
                self._later(ending, partitions)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _look_for(self, ending: Ending, partition: TopicPartition) -> None:
        """Look whether the partition still exists: one that was deleted needs no marker."""
        try:
            exists = await self._partition_exists(partition)
        except ZooKeeperError:
            exists = True
        except Exception:
            _log.exception("whether a partition exists is not known", partition=str(partition))
            exists = True
        if not ending.is_dropped:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if exists else ErrorCode.NONE
            self._on_codes(ending, {partition: code})


def _names(ending: Ending) -> dict[str, object]:
    return {"transactional_id": ending.markers.transactional_id, "producer_id": ending.markers.producer_id}

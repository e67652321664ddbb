"""What comes out of a coordinator: what to append, what to answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.coordinator.recorded_owners import Headers
from broker.protocol.schema import Message
from broker.records.builder import RepeatedHeaders

#: Bytes of records after which one tick leaves the rest to the next: with one more record they still fit into a batch.
#: A batch too large would be refused again and again, and nothing that is due would ever be done.
RECORD_BYTES_PER_TICK = 256 * 1024
#: What a record takes in a batch at most besides its key and its value.
_RECORD_OVERHEAD_BYTES = 32

#: Why an append failed → what members and producers are answered: to look for the coordinator again, or to try again
#: there. Codes that are not listed are passed on.
APPEND_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


class CoordinatorRecord(NamedTuple):
    """A record for the coordinator's partition of its internal topic; a null value is a tombstone."""

    key: bytes
    value: bytes | None
    headers: Headers = ()  #: the clients that it is counted for

    @property
    def size_bytes(self) -> int:
        """Bytes of its key, its value and its headers."""
        byte_count = len(self.key) + len(self.value or b"")
        if type(self.headers) is RepeatedHeaders:
            return byte_count + len(self.headers.encoded)
        for name, value in self.headers:
            byte_count += len(name) + len(value or b"")
        return byte_count


class CoordinatorResponse(NamedTuple):
    """The response to the request that came with `token`."""

    token: int
    response: Message
    #: It shows nothing that could still be lost, so nothing has to be committed before it is sent.
    is_at_once: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Something an operator may want to find in the log: an event in constant words, and its facts."""

    event: str
    facts: dict[str, object]
    is_warning: bool = False  #: an operator has to do something


class TransactionProducer(NamedTuple):
    """Whose transaction records belong to."""

    producer_id: int
    producer_epoch: int


Remains = dict[Any, Any] | list[Any]


@dataclass(slots=True)
class CoordinatorOutcome:
    """Append and replay `records` first, all or none but for `is_divisible`; send `responses` when they are committed.

    An outcome without records may still show what earlier records did, so its responses do not overtake them, but for
    those that are `is_at_once`.
    """

    records: list[CoordinatorRecord] = field(default_factory=list)
    #: Append as a transactional batch of this producer, without sequence numbers; None: as a plain one.
    producer: TransactionProducer | None = None
    responses: list[CoordinatorResponse] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    #: Whether the records may be appended in several batches. Who is stopped between two of them can do it all again.
    is_divisible: bool = False
    #: What was forgotten and is to be emptied a piece at a time: where it is much, freeing it takes long.
    remains: list[Remains] = field(default_factory=list, compare=False)

    def batches(self, bytes_max: int) -> Iterator[list[CoordinatorRecord]]:
        """Yield the records as they are to be appended: all at once, or, of divisible ones, what fits into
        `bytes_max`.
        """
        if not self.is_divisible:
            yield self.records
            return
        batch: list[CoordinatorRecord] = []
        size = 0
        for record in self.records:
            record_bytes = record.size_bytes + _RECORD_OVERHEAD_BYTES
            if batch and size + record_bytes > bytes_max:
                yield batch
                batch, size = [], 0
            batch.append(record)
            size += record_bytes
        yield batch

    @property
    def is_followed_up(self) -> bool:
        """Whether there is more to do than to answer, once the records are committed."""
        return False


@dataclass(slots=True)
class CoordinatorTurn:
    """One call into the coordinator: when it happens and what it has led to so far."""

    now_ms: int  #: for deadlines
    wall_ms: int  #: for what is written down
    outcome: CoordinatorOutcome = field(default_factory=CoordinatorOutcome)
    record_bytes: int = 0  #: of keys and values
    things_left: int = THINGS_IN_A_TURN  #: that a tick may deal with

    @property
    def is_full(self) -> bool:
        """Whether a tick leaves what else is due to the next one."""
        return self.record_bytes >= RECORD_BYTES_PER_TICK or self.things_left <= 0

    def append(self, key: bytes, value: bytes | None, headers: Headers = ()) -> None:
        record = CoordinatorRecord(key, value, headers)
        self.outcome.records.append(record)
        self.record_bytes += record.size_bytes

    def answer(self, token: int, response: Message) -> None:
        """Send the response when everything written so far is committed, this call's records included."""
        self.outcome.responses.append(CoordinatorResponse(token, response))

    def answer_at_once(self, token: int, response: Message) -> None:
        """Send a response at once that shows nothing uncommitted."""
        self.outcome.responses.append(CoordinatorResponse(token, response, is_at_once=True))

    def note(self, event: str, **facts: object) -> None:
        self.outcome.notes.append(Note(event, facts))

    def warn(self, event: str, **facts: object) -> None:
        self.outcome.notes.append(Note(event, facts, is_warning=True))

"""What happened during a run, line by line in a file: the only thing the load and the checker have in common.

A line is a JSON object with `kind`: `topic` (what may be removed from it), `produce` (an operation and its outcome),
`read` (a record somebody saw), `extent` (where a partition began and ended for a reader that read all of it), `fault`;
of groups `assigned`, `commit` (an operation, too) and `committed` (what an outsider was told); of ZooKeeper `state`,
`controller` and `brokers`; of the replicas' files `stored`.
Times are (wall, monotonic) in seconds: one to compare with logs, one to order.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path

Moment = tuple[float, float]


class Outcome(StrEnum):
    """What the client knows: `FAILED` only if the record certainly was not written."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Policy(StrEnum):
    """Why a record may be gone again."""

    KEEP = "keep"
    RETAIN = "retain"
    COMPACT = "compact"
    #: A replica that was not in sync may have led: acknowledged records may be gone, and others in their place.
    UNCLEAN = "unclean"


@dataclass(frozen=True, slots=True)
class TopicDeclared:
    topic: str
    policy: Policy


@dataclass(frozen=True, slots=True)
class Produced:
    """One record a producer was asked to write. `offset` and `partition` are those of the acknowledgement."""

    producer: str
    number: int
    topic: str
    partition: int
    key: str | None
    digest: str
    acks: str
    is_idempotent: bool
    may_repeat: bool
    outcome: Outcome
    offset: int
    error: str
    began: Moment
    ended: Moment

    @property
    def record(self) -> str:
        return record_name(self.producer, self.number)


@dataclass(frozen=True, slots=True)
class Seen:
    """A record that `reader` got. A reader whose name begins with `final` read everything after the last fault."""

    reader: str
    topic: str
    partition: int
    offset: int
    key: str | None
    record: str
    digest: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Extent:
    reader: str
    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    what: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Assigned:
    """A group gave a member partitions, as [topic, partition]; it begins where the group's commits end."""

    group: str
    member: str
    partitions: list[list]
    at: Moment


@dataclass(frozen=True, slots=True)
class CommitTried:
    group: str
    member: str
    topic: str
    partition: int
    offset: int
    outcome: Outcome
    began: Moment
    ended: Moment


@dataclass(frozen=True, slots=True)
class CommitSeen:
    """What somebody outside the group was told; -1 for no commit."""

    group: str
    topic: str
    partition: int
    offset: int
    began: Moment
    ended: Moment


@dataclass(frozen=True, slots=True)
class StateSeen:
    """A partition's state in ZooKeeper; `zxid` is that of the transaction that wrote it."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    isr: list[int]
    controller_epoch: int
    zk_version: int
    zxid: int
    at: Moment


@dataclass(frozen=True, slots=True)
class ControllerSeen:
    """`broker` is -1 while nobody is controller; the epoch is the last one given out."""

    broker: int
    epoch: int
    at: Moment


@dataclass(frozen=True, slots=True)
class BrokersSeen:
    """Who is registered; `zxid` is that of the transaction in which the last one came or went."""

    ids: list[int]
    zxid: int
    at: Moment


@dataclass(frozen=True, slots=True)
class Stored:
    """A batch as it lies in a replica's file; the digest is of its bytes."""

    broker: int
    topic: str
    partition: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    digest: str


_KINDS = {
    "topic": TopicDeclared,
    "produce": Produced,
    "read": Seen,
    "extent": Extent,
    "fault": Fault,
    "assigned": Assigned,
    "commit": CommitTried,
    "committed": CommitSeen,
    "state": StateSeen,
    "controller": ControllerSeen,
    "brokers": BrokersSeen,
    "stored": Stored,
}
Event = (
    TopicDeclared
    | Produced
    | Seen
    | Extent
    | Fault
    | Assigned
    | CommitTried
    | CommitSeen
    | StateSeen
    | ControllerSeen
    | BrokersSeen
    | Stored
)
_NAMES = {event: name for name, event in _KINDS.items()}
_JSON = json.JSONEncoder(separators=(",", ":"))


def now() -> Moment:
    return time.time(), time.monotonic()


def record_name(producer: str, number: int) -> str:
    return f"{producer}/{number}"


def record_value(name: str, size_bytes: int) -> bytes:
    """A value that names its record; what fills it up follows from the name, so that no two are alike."""
    head = name.encode() + b"|"
    filler = blake2b(name.encode()).hexdigest().encode()
    return (head + filler * (size_bytes // len(filler) + 1))[: max(size_bytes, len(head))]


def name_in(value: bytes | None) -> str:
    return (value or b"").split(b"|", 1)[0].decode(errors="replace")


def digest_of(key: bytes | None, value: bytes | None) -> str:
    return blake2b(repr((key, value)).encode(), digest_size=8).hexdigest()


class HistoryWriter:
    """Appends events; any thread may. A line is written whole before the next one.

    Every record is noted about six times in a row of the matrix, by threads that produce and read. `dataclasses.asdict`
    copies an event deeply, which took four times what its JSON takes.
    """

    def __init__(self, path: Path):
        self._lock = threading.Lock()
        self._file = path.open("a")

    def note(self, event: Event) -> None:
        fields = {"kind": _NAMES[type(event)], **{name: getattr(event, name) for name in event.__slots__}}
        line = _JSON.encode(fields)
        with self._lock:
            self._file.write(line + "\n")

    def close(self) -> None:
        self._file.close()


def read_history(path: Path) -> Iterator[Event]:
    with path.open() as lines:
        for line in lines:
            fields = json.loads(line)
            yield _KINDS[fields.pop("kind")](**fields)

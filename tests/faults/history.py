"""What happened during a run, line by line in a file: the only thing the load and the checker have in common.

A line is a JSON object with `kind`: `topic` (what may be removed from it), `produce` (an operation and its outcome),
`read` (a record somebody saw), `extent` (where a partition began and ended for a reader that read all of it), `fault`.
Times are (wall, monotonic) in seconds: one to compare with logs, one to order.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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


Event = TopicDeclared | Produced | Seen | Extent | Fault
_KINDS = {"topic": TopicDeclared, "produce": Produced, "read": Seen, "extent": Extent, "fault": Fault}
_NAMES = {event: name for name, event in _KINDS.items()}


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
    """Appends events; any thread may. A line is written whole before the next one."""

    def __init__(self, path: Path):
        self._lock = threading.Lock()
        self._file = path.open("a")

    def note(self, event: Event) -> None:
        line = json.dumps({"kind": _NAMES[type(event)], **asdict(event)}, separators=(",", ":"))
        with self._lock:
            self._file.write(line + "\n")

    def close(self) -> None:
        self._file.close()


def read_history(path: Path) -> Iterator[Event]:
    with path.open() as lines:
        for line in lines:
            fields = json.loads(line)
            yield _KINDS[fields.pop("kind")](**fields)

"""What workers tell each other through the group's coordinator, byte for byte as Kafka's workers write it. Pure.

Versions: 0 is eager, 1 incremental cooperative (KIP-415), 2 the same with signed requests between workers (KIP-507).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from struct import Struct, error
from typing import NamedTuple

from broker.common.errors import ProtocolError

PROTOCOL_TYPE = "connect"
#: Name → version, preferred first.
PROTOCOLS = {"sessioned": 2, "compatible": 1, "default": 0}
NO_ERROR, CONFIG_MISMATCH = 0, 1
#: The connector itself among its tasks.
CONNECTOR = -1

_INT16, _INT32, _INT64 = Struct(">h"), Struct(">i"), Struct(">q")


class Unit(NamedTuple):
    """What one worker runs: a connector (task -1) or one of its tasks."""

    connector: str
    task: int

    @property
    def is_connector(self) -> bool:
        return self.task == CONNECTOR


@dataclass(frozen=True, slots=True)
class WorkerAssignment:
    """A leader's answer has in `units` what is new to a member, a member's metadata all that it runs.

    `delay_ms`: after which members join again, for work that waits for the worker which had it.
    """

    leader: str = ""
    leader_url: str = ""
    config_offset: int = 0
    units: frozenset[Unit] = frozenset()
    revoked: frozenset[Unit] = frozenset()
    delay_ms: int = 0
    error: int = NO_ERROR

    def on_top_of(self, running: "WorkerAssignment | None") -> "WorkerAssignment":
        """Return everything a member runs that ran `running` and received this assignment."""
        kept = running.units - self.revoked if running else frozenset()
        return replace(self, units=kept | self.units)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a member that joins: its URL, how far it has read the configurations, and what it runs."""

    url: str
    config_offset: int
    running: WorkerAssignment | None = None


def encode_metadata(metadata: Metadata, version: int) -> bytes:
    head = _INT16.pack(version) + _string(metadata.url) + _INT64.pack(metadata.config_offset)
    if version == 0:
        return head
    if metadata.running is None:
        return head + _INT32.pack(-1)
    running = encode_assignment(metadata.running, version)
    return head + _INT32.pack(len(running)) + running


def decode_metadata(data: bytes) -> Metadata:
    """Raises ProtocolError."""
    reader = _WireReader(data)
    version = reader.number(_INT16)
    url, offset = reader.string(), reader.number(_INT64)
    running = reader.blob() if version > 0 else None
    return Metadata(url, offset, decode_assignment(running) if running else None)


def encode_assignment(assignment: WorkerAssignment, version: int) -> bytes:
    parts = [
        _INT16.pack(version),
        _INT16.pack(assignment.error),
        _string(assignment.leader),
        _string(assignment.leader_url),
        _INT64.pack(assignment.config_offset),
        _units(assignment.units),
    ]
    if version > 0:
        parts += _units(assignment.revoked), _INT32.pack(assignment.delay_ms)
    return b"".join(parts)


def decode_assignment(data: bytes) -> WorkerAssignment:
    """Decode the assignment; fields of later versions are ignored. Raises ProtocolError."""
    reader = _WireReader(data)
    version, problem = reader.number(_INT16), reader.number(_INT16)
    leader, url, offset = reader.string(), reader.string(), reader.number(_INT64)
    units = reader.units()
    if version == 0:
        return WorkerAssignment(leader, url, offset, units, error=problem)
    return WorkerAssignment(leader, url, offset, units, reader.units(), reader.number(_INT32), problem)


def _string(text: str) -> bytes:
    data = text.encode()
    return _INT16.pack(len(data)) + data


def _units(units: Iterable[Unit]) -> bytes:
    tasks: dict[str, list[int]] = defaultdict(list)
    for unit in sorted(units):
        tasks[unit.connector].append(unit.task)
    parts = [_INT32.pack(len(tasks))]
    for connector, numbers in tasks.items():
        parts += _string(connector), _INT32.pack(len(numbers)), *map(_INT32.pack, numbers)
    return b"".join(parts)


class _WireReader:
    def __init__(self, data: bytes):
        self._data = bytes(data)
        self._at = 0

    def number(self, kind: Struct) -> int:
        try:
            (value,) = kind.unpack_from(self._data, self._at)
        except error:
            raise ProtocolError("a worker's bytes end too early") from None
        self._at += kind.size
        return int(value)

    def string(self) -> str:
        try:
            return self._take(self.number(_INT16)).decode()
        except UnicodeDecodeError:
            raise ProtocolError("a worker's text is no UTF-8") from None

    def blob(self) -> bytes | None:
        length = self.number(_INT32)
        return None if length < 0 else self._take(length)

    def units(self) -> frozenset[Unit]:
        """Return the units; an absent array is an empty one."""
        units = set()
        for _ in range(max(self.number(_INT32), 0)):
            connector = self.string()
            units |= {Unit(connector, self.number(_INT32)) for _ in range(max(self.number(_INT32), 0))}
        return frozenset(units)

    def _take(self, length: int) -> bytes:
        end = self._at + length
        if length < 0 or end > len(self._data):
            raise ProtocolError("a worker's bytes end too early")
        taken, self._at = self._data[self._at : end], end
        return taken

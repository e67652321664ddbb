"""What a tier reports: how far one source has come with one partition, and what it counted since its last report.

An increment is a record of the audit topic. Its key is (tier, source, topic, partition), a *chain*, so that the
increments of a chain lie in one partition in the order they were made; its id is the chain with `epoch` and `sequence`:
an epoch is one life of a source, sequences count up from 0 in each epoch of a chain.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields
from enum import StrEnum
from typing import Any, NamedTuple

from broker.audit.latency import Latency
from broker.audit.tally import MOMENT_MAX, WINDOW_MS, RecordTally, Windows
from broker.common.types import TopicPartition

AUDIT_TOPIC = "_barnabas_audit"
NO_RANGE = -1
NO_TERM = -1
#: The source under which brokers tell what they append.
BROKER = "broker"
#: The group without members whose offsets say how far brokers have told of each partition.
POSITIONS_GROUP = "barnabas-audit-broker"
_FORMAT = 1


class AuditTier(StrEnum):
    """Where records are counted, in the order they pass."""

    PRODUCED = "produced"  #: acknowledged to a producer that takes part
    APPENDED = "appended"  #: committed in the log of the partition
    CONSUMED = "consumed"  #: returned to a consumer that takes part, which has gone on
    MIRRORED = "mirrored"  #: acknowledged by the other cluster to a mirror that takes part
    SUNK = "sunk"  #: put into a sink that takes part, and safe there
    COMMITTED = "committed"  #: gone over by a group, as its committed offsets say: ranges without windows


#: What becomes of a record that is in the range of an increment and not at its tier, on purpose.
DEAD, LEFT_OUT, FILTERED, RETURNING = ASIDES = "dead-lettered", "left out", "filtered", "returning"


class BadIncrement(ValueError):
    """A record of the audit topic that is none of ours; the message says why."""


class Chain(NamedTuple):
    """`source` is the producer's name, the group, the counter's, the mirror's flow or the connector."""

    tier: AuditTier
    source: str
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Increment:
    """`start` to `end` (exclusive) are the offsets this covers, NO_RANGE at the tier `produced`, which covers none.

    An increment at `start` replaces whatever its chain said before of offsets from `start` on: who was killed before it
    could commit its position counts again from there. `aside`: of the same offsets, what did not come to this tier on
    purpose, by DEAD and so on. What is added to the format is left out where it is empty, and what is not known is
    passed over, so that old and new counters read one another.
    """

    chain: Chain
    epoch: str
    sequence: int
    at_ms: int  #: when it was made, by the clock of who made it
    windows: Mapping[int, RecordTally] = field(default_factory=dict)
    start: int = NO_RANGE
    end: int = NO_RANGE
    is_last: bool = False  #: of the epoch: nothing that was counted is left untold
    window_ms: int = WINDOW_MS
    aside: Mapping[str, Mapping[int, RecordTally]] = field(default_factory=dict)
    latencies: Mapping[int, Latency] = field(default_factory=dict)
    #: Of a broker's count: the leader epoch. What a leader says after a later one has spoken is not heard.
    term: int = NO_TERM
    #: Counted by offsets and headers of batches: there are neither bytes nor checksums, and a record of a batch with
    #: others may be counted in the window of one of those.
    is_by_header: bool = False

    def whole(self) -> Iterator[tuple[int, RecordTally]]:
        """Yield windows of all that its offsets hold, at this tier and set aside; one may come several times."""
        yield from self.windows.items()
        for windows in self.aside.values():
            yield from windows.items()

    @property
    def newest(self) -> int:
        """Return the start of the last window."""
        return max((window for window, _ in self.whole()), default=0)

    def key(self) -> bytes:
        return json.dumps(self.chain).encode()

    def to_bytes(self) -> bytes:
        body: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        for name, empty in _LEFT_OUT.items():
            if body[name] == empty:
                del body[name]
        if self.aside:
            body["aside"] = {kind: _listed(windows) for kind, windows in self.aside.items()}
        if self.latencies:
            body["latencies"] = [[start, item.as_list()] for start, item in sorted(self.latencies.items())]
        return json.dumps({"format": _FORMAT, "chain": self.chain, **body, "windows": _listed(self.windows)}).encode()

    @classmethod
    def from_bytes(cls, data: bytes | None) -> "Increment":
        """Raises BadIncrement."""
        try:
            body = json.loads(data or b"")
            if body["format"] != _FORMAT:
                raise BadIncrement("another format")
            tier, source, topic, partition = body["chain"]
            increment = cls(
                chain=Chain(AuditTier(tier), _text(source), _text(topic), int(partition)),
                windows=_windows(body["windows"]),
                aside={_text(kind): _windows(item) for kind, item in body.get("aside", {}).items()},
                latencies={_moment(start): Latency.of_list(latency) for start, latency in body.get("latencies", ())},
                **{name: _CHECKED[type(body[name])](body[name]) for name in _PLAIN if name in body},
            )
            if increment.start > increment.end or increment.at_ms > MOMENT_MAX or increment.window_ms <= 0:
                raise BadIncrement("a range that ends before it begins, or no moment")
            return increment
        except BadIncrement:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadIncrement(f"no increment: {error}") from error


_PLAIN = tuple(item.name for item in fields(Increment) if item.name not in ("chain", "windows", "aside", "latencies"))

_LEFT_OUT = {"term": NO_TERM, "is_by_header": False}


def _listed(windows: Mapping[int, RecordTally]) -> list[list[int]]:
    return [[start, *astuple(tally)] for start, tally in sorted(windows.items())]


def _windows(windows: Any) -> Windows:
    return {_moment(start): RecordTally(*map(_number, rest)) for start, *rest in windows}


def _moment(value: Any) -> int:
    if _number(value) > MOMENT_MAX:
        raise BadIncrement(f"{value!r} is no moment")
    return int(value)


def _number(value: Any) -> int:
    if type(value) is not int or not -1 <= value < 1 << 64:
        raise BadIncrement(f"{value!r} is no number of ours")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadIncrement(f"{value!r} is no text")
    return value


_CHECKED: dict[type, Any] = {int: _number, str: _text, bool: bool}

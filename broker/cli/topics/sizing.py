"""How many partitions a topic needs, and what they cost: the rule of the books as arithmetic. Pure.

The throughput the topic shall take, divided by what one consumer, and one producer, can do in one partition, is the
least number of partitions; without those figures a partition should not grow by more than 6 GB a day. What is kept is
throughput times retention times replicas. More partitions than needed cost memory, files, and time when leaders move.
All sizes are bytes, rates bytes per second.
"""

from dataclasses import dataclass
from math import ceil

from broker.common.limits import PARTITIONS_PER_TOPIC_MAX

DAY_S = 86_400
PARTITION_BYTES_PER_DAY_MAX = 6_000_000_000
#: Kafka's own advice for one broker.
LEADERS_PER_BROKER_MAX = 4_000
#: Log, offset index, time index.
_FILES_PER_SEGMENT = 3
#: Of 1,000 leaders whose broker was killed, the last served again half a second after the first (tests/bench).
_FAIL_OVER_S_PER_LEADER = 0.0005
_UNLIMITED = -1
#: Whatever is larger was typed by mistake: an exabyte; 300 million years.
_BYTES_MAX = 10**18
_SPAN_MS_MAX = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TopicDemand:
    """The demand on a topic; None for a value that was not measured."""

    throughput: float
    consumer_throughput: float | None = None
    producer_throughput: float | None = None
    #: Times today's throughput: keys stay in their partitions only if the number never changes.
    growth: float = 1.0
    consumers: int = 1
    replication_factor: int = 3
    retention_ms: int = 7 * DAY_S * 1000
    #: Of each partition.
    retention_bytes: int = _UNLIMITED
    segment_bytes: int = 1 << 30
    head_room: float = 0.4
    #: That there are already: partitions cannot be taken away.
    partitions: int = 0

    @property
    def planned_throughput(self) -> float:
        return self.throughput * self.growth


@dataclass(frozen=True, slots=True)
class ClusterCapacity:
    """Room for replicas: live brokers, directories of each, and what the fullest of them holds."""

    brokers: int
    directories_per_broker: int = 1
    leaders_per_broker: int = 0
    #: Free on the smallest of the directories; None if no broker says.
    usable_bytes: int | None = None
    session_timeout_s: float = 18.0


@dataclass(frozen=True, slots=True)
class SizingReason:
    """An input, the partitions that it asks for, and why."""

    name: str
    partitions: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Size:
    partitions: int
    reasons: tuple[SizingReason, ...]
    #: The one that asks for most; of several the first.
    decisive: SizingReason
    partition_bytes: float
    broker_bytes: float
    directory_bytes: float
    leaders_per_broker: int
    replicas_per_broker: int
    files_per_broker: int
    fail_over_s: float
    warnings: tuple[str, ...]


def size(demand: TopicDemand, place: ClusterCapacity) -> Size:
    """Compute the topic's size. Raises ValueError for contradictory input."""
    _check(demand, place)
    reasons = _reasons(demand)
    decisive = max(reasons, key=lambda reason: reason.partitions)
    partitions = decisive.partitions
    partition_bytes = _partition_bytes(demand, partitions)
    replicas = partitions * demand.replication_factor
    replicas_per_broker = ceil(replicas / place.brokers)
    leaders = ceil(partitions / place.brokers)
    broker_bytes = replicas * partition_bytes * (1 + demand.head_room) / place.brokers
    # A partition lies in one directory: the fullest holds whole ones.
    in_directory = ceil(replicas_per_broker / place.directories_per_broker)
    directory_bytes = in_directory * partition_bytes * (1 + demand.head_room)
    segments = ceil(partition_bytes / demand.segment_bytes) or 1
    all_leaders = leaders + place.leaders_per_broker
    return Size(
        partitions=partitions,
        reasons=reasons,
        decisive=decisive,
        partition_bytes=partition_bytes,
        broker_bytes=broker_bytes,
        directory_bytes=directory_bytes,
        leaders_per_broker=leaders,
        replicas_per_broker=replicas_per_broker,
        files_per_broker=replicas_per_broker * segments * _FILES_PER_SEGMENT,
        fail_over_s=place.session_timeout_s + all_leaders * _FAIL_OVER_S_PER_LEADER,
        warnings=_warnings(demand, place, partitions, directory_bytes, all_leaders),
    )


def _check(demand: TopicDemand, place: ClusterCapacity) -> None:
    if demand.throughput <= 0:
        raise ValueError("the throughput must be more than nothing")
    if place.brokers < 1 or place.directories_per_broker < 1:
        raise ValueError("there must be a broker with a directory")
    if demand.replication_factor > place.brokers:
        raise ValueError(f"{demand.replication_factor} replicas need as many brokers; there are {place.brokers}")


def _reasons(demand: TopicDemand) -> tuple[SizingReason, ...]:
    rate = demand.planned_throughput
    reasons = []
    for name, value in (("consumer", demand.consumer_throughput), ("producer", demand.producer_throughput)):
        if value is not None:
            sentence = f"{text_of_bytes(rate)}/s by {text_of_bytes(value)}/s of one {name} in one partition"
            reasons.append(SizingReason(f"{name} throughput", _ceil(rate / value), sentence))
    if not reasons:
        sentence = f"not more than {text_of_bytes(PARTITION_BYTES_PER_DAY_MAX)} a day in one partition"
        reasons.append(SizingReason("size", _ceil(rate * DAY_S / PARTITION_BYTES_PER_DAY_MAX), sentence))
    reasons.append(SizingReason("consumers", demand.consumers, "each consumer of a group reads a partition of its own"))
    if demand.partitions:
        reasons.append(SizingReason("partitions", demand.partitions, "that the topic has already"))
    return tuple(reasons)


def _ceil(quotient: float) -> int:
    """Return the quotient rounded up; one that is whole but for rounding errors counts as whole."""
    return max(1, ceil(round(quotient, 9)))


def _partition_bytes(demand: TopicDemand, partitions: int) -> float:
    """Return the bytes that one partition keeps at most: the active segment is never deleted; without a time limit a
    year counts.
    """
    retention_s = demand.retention_ms / 1000 if demand.retention_ms >= 0 else 365 * DAY_S
    kept = demand.planned_throughput / partitions * retention_s
    if demand.retention_bytes >= 0:
        kept = min(kept, demand.retention_bytes)
    return kept + demand.segment_bytes


def _warnings(
    demand: TopicDemand, place: ClusterCapacity, partitions: int, directory_bytes: float, all_leaders: int
) -> tuple[str, ...]:
    warnings = []
    if demand.consumer_throughput is None:
        warnings.append("The throughput of one consumer in one partition is not given; it mostly decides the number.")
    if demand.retention_ms < 0 and demand.retention_bytes < 0:
        warnings.append("Nothing is ever deleted: sizes are those after a year.")
    if place.usable_bytes is not None and directory_bytes > place.usable_bytes:
        warnings.append(
            f"The fullest directory needs {text_of_bytes(directory_bytes)} and has {text_of_bytes(place.usable_bytes)} "
            "left."
        )
    if all_leaders > LEADERS_PER_BROKER_MAX:
        warnings.append(f"A broker would lead {all_leaders} partitions; {LEADERS_PER_BROKER_MAX} are advised.")
    if partitions > PARTITIONS_PER_TOPIC_MAX:
        warnings.append(f"A topic has at most {PARTITIONS_PER_TOPIC_MAX} partitions here.")
    if 0 < demand.partitions < partitions:
        warnings.append(
            "Records with a key will go to other partitions than before: order by key holds only from then on."
        )
    return tuple(warnings)


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{letter}I": 1 << 10 * power for power, letter in enumerate("KMGT", 1)}


def bytes_of_text(text: str) -> float:
    """Parse `1.5 GB`, `50MB/s`, `64MiB`, `1000000`: decimal units, binary with an i. Raises ValueError."""
    number = text.strip().upper().removesuffix("/S").removesuffix("B").strip()
    digits = number.rstrip("KMGTI").strip()
    unit = number[len(digits) :].strip()
    try:
        value = float(digits) * _UNITS[unit]
    except (ValueError, KeyError):
        raise ValueError("write it as 50MB, 1.5GB or 64MiB") from None
    if not 0 < value <= _BYTES_MAX:
        raise ValueError("it must be greater than 0, and no more than an exabyte")
    return value


_SPANS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": DAY_S * 1000, "w": 7 * DAY_S * 1000}


def milliseconds_of_text(text: str) -> int:
    """Parse `7d`, `12h`, `90m`, `30s`, `5w`; a number alone is milliseconds, -1 is no limit. Raises ValueError."""
    if text == "-1":
        return _UNLIMITED
    digits = text.rstrip("smhdw")
    try:
        span_ms = float(digits) * _SPANS_MS[text[len(digits) :] or "ms"]
    except (ValueError, KeyError):
        span_ms = -1.0
    if not 0 <= span_ms <= _SPAN_MS_MAX:
        raise ValueError("write it as 7d, 12h, 30m, or in milliseconds")
    return int(span_ms)


def text_of_bytes(count: float) -> str:
    """Format a number of bytes with three digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB" if count < 999.5 else f"{count:,.0f} TB"

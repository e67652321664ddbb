"""The source's options, in the names and with the meanings they have in Spark's Kafka connector.

Whatever is wrong is said when the query is made: ValueError names the option and what it accepts. As in Spark, names
are taken in any case, and an option nobody knows is passed over (here with a warning).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from broker.common.java.patterns import compile_pattern
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.spark.client_settings import ClientSettings, one_of, positive, read_source_settings
from broker.spark.offsets import EARLIEST, LATEST, Offsets, from_json

_log = logger("broker.spark.options")

_MANNERS = ("assign", "subscribe", "subscribePattern")
_DURATION = re.compile(r"(\d+)\s*(ms|s|m|min|h|d)?")
_UNIT_MS = {None: 1, "ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_KNOWN = {
    name.lower()
    for name in (
        *_MANNERS, "startingOffsets", "endingOffsets", "startingOffsetsByTimestamp", "endingOffsetsByTimestamp",
        "startingTimestamp", "endingTimestamp", "startingOffsetsByTimestampStrategy", "failOnDataLoss",
        "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions", "maxRecordsPerPartition",
        "includeHeaders", "groupIdPrefix", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries",
        "fetchOffset.retryIntervalMs", "path",
    )
}  # fmt: skip


@dataclass(frozen=True)
class Subscription:
    """What is read: the partitions named, the topics named, or all topics whose whole name the pattern matches."""

    partitions: tuple[TopicPartition, ...] = ()
    topics: tuple[str, ...] = ()
    pattern: str | None = None

    def __str__(self) -> str:
        return self.pattern or ", ".join(map(str, self.partitions or self.topics))


@dataclass(frozen=True)
class StartPosition:
    """Where to begin or end. Offsets may be EARLIEST or LATEST; times are milliseconds.

    `everywhere` is EARLIEST, LATEST or None; `offsets` and `times` are by partition; `time_ms` is of all partitions.
    """

    everywhere: int | None = None
    offsets: Offsets | None = None
    times: dict[TopicPartition, int] | None = None
    time_ms: int | None = None
    #: A moment after the last record means the end of the partition, instead of an error.
    late_is_latest: bool = False


@dataclass(frozen=True)
class SourceOptions:
    """Everything the readers need; travels to Spark's workers by pickle."""

    client: ClientSettings
    subscription: Subscription
    start: StartPosition
    end: StartPosition
    fail_on_data_loss: bool
    max_offsets: int | None
    min_offsets: int | None
    max_trigger_delay_ms: int
    min_partitions: int | None
    max_records_per_partition: int | None
    with_headers: bool


def read_source_options(options: Mapping[str, str], streaming: bool) -> SourceOptions:
    """Raises ValueError that names the option."""
    given = {name.lower(): text for name, text in options.items()}
    for name in sorted(given):
        if name not in _KNOWN and not name.startswith("kafka."):
            _log.warning("option is not known", option=name)
    client = read_source_settings(options)
    subscription = _subscription(given)
    start = _position(given, "starting", LATEST if streaming else EARLIEST)
    end = _position(given, "ending", LATEST)
    if streaming:
        _refuse_endings(given)
    else:
        _check_batch_positions(start, end)
    read = SourceOptions(
        client=client,
        subscription=subscription,
        start=start,
        end=end,
        fail_on_data_loss=boolean(given, "failOnDataLoss", True),
        max_offsets=_optional(given, "maxOffsetsPerTrigger"),
        min_offsets=_optional(given, "minOffsetsPerTrigger"),
        max_trigger_delay_ms=_duration_ms(given.get("maxtriggerdelay", "15m")),
        min_partitions=_optional(given, "minPartitions"),
        max_records_per_partition=_optional(given, "maxRecordsPerPartition"),
        with_headers=boolean(given, "includeHeaders", False),
    )
    if read.min_offsets and read.max_offsets and read.min_offsets > read.max_offsets:
        raise ValueError(
            f"option minOffsetsPerTrigger ({read.min_offsets}) is above maxOffsetsPerTrigger ({read.max_offsets})"
        )
    return read


def boolean(given: Mapping[str, str], name: str, default: bool) -> bool:
    """Read option `name` of `given`, whose names are in lower case."""
    return one_of(name, given.get(name.lower(), str(default)), ("true", "false")) == "true"


def _optional(given: Mapping[str, str], name: str) -> int | None:
    return positive(name, given[name.lower()]) if name.lower() in given else None


def _duration_ms(text: str) -> int:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"option maxTriggerDelay: {text!r} is no length of time like 30s, 15m or 1h")
    return int(match[1]) * _UNIT_MS[match[2]]


def _subscription(given: Mapping[str, str]) -> Subscription:
    chosen = [name for name in _MANNERS if name.lower() in given]
    if len(chosen) != 1:
        how = "One" if not chosen else "Only one"
        raise ValueError(f"{how} of the options {', '.join(_MANNERS)} must be specified, not {chosen or 'none'}")
    text = given[chosen[0].lower()].strip()
    if chosen[0] == "assign":
        return Subscription(partitions=_assigned(text))
    if chosen[0] == "subscribe":
        topics = tuple(dict.fromkeys(topic.strip() for topic in text.split(",") if topic.strip()))
        if not topics:
            raise ValueError(f"option subscribe names no topic: {text!r}")
        return Subscription(topics=topics)
    try:
        compile_pattern(text)
    except ValueError as error:
        raise ValueError(f"option subscribePattern: {text!r} is no regular expression: {error}") from None
    if not text:
        raise ValueError("option subscribePattern is empty")
    return Subscription(pattern=text)


def _assigned(text: str) -> tuple[TopicPartition, ...]:
    try:
        document = json.loads(text)
        named = sorted({TopicPartition(topic, int(index)) for topic, item in document.items() for index in item})
    except (ValueError, AttributeError, TypeError):
        named = []
    if not named:
        raise ValueError(f'option assign: {text!r} is not {{"topic": [0, 1]}}')
    return tuple(named)


def _position(given: Mapping[str, str], which: str, default: int) -> StartPosition:
    """Return the start position: a timestamp for all partitions wins over timestamps by partition, these over
    offsets.
    """
    strategy = one_of("startingOffsetsByTimestampStrategy", given.get("startingoffsetsbytimestampstrategy", "error"),
                      ("error", "latest"))  # fmt: skip
    late_is_latest = which == "ending" or strategy == "latest"
    if text := given.get(f"{which}timestamp"):
        try:
            return StartPosition(time_ms=int(text), late_is_latest=late_is_latest)
        except ValueError:
            raise ValueError(f"option {which}Timestamp: {text!r} is not a number of milliseconds") from None
    if text := given.get(f"{which}offsetsbytimestamp"):
        return StartPosition(times=_by_partition(f"{which}OffsetsByTimestamp", text), late_is_latest=late_is_latest)
    text = given.get(f"{which}offsets", "").strip()
    if text.lower() in ("earliest", "latest"):
        return StartPosition(everywhere=EARLIEST if text.lower() == "earliest" else LATEST)
    return StartPosition(offsets=_by_partition(f"{which}Offsets", text)) if text else StartPosition(everywhere=default)


def _by_partition(name: str, text: str) -> Offsets:
    try:
        return from_json(json.loads(text))
    except (ValueError, AttributeError, TypeError):
        words = '"earliest", "latest" or ' if name.endswith("Offsets") else ""
        raise ValueError(f'option {name}: {text!r} is not {words}{{"topic": {{"0": 23, "1": -2}}}}') from None


def _refuse_endings(given: Mapping[str, str]) -> None:
    for name in ("endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"):
        if name.lower() in given:
            raise ValueError(f"option {name} is not valid in a streaming query: a stream has no end")


def _check_batch_positions(start: StartPosition, end: StartPosition) -> None:
    if start.everywhere == LATEST or LATEST in (start.offsets or {}).values():
        raise ValueError("option startingOffsets cannot be latest in a batch query")
    if end.everywhere == EARLIEST or EARLIEST in (end.offsets or {}).values():
        raise ValueError("option endingOffsets cannot be earliest in a batch query")
    for begin, finish in ((start.offsets, end.offsets), (start.times, end.times)):
        if begin is None or finish is None:
            continue
        if begin.keys() != finish.keys():
            odd = ", ".join(map(str, sorted(begin.keys() ^ finish.keys())))
            raise ValueError(f"the starting and ending options name different partitions: {odd}")
        for partition in sorted(begin):
            if begin[partition] > finish[partition] >= 0:
                raise ValueError(f"{partition} starts at {begin[partition]}, behind its end at {finish[partition]}")

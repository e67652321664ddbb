"""Windows of the message audit: what each source counted of a topic in a minute, and whether the tiers agree.

Increments of the audit topic become a row for each window, tier and source, by `[topic, window, tier, source]`, and a
verdict for each window, by `[topic, window]`: the newest record of a key counts, the output is compacted, and days of
windows are a small topic. What is repeated counts once, what is counted again replaces what was; verdicts are those of
`barnabas audit`. An increment of a window that began more than `watermark.ms` before the newest is late: it goes to
`dead.letter.topic`, as does what is no increment. A batch costs what the state holds, whatever is new: ten seconds
between batches (`trigger.interval.ms`) are as often as sources report.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.audit.increment import AUDIT_TOPIC, BadIncrement, Increment
from broker.audit.tally import RecordTally
from broker.spark.audit.topic_windows import TopicWindows, horizon, understood, written
from broker.spark.dead_letters import DEAD_LETTER_TOPIC, HEADERS, dead_headers, observe_dead, observe_read
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.parameters import TOPIC_NAME, WATERMARK_MS, topic_key

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.state import GroupState

WINDOWS_TOPIC = "barnabas.audit.windows"
_REASON_LENGTH_MAX = 500
_COUNTS = tuple(field.name for field in fields(RecordTally))
_OUTPUT = "key STRING, value BINARY, reason STRING, place STRING"
_STATE = "windows STRING, heard_ms LONG"


class OutputRecord(NamedTuple):
    """A row of `_OUTPUT`; a dead one has a reason and a place."""

    key: str | None
    value: bytes | None
    reason: str | None = None
    place: str | None = None


class InputRecord(NamedTuple):
    partition: int
    offset: int
    value: bytes | None


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    records = observe_read(inputs.topic(settings["input.topic"]))
    counter = f.get_json_object(f.col("value").cast("string"), "$.chain[2]")
    topic = f.when(counter.rlike(rf"\A{TOPIC_NAME.pattern}\z"), counter).otherwise(f.lit(""))
    counted = (
        records.select(topic.alias("of"), "partition", "offset", "value")
        .groupBy("of")
        .applyInPandasWithState(_count_topic(settings), _OUTPUT, _STATE, "update", "ProcessingTimeTimeout")
    )
    return _routed(observe_dead(counted, f.col("reason").isNotNull()), settings)


def _routed(rows: "DataFrame", settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    dead = settings["dead.letter.topic"]
    is_dead = f.col("reason").isNotNull()
    if not dead:
        return rows.where(~is_dead).select("key", "value", f.lit(settings["output.topic"]).alias("topic"))
    place = f.concat_ws("-", f.lit(settings["input.topic"]), "place")
    return rows.select(
        "key",
        "value",
        f.when(is_dead, f.lit(dead)).otherwise(f.lit(settings["output.topic"])).alias("topic"),
        f.when(is_dead, dead_headers(f.col("reason"), place)).otherwise(f.lit(None).cast(HEADERS)).alias("headers"),
    )


def _count_topic(settings: Settings) -> Callable[..., Any]:
    kept_ms = settings["watermark.ms"]

    def count_topic(key: tuple[str], frames: "Iterator[pd.DataFrame]", state: "GroupState") -> "Iterator[pd.DataFrame]":
        import pandas as pd

        now_ms = state.getCurrentProcessingTimeMs()
        text, heard_ms = state.get if state.exists else (None, now_ms)
        windows = understood(key[0], text) if text else TopicWindows(key[0])
        if state.hasTimedOut:
            rows = list(_of_windows(windows, now_ms))
        else:
            heard_ms, rows = now_ms, list(count(windows, sorted(_read(frames)), now_ms, kept_ms))
        if not windows.stories or now_ms - heard_ms > kept_ms:
            state.remove()
        else:
            state.update((written(windows), heard_ms))
            due_ms = windows.due_ms(now_ms) or heard_ms + kept_ms
            state.setTimeoutDuration(max(due_ms - now_ms, 1_000))
        yield pd.DataFrame(rows, columns=OutputRecord._fields, dtype=object)

    return count_topic


def _read(frames: "Iterator[pd.DataFrame]") -> Iterator[InputRecord]:
    for frame in frames:
        for partition, offset, value in zip(frame["partition"], frame["offset"], frame["value"], strict=True):
            yield InputRecord(int(partition), int(offset), None if value is None else bytes(value))


def count(windows: TopicWindows, records: list[InputRecord], now_ms: int, kept_ms: int) -> Iterator[OutputRecord]:
    """Count one batch of a topic's increments: `records` in the order of the audit topic. Pure."""
    heard = []
    for record in records:
        place = f"{record.partition}-{record.offset}"
        try:
            increment = _sound(Increment.from_bytes(record.value))
        except BadIncrement as error:
            yield OutputRecord(None, record.value, str(error)[:_REASON_LENGTH_MAX], place)
            continue
        heard.append((record.partition, min(increment.at_ms, now_ms)))
        late = windows.add(increment, now_ms)
        if late is not None:
            yield OutputRecord(increment.key().decode(), late.increment.to_bytes(), f"late: {late.reason}", place)
    yield from _of_windows(windows, now_ms)
    if heard:
        windows.forget(horizon(heard, kept_ms))


def _sound(increment: Increment) -> Increment:
    """Raises BadIncrement for what cannot be added up, or is of no topic."""
    numbers = [increment.sequence, increment.at_ms, increment.start, increment.end, increment.window_ms]
    windows = [*increment.windows, *(getattr(tally, name) for tally in increment.windows.values() for name in _COUNTS)]
    if not all(type(number) is int and -1 <= number < 1 << 64 for number in (*numbers, *windows)):
        raise BadIncrement("no increment: a number is none of ours")
    if not isinstance(increment.epoch, str) or not TOPIC_NAME.fullmatch(increment.chain.topic):
        raise BadIncrement("no increment: no topic has such a name")
    return increment


def _of_windows(windows: TopicWindows, now_ms: int) -> Iterator[OutputRecord]:
    for row in windows.rows(now_ms):
        yield OutputRecord(row.key, None if row.value is None else row.value.encode())


JOB = Job(
    name="message_audit",
    meaning="Windows of the message audit: what each source counted, and whether the tiers agree.",
    keys=(
        topic_key("input.topic", "The audit topic.", AUDIT_TOPIC),
        topic_key("output.topic", "The topic of windows.", WINDOWS_TOPIC),
        WATERMARK_MS,
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
    output_mode=lambda _settings: "update",
    output_configs={"cleanup.policy": "compact"},
)

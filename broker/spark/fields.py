r"""What a record says, named in a parameter: `key`, `value`, `timestamp`, `$.path.in.json`, `/regex/`.

A regex gives its first group, or the whole match if it has none. `status:/ (\d+) /` gives a field a name of its own;
the name of `$.a.b` is `a.b`. Several are divided by commas.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broker.config.definition import accepting
from broker.spark.definition import Settings

if TYPE_CHECKING:
    from pyspark.sql import Column

FIELD_LENGTH_MAX = 300
FIELDS_MAX = 16
#: Longer texts are cut: each is a key of an output and of a state.
TEXT_LENGTH_MAX = 256
#: A record cannot say it is later than its own timestamp by more than this: one wrong clock must not end all windows.
FUTURE_MAX_MS = 60_000
#: Names of what jobs add to the fields in their output.
RESERVED = frozenset({"count", "sum", "window_start", "window_end", "session_start", "session_end", "length_ms"})

_FIELD = re.compile(
    r"(?:(?P<name>[A-Za-z_][\w.-]*):)?(?P<source>key|value|timestamp|\$(?:\.[\w-]+)+|/(?:[^/\\]|\\.)+/)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class SparkField:
    """`source` as it was written, without the name."""

    name: str
    source: str
    text: str

    def __str__(self) -> str:
        return self.text


#: What an error says was expected.
_ACCEPTED = "a field (key, value, timestamp, $.path.in.json or /regex/, each perhaps with a name: in front)"


@accepting(_ACCEPTED)
def parse_field(text: str) -> SparkField:
    fields = parse_fields(text)
    if len(fields) != 1:
        raise ValueError(text)
    return fields[0]


@accepting(_ACCEPTED)
def parse_optional_field(text: str) -> SparkField | None:
    return parse_field(text) if text.strip() else None


@accepting(f"{_ACCEPTED}, or several with commas between")
def parse_fields(text: str) -> tuple[SparkField, ...]:
    """ValueError if it is not a list of fields, or two have one name, or one has a name that jobs use."""
    fields, at = [], 0
    while True:
        match = _FIELD.match(text, at)
        if match is None or len(text) > FIELD_LENGTH_MAX:
            raise ValueError(text)
        fields.append(_named(match))
        at = match.end()
        if at == len(text):
            break
        comma = re.compile(r"\s*,\s*").match(text, at)
        if comma is None:
            raise ValueError(text)
        at = comma.end()
    names = {field.name for field in fields}
    if len(names) < len(fields) or len(fields) > FIELDS_MAX or names & RESERVED:
        raise ValueError(text)
    return tuple(fields)


def _named(match: re.Match[str]) -> SparkField:
    source = match["source"]
    if source.startswith("/"):
        try:
            re.compile(source[1:-1])
        except re.error:
            raise ValueError(source) from None
    name = match["name"] or ("match" if source.startswith("/") else source.removeprefix("$."))
    return SparkField(name, source, match[0])


def text_of(field: SparkField) -> "Column":
    """Return a text column, null if the record lacks the field."""
    from pyspark.sql import functions as f

    value = f.col("value").cast("string")
    match field.source[0]:
        case "$":
            return f.get_json_object(value, field.source)
        case "/":
            pattern = field.source[1:-1]
            extracted = f.regexp_extract(value, pattern, min(1, re.compile(pattern).groups))
            return f.nullif(extracted, f.lit(""))
    return (
        f.unix_millis("timestamp").cast("string") if field.source == "timestamp" else f.col(field.source).cast("string")
    )


def exactly(field: SparkField) -> "Column":
    """Return a text that differs whenever the field's bytes differ, also for bytes that are no text."""
    from pyspark.sql import functions as f

    return f.base64(f.col(field.source)) if field.source in ("key", "value") else text_of(field)


def group_columns(fields: Iterable[SparkField], missing: str) -> "list[Column]":
    """Return the fields as columns g0, g1, …: cut to TEXT_LENGTH_MAX, `missing` in place of what is not said."""
    from pyspark.sql import functions as f

    return [
        f.substring(f.coalesce(text_of(field), f.lit(missing)), 1, TEXT_LENGTH_MAX).alias(f"g{index}")
        for index, field in enumerate(fields)
    ]


def number_of(field: SparkField) -> "Column":
    """Return a number column, null if the record lacks the field or its number cannot be added up."""
    from pyspark.sql import functions as f

    number = text_of(field).try_cast("double")
    return f.when(f.abs(number) < float("inf"), number)  # a NaN is greater than any number here


def time_of(field: SparkField, settings: Settings) -> "Column":
    """Return the time of the event: milliseconds, ISO 8601 or as `time.format`; null if it is invalid. Null if the
    record does not say it soundly.

    What stands in for a time nobody knows would be the newest there is, and end the windows of all others. So would a
    clock that is ahead: nothing may be later than the record's own timestamp by FUTURE_MAX_MS, or later than now by so
    much (or `watermark.ms`, which makes nobody else late) when the batch began.
    """
    from pyspark.sql import functions as f

    recorded = f.col("timestamp")
    time = recorded if field.source == "timestamp" else _said_time(field, settings["time.format"])
    ahead_ms = max(FUTURE_MAX_MS, settings["watermark.ms"])
    latest = f.unix_millis(f.current_timestamp()) + ahead_ms
    if field.source != "timestamp":  # Kafka's -1: there is no timestamp to go by
        by_record = f.when(f.unix_millis(recorded) >= 0, f.unix_millis(recorded) + FUTURE_MAX_MS)
        latest = f.least(latest, by_record)
    return f.when(f.unix_millis(time).between(0, latest), time)


def time_rule(field: SparkField, settings: Settings) -> "dict[str, Column]":
    """Return the rule that a record needs a valid time."""
    return {f"{field.source} is a time, and not of the future": time_of(field, settings).isNotNull()}


def _said_time(field: SparkField, time_format: str) -> "Column":
    from pyspark.sql import functions as f

    text = text_of(field)
    if time_format:
        return f.try_to_timestamp(text, f.lit(time_format))
    milliseconds = f.when(text.rlike(r"^\d{1,15}$"), text).try_cast("bigint")
    return f.coalesce(f.timestamp_millis(milliseconds), f.try_to_timestamp(text))


def instant(column: str) -> "Column":
    """Format an instant: 2026-01-31T12:00:00Z, with milliseconds if there are any."""
    from pyspark.sql import functions as f

    whole = f.date_format(column, "yyyy-MM-dd'T'HH:mm:ss'Z'")
    exact = f.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
    return f.when(f.unix_millis(column) % 1000 == 0, whole).otherwise(exact)


def as_json(text: "Column") -> "Column":
    """Return the text as what it is in JSON, or as a JSON string if it is none: to be put into an object with
    to_json.
    """
    from pyspark.sql import functions as f

    return f.coalesce(f.try_parse_json(text), text.cast("variant"))

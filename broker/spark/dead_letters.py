"""Records that a job cannot use: counted, and put into a dead-letter topic where one is set. None goes in silence.

A record whose time is not known must not come near a watermark, whatever stands in for its time: in a replay of old
records one that passes for new closes every window before the others are read. So records are sifted before anything
remembers or counts them. Dead letters are written with the job's output, in the same batch: all of it or nothing. They
cost a second reading of the topic; only counting them costs nothing.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from broker.config.definition import Key
from broker.spark.definition import Inputs, Settings
from broker.spark.parameters import parse_optional_topic

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REASON_HEADER, PLACE_HEADER = "barnabas.dead.reason", "barnabas.dead.record"
DEAD_LETTER_TOPIC = Key(
    "dead.letter.topic",
    parse_optional_topic,
    "",
    "Where records go that cannot be used, with the reason; blank: they are only counted.",
)
#: Under names that begin so Spark's report on a batch says how many records were read, and how many are dead.
_OBSERVED = "sifted."
HEADERS = "array<struct<key:string,value:binary>>"
#: Where a record breaks rules: the rules, in words.
BROKEN = "broken"

#: What a record must fulfil, in words, and whether it does: anything but true is no.
Rules = Mapping[str, "Column"]


class Sifted(NamedTuple):
    """`dead` are records as the sink takes them; None where they are only counted."""

    sound: "DataFrame"
    dead: "DataFrame | None"


def sift(
    inputs: Inputs, topic: str, rules: Rules, settings: Settings, *, side: str = "input", headers: bool = False
) -> Sifted:
    """Return the records of a topic that fulfil every rule, and the others. `side` tells apart the inputs of one
    job.
    """
    where = settings["dead.letter.topic"]
    judged = judge(inputs.topic(topic, headers=headers or bool(where)), rules)
    sound = observe(judged, side).where(f"size({BROKEN}) = 0").drop(BROKEN)
    return Sifted(sound, dead_letters(judged.where(f"size({BROKEN}) > 0"), where) if where else None)


def judge(records: "DataFrame", rules: Rules) -> "DataFrame":
    """Add the column BROKEN: the rules that each record breaks."""
    from pyspark.sql import functions as f

    verdicts = (f.when(f.coalesce(holds, f.lit(False)), None).otherwise(rule) for rule, holds in rules.items())
    return records.withColumn(BROKEN, f.array_compact(f.array(*verdicts)))


def observe(judged: "DataFrame", side: str = "input") -> "DataFrame":
    from pyspark.sql import functions as f

    dead = f.count(f.when(f.size(BROKEN) > 0, True))
    return judged.observe(_OBSERVED + side, f.count("*").alias("read"), dead.alias("dead"))


def observe_read(records: "DataFrame") -> "DataFrame":
    """Observe the records read, for a job that learns later which are dead and reports those with `observe_dead`."""
    from pyspark.sql import functions as f

    return records.observe(f"{_OBSERVED}input", f.count("*").alias("read"), f.lit(0).cast("bigint").alias("dead"))


def observe_dead(rows: "DataFrame", is_dead: "Column") -> "DataFrame":
    from pyspark.sql import functions as f

    dead = f.count(f.when(is_dead, True))
    return rows.observe(f"{_OBSERVED}output", f.lit(0).cast("bigint").alias("read"), dead.alias("dead"))


def dead_letters(dead: "DataFrame", topic: str) -> "DataFrame":
    from pyspark.sql import functions as f

    its_own = f.coalesce("headers", f.array().cast(HEADERS))
    return dead.select("key", "value", f.lit(topic).alias("topic"), f.concat(its_own, why_dead()).alias("headers"))


def why_dead() -> "Column":
    """Return the headers that say which rules a record breaks, and where it was read."""
    from pyspark.sql import functions as f

    return dead_headers(f.concat_ws("; ", BROKEN), f.concat_ws("-", "topic", "partition", "offset"))


def dead_headers(reason: "Column", place: "Column") -> "Column":
    from pyspark.sql import functions as f

    return f.array(_header(REASON_HEADER, reason), _header(PLACE_HEADER, place))


def with_dead_letters(rows: "DataFrame", settings: Settings, *sifted: Sifted) -> "DataFrame":
    """Return a job's output with the dead letters of all its inputs."""
    from pyspark.sql import functions as f

    output = rows
    for dead in (item.dead for item in sifted if item.dead is not None):
        if output is rows:
            headers = f.col("headers") if "headers" in rows.columns else f.lit(None).cast(HEADERS)
            output = rows.select(
                f.col("key").cast("binary").alias("key"),
                f.col("value").cast("binary").alias("value"),
                f.lit(settings["output.topic"]).alias("topic"),
                headers.alias("headers"),
            )
        output = output.unionByName(dead)
    return output


def records_read(report: Mapping[str, Any]) -> int:
    """Return the number of records read by Spark's report: the job's own count, else Spark's, which counts rereads
    twice.
    """
    counted = _counted(report)
    return sum(entry["read"] for entry in counted) if counted else report.get("numInputRows", 0)


def records_dead(report: Mapping[str, Any]) -> int:
    return sum(entry["dead"] for entry in _counted(report))


def _counted(report: Mapping[str, Any]) -> list[dict[str, int]]:
    observed = report.get("observedMetrics") or {}
    return [counts for name, counts in observed.items() if name.startswith(_OBSERVED)]


def _header(name: str, text: "Column") -> "Column":
    from pyspark.sql import functions as f

    return f.struct(f.lit(name).alias("key"), text.cast("binary").alias("value"))

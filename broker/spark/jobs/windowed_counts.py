"""Counts, and sums, by key in windows of the time things happened.

With `emit=changes` each record of the output is the count so far of one window and key, under `window_start|key…`: the
newest record of a key is the count, and the output is compacted. With `emit=closed` each window is written once, when
the watermark has passed its end. A record later than the watermark is not counted any more. One that says no sound time
is in no window: it goes to `dead.letter.topic`.
"""

from typing import TYPE_CHECKING

from broker.config.definition import Key
from broker.spark.dead_letters import DEAD_LETTER_TOPIC, sift, with_dead_letters
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import group_columns, instant, number_of, time_of, time_rule
from broker.spark.parameters import (
    GROUP_BY,
    INPUT_TOPIC,
    MISSING,
    OUTPUT_TOPIC,
    SUM_FIELD,
    TIME_FIELD,
    TIME_FORMAT,
    WATERMARK_MS,
    duration_key,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHANGES, CLOSED = "changes", "closed"


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    fields, summed = settings["group.by"], settings["sum.field"]
    sifted = sift(inputs, settings["input.topic"], time_rule(settings["time.field"], settings), settings)
    events = sifted.sound.select(
        time_of(settings["time.field"], settings).alias("time"),
        (number_of(summed) if summed else f.lit(None).cast("double")).alias("amount"),
        *group_columns(fields, settings["missing.as"]),
    )
    groups = [f"g{index}" for index in range(len(fields))]
    length_ms = settings["window.ms"]
    slide_ms = settings["slide.ms"] or length_ms
    totals = (
        events.withWatermark("time", f"{settings['watermark.ms']} milliseconds")
        .groupBy(f.window("time", f"{length_ms} milliseconds", f"{slide_ms} milliseconds"), *groups)
        .agg(f.count("*").alias("count"), f.sum("amount").alias("sum"))
    )
    start, end = instant("window.start"), instant("window.end")
    named = [f.col(group).alias(field.name) for group, field in zip(groups, fields, strict=True)]
    value = f.struct(start.alias("window_start"), end.alias("window_end"), *named, "count", "sum")
    rows = totals.select(f.concat_ws("|", start, *groups).alias("key"), f.to_json(value).alias("value"))
    return with_dead_letters(rows, settings, sifted)


def output_mode(settings: Settings) -> str:
    return "update" if settings["emit"] == CHANGES else "append"


JOB = Job(
    name="windowed_counts",
    meaning="Counts and sums by key in windows of time.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        GROUP_BY,
        SUM_FIELD,
        duration_key("window.ms", 60_000, "Length of a window.", at_least=1_000),
        duration_key("slide.ms", 0, "Distance of windows that overlap; 0: as long as they are."),
        TIME_FIELD,
        TIME_FORMAT,
        WATERMARK_MS,
        MISSING,
        Key(
            "emit",
            str,
            CHANGES,
            "Each count that changed, or windows once they close.",
            choices=(CHANGES, CLOSED),
        ),
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
    output_mode=output_mode,
    output_configs={"cleanup.policy": "compact"},
)

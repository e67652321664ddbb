"""What belongs together in time: records of a key with no pause between them longer than `gap.ms` are one session.

A session is written once, when the watermark has passed its end and the pause, under `key|session_start`. A record that
says no sound time is in none: it goes to `dead.letter.topic`.
"""

from typing import TYPE_CHECKING

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
    sessions = (
        events.withWatermark("time", f"{settings['watermark.ms']} milliseconds")
        .groupBy(f.session_window("time", f"{settings['gap.ms']} milliseconds").alias("session"), *groups)
        .agg(f.count("*").alias("count"), f.sum("amount").alias("sum"), f.max("time").alias("last"))
    )
    start, end = instant("session.start"), instant("last")
    length_ms = f.unix_millis("last") - f.unix_millis("session.start")
    named = [f.col(group).alias(field.name) for group, field in zip(groups, fields, strict=True)]
    value = f.struct(
        start.alias("session_start"), end.alias("session_end"), *named, length_ms.alias("length_ms"), "count", "sum"
    )
    rows = sessions.select(f.concat_ws("|", *groups, start).alias("key"), f.to_json(value).alias("value"))
    return with_dead_letters(rows, settings, sifted)


JOB = Job(
    name="sessions",
    meaning="Sessions: what a key does without a longer pause, with length, count and sum.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        GROUP_BY,
        duration_key("gap.ms", 1_800_000, "A pause longer than this ends a session.", at_least=1),
        SUM_FIELD,
        TIME_FIELD,
        TIME_FORMAT,
        WATERMARK_MS,
        MISSING,
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
)

"""Two topics joined: records of one key that happened near each other, as an order and its payment.

A right record matches a left one if it happened from `before.ms` before to `after.ms` after it. With `join=inner` pairs
are written; with `left_outer` also each left record that found none, once the watermark says that none can come. A
record that says no sound time goes to `dead.letter.topic`.
"""

from typing import TYPE_CHECKING

from broker.config.definition import Key
from broker.spark.dead_letters import DEAD_LETTER_TOPIC, Sifted, sift, with_dead_letters
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import SparkField, as_json, instant, text_of, time_of, time_rule
from broker.spark.parameters import OUTPUT_TOPIC, TIME_FORMAT, WATERMARK_MS, duration_key, field_key, topic_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    sifted = {side: _sifted(inputs, settings, side) for side in ("left", "right")}
    left, right = (_side(sifted_frame.sound, settings, side) for side, sifted_frame in sifted.items())
    before, after = (f"INTERVAL {settings[key]} MILLISECONDS" for key in ("before.ms", "after.ms"))
    is_pair = f.expr(
        f"left_key = right_key AND right_time >= left_time - {before} AND right_time <= left_time + {after}"
    )
    pairs = left.join(right, is_pair, settings["join"])
    value = f.struct(
        f.col("left_key").alias("key"),
        instant("left_time").alias("left_time"),
        instant("right_time").alias("right_time"),
        as_json(f.col("left_value")).alias("left"),
        as_json(f.col("right_value")).alias("right"),
    )
    rows = pairs.select(f.col("left_key").alias("key"), f.to_json(value).alias("value"))
    return with_dead_letters(rows, settings, *sifted.values())


def _sifted(inputs: Inputs, settings: Settings, side: str) -> Sifted:
    rules = time_rule(settings[f"{side}.time"], settings)
    return sift(inputs, settings[f"{side}.topic"], rules, settings, side=side)


def _side(records: "DataFrame", settings: Settings, side: str) -> "DataFrame":
    from pyspark.sql import functions as f

    key: SparkField = settings[f"{side}.key"]
    return records.select(
        text_of(key).alias(f"{side}_key"),
        time_of(settings[f"{side}.time"], settings).alias(f"{side}_time"),
        f.col("value").cast("string").alias(f"{side}_value"),
    ).withWatermark(f"{side}_time", f"{settings['watermark.ms']} milliseconds")


JOB = Job(
    name="stream_join",
    meaning="Joins two topics: records of one key that happened near each other.",
    keys=(
        topic_key("left.topic", "The topic on the left."),
        topic_key("right.topic", "The topic on the right."),
        OUTPUT_TOPIC,
        field_key("left.key", "key", "The field of the left that is compared."),
        field_key("right.key", "key", "The field of the right that is compared."),
        duration_key("before.ms", 0, "How long before the left record the right one may have happened."),
        duration_key("after.ms", 600_000, "How long after the left record the right one may happen."),
        Key("join", str, "inner", "Only pairs, or also a left record alone.", choices=("inner", "left_outer")),
        field_key("left.time", "timestamp", "When the left record happened."),
        field_key("right.time", "timestamp", "When the right record happened."),
        TIME_FORMAT,
        WATERMARK_MS,
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    reads=("left.topic", "right.topic"),
    writes=("output.topic", "dead.letter.topic"),
)

"""Each record once: of those that say the same in `by`, the first is passed on as it is, the rest are dropped.

A repetition is recognised for at least `watermark.ms` after the first, by the time things happened; the state forgets
what is older, so it does not grow without end. A record that says no sound time cannot be told from a repetition: it
goes to `dead.letter.topic`.
"""

from typing import TYPE_CHECKING

from broker.config.definition import Key
from broker.spark.dead_letters import DEAD_LETTER_TOPIC, sift, with_dead_letters
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import exactly, parse_fields, time_of, time_rule
from broker.spark.parameters import INPUT_TOPIC, OUTPUT_TOPIC, TIME_FIELD, TIME_FORMAT, duration_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    time = time_of(settings["time.field"], settings)
    sifted = sift(inputs, settings["input.topic"], time_rule(settings["time.field"], settings), settings, headers=True)
    identity = f.to_json(f.array(*(exactly(field) for field in settings["by"])))
    rows = (
        sifted.sound.select("key", "value", "headers", f.sha2(identity, 256).alias("said"), time.alias("time"))
        .withWatermark("time", f"{settings['watermark.ms']} milliseconds")
        .dropDuplicatesWithinWatermark(["said"])
        .select("key", "value", "headers")
    )
    return with_dead_letters(rows, settings, sifted)


JOB = Job(
    name="dedupe",
    meaning="Passes each record on once, though it comes twice.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        Key("by", parse_fields, parse_fields("key"), "Two records that say the same here are the same."),
        duration_key("watermark.ms", 3_600_000, "How long a repetition is recognised.", at_least=1),
        TIME_FIELD,
        TIME_FORMAT,
        DEAD_LETTER_TOPIC,
    ),
    build=build,
    writes=("output.topic", "dead.letter.topic"),
)

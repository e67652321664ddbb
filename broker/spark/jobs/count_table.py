"""A table of counts, and sums, by key since the beginning: an accumulator table, kept in a compacted topic.

The newest record of a key is its count; `python -m broker stream-table` asks the table. The state has a row for each
key for good, so this is for keys of which there are not too many: words, pages, countries. With more, count in windows.
"""

from typing import TYPE_CHECKING

from broker.config.definition import Key
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.fields import TEXT_LENGTH_MAX, group_columns, number_of
from broker.spark.parameters import GROUP_BY, INPUT_TOPIC, MISSING, OUTPUT_TOPIC, SUM_FIELD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RECORDS, WORDS = "records", "words"


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    summed, groups = settings["sum.field"], group_columns(settings["group.by"], settings["missing.as"])
    records = inputs.topic(settings["input.topic"])
    amount = (number_of(summed) if summed else f.lit(None).cast("double")).alias("amount")
    if settings["count"] == WORDS:
        words = f.transform(
            f.split(f.col("value").cast("string"), r"\s+"), lambda word: f.substring(word, 1, TEXT_LENGTH_MAX)
        )
        counted = records.select(f.explode(words).alias("key"), amount).where("key != ''")
    else:
        counted = records.select(f.concat_ws("|", *groups).alias("key"), amount)
    totals = counted.groupBy("key").agg(f.count("*").alias("count"), f.sum("amount").alias("sum"))
    return totals.select("key", f.to_json(f.struct("count", "sum")).alias("value"))


JOB = Job(
    name="count_table",
    meaning="A table of counts by key since the beginning, for queries.",
    keys=(
        INPUT_TOPIC,
        OUTPUT_TOPIC,
        Key("count", str, RECORDS, "Records by group.by, or the words of their values.", choices=(RECORDS, WORDS)),
        GROUP_BY,
        SUM_FIELD,
        MISSING,
    ),
    build=build,
    output_mode=lambda _settings: "update",
    output_configs={"cleanup.policy": "compact"},
)

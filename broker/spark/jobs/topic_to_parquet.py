"""A topic kept as Parquet files, one directory for each day its records are of.

Each record is in the files once: Spark's file sink names in `_spark_metadata` which files count, and readers that know
Spark go by it. Other readers may see files of a batch that was killed and done again.
"""

from typing import TYPE_CHECKING

from broker.config.definition import REQUIRED, Key, parse_boolean
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.parameters import INPUT_TOPIC, parse_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    from pyspark.sql import functions as f

    records = inputs.topic(settings["input.topic"])
    if settings["as.text"]:
        records = records.withColumn("key", f.col("key").cast("string")).withColumn(
            "value", f.col("value").cast("string")
        )
    date = f.date_format("timestamp", "yyyy-MM-dd")
    return records.select("key", "value", "topic", "partition", "offset", "timestamp", date.alias("date"))


JOB = Job(
    name="topic_to_parquet",
    meaning="Keeps a topic as Parquet files by day.",
    keys=(
        INPUT_TOPIC,
        Key("path", parse_path, REQUIRED, "The directory of the files, below files.dir."),
        Key("as.text", parse_boolean, True, "Keys and values as text instead of bytes."),
    ),
    build=build,
    writes=(),
    files="path",
)

"""Parquet files read into a topic, and those that are added later.

A value is the column `value` if there is one, else the whole row as JSON; the key is `key.column`, if it is named. The
directory must hold a file when the job starts: it says which columns there are.
"""

from typing import TYPE_CHECKING

from broker.config.definition import REQUIRED, Key, parse_int
from broker.spark.definition import Inputs, Job, Settings
from broker.spark.parameters import OUTPUT_TOPIC, parse_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(inputs: Inputs, settings: Settings) -> "DataFrame":
    """Raises ValueError if the files have no `key.column`."""
    from pyspark.sql import functions as f

    rows = inputs.parquet(settings["path"], settings["max.files.per.trigger"])
    named = settings["key.column"]
    if named and named not in rows.columns:
        raise ValueError(f"key.column={named} is none of the columns {', '.join(rows.columns)}")
    key = f.col(f"`{named}`").cast("string") if named else f.lit(None).cast("string")
    value = f.col("value") if "value" in rows.columns else f.to_json(f.struct("*"))
    return rows.select(key.alias("key"), value.alias("value"))


JOB = Job(
    name="parquet_to_topic",
    meaning="Reads Parquet files into a topic, and those that are added.",
    keys=(
        Key("path", parse_path, REQUIRED, "The directory of the files, below files.dir."),
        OUTPUT_TOPIC,
        Key("key.column", str, "", "The column that is the record's key; blank: records have none."),
        Key("max.files.per.trigger", parse_int, 100, "Files one batch reads at most.", at_least=1, at_most=10_000),
    ),
    build=build,
    reads=(),
)

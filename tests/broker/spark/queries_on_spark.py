"""Queries on a session, each as a user would write it; they say what they saw.

Topic `in` has records; what is written goes to `streamed`, `written` and `updated`.
"""

import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from broker.spark.batch_output import write_batch


def records(spark: SparkSession, cluster: dict[str, str]) -> DataFrame:
    options = cluster | {"subscribe": "in", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "400"}
    return spark.readStream.format("barnabas").options(**options).load()


def streamed(spark: SparkSession, cluster: dict[str, str], directory: Path) -> list[dict]:
    """Sizes of the batches of a copy that ends by itself, and what Spark says of the source's end."""
    writer = records(spark, cluster).select("key", "value", "partition").writeStream
    query = (
        writer.format("barnabas")
        .options(**cluster, topic="streamed", checkpointLocation=str(directory / "streamed"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    batches = [json.loads(progress.json) for progress in query.recentProgress]
    return [{"rows": batch["numInputRows"], "latest": batch["sources"][0]["latestOffset"]} for batch in batches]


def written(spark: SparkSession, cluster: dict[str, str]) -> int:
    """Rows read in one batch, and written with headers to the topic that they name."""
    rows = spark.read.format("barnabas").options(**cluster, subscribe="in", minPartitions="5").load()
    header = f.struct(f.lit("from").alias("key"), f.col("topic").cast("binary").alias("value"))
    output = rows.select("key", "value", f.array(header).alias("headers"), f.lit("written").alias("topic"))
    output.write.format("barnabas").options(**cluster).mode("append").save()
    return rows.count()


def updated(spark: SparkSession, cluster: dict[str, str], directory: Path) -> int:
    """Counts in mode update, each batch handed over twice; the number of batches."""

    def write_twice(rows: DataFrame, batch: int) -> None:
        for _ in range(2):
            write_batch(
                rows, batch, output="counts", bootstrap_servers=cluster["kafka.bootstrap.servers"], topic="updated"
            )

    counts = records(spark, cluster).groupBy("partition").count()
    query = (
        counts.select(f.col("partition").cast("string").alias("key"), f.col("count").cast("string").alias("value"))
        .writeStream.outputMode("update")
        .foreachBatch(write_twice)
        .option("checkpointLocation", str(directory / "updated"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return len(query.recentProgress)


def refused(spark: SparkSession, cluster: dict[str, str]) -> list[str]:
    """What a user reads of a wrong option of the source, and of wrong columns for the sink."""
    rows = spark.range(1)
    attempts = (
        lambda: spark.read.format("barnabas").options(**cluster, subscribe="in", minPartitions="few").load().count(),
        lambda: rows.write.format("barnabas").options(**cluster, topic="written").mode("append").save(),
    )
    messages = []
    for attempt in attempts:
        try:
            attempt()
        except Exception as error:
            messages.append(str(error))
    return messages

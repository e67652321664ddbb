"""Queries over a topic and over Parquet files of the same rows, each run to the end of what there is."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter

_WINDOW = "10 seconds"


class Ends:
    """Where a query reads and where it writes: a topic, or files."""

    def __init__(self, spark: "SparkSession", servers: str, topic: str, directory: Path):
        self._spark = spark
        self._cluster = {"kafka.bootstrap.servers": servers}
        self._topic = topic
        self._files = str(directory / "files")
        self._directory = directory

    def write_files(self) -> None:
        """The topic's rows as Parquet."""
        rows = self._spark.read.format("barnabas").options(**self._cluster, subscribe=self._topic).load()
        rows.write.mode("overwrite").parquet(self._files)
        self._schema = rows.schema

    def read(self, which: str) -> "DataFrame":
        if which == "files":
            return self._spark.readStream.schema(self._schema).parquet(self._files)
        options = self._cluster | {"subscribe": self._topic, "startingOffsets": "earliest"}
        return self._spark.readStream.format("barnabas").options(**options).load()

    def write(self, rows: "DataFrame", which: str) -> "DataStreamWriter":
        writer = rows.select("key", "value").writeStream
        if which == "files":
            return writer.format("parquet").option("path", self.fresh_directory())
        return writer.format("barnabas").options(**self._cluster, topic="bench-output")

    def fresh_directory(self) -> str:
        return tempfile.mkdtemp(dir=self._directory)


def _source(ends: Ends, which: str) -> "DataStreamWriter":
    return ends.read(which).writeStream.format("noop")


def _windowed_count(ends: Ends, which: str) -> "DataStreamWriter":
    from pyspark.sql import functions as f

    counted = ends.read(which).withWatermark("timestamp", "1 minute").groupBy(f.window("timestamp", _WINDOW)).count()
    return counted.writeStream.format("noop").outputMode("update")


def _sink(ends: Ends, which: str) -> "DataStreamWriter":
    return ends.write(ends.read(which), which)


QUERIES: dict[str, Callable[[Ends, str], "DataStreamWriter"]] = {
    "source": _source,
    "windowed count": _windowed_count,
    "source and sink": _sink,
}


def rows_per_second(ends: Ends, name: str, which: str) -> float:
    """Of all batches, each from its trigger to its commit; what Spark needs to start is left out."""
    query = (
        QUERIES[name](ends, which)
        .trigger(availableNow=True)
        .option("checkpointLocation", ends.fresh_directory())
        .start()
    )
    query.awaitTermination()
    batches = [json.loads(progress.json) for progress in query.recentProgress]
    rows = sum(batch["numInputRows"] for batch in batches)
    return rows * 1000 / sum(batch["durationMs"]["triggerExecution"] for batch in batches)

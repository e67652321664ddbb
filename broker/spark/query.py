"""A job's query on a session: from the topics it reads to what it writes, checkpointed in the job's directory."""

from typing import TYPE_CHECKING

from broker.common.errors import BarnabasError
from broker.spark.batch_output import write_batch
from broker.spark.config import StreamConfig

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


#: A query has one output, though it may be several topics: a batch is in all of them or in none.
_OUTPUT = "topics"
#: Spark's words for it.
_NO_FILES = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


class NothingToRead(BarnabasError):
    """A job cannot begin before there is something for it to read."""


class ClusterInputs:
    """A job's `Inputs`: topics of the cluster, Parquet files below `files.dir`."""

    def __init__(self, spark: "SparkSession", config: StreamConfig):
        from broker.spark.source import BarnabasDataSource

        spark.dataSource.register(BarnabasDataSource)
        self._spark = spark
        self._config = config

    def topic(self, name: str, *, headers: bool = False) -> "DataFrame":
        limit = {"maxOffsetsPerTrigger": str(self._config.max_offsets_per_trigger)}
        return self._read(name, limit | {"includeHeaders": str(headers).lower()})

    def whole_topic(self, name: str) -> "DataFrame":
        return self._read(name, {"startingOffsets": "earliest"})

    def parquet(self, path: str, max_files: int) -> "DataFrame":
        """NothingToRead while there is no file below the path."""
        from pyspark.errors import AnalysisException

        directory = self._config.path_of_files(path)
        try:
            schema = self._spark.read.parquet(directory).schema
        except AnalysisException as error:
            if error.getCondition() in _NO_FILES:
                raise NothingToRead(f"there is no Parquet file in {directory} yet") from None
            raise
        return self._spark.readStream.schema(schema).option("maxFilesPerTrigger", max_files).parquet(directory)

    def _read(self, topic: str, options: dict[str, str]) -> "DataFrame":
        config = self._config
        common = {
            **config.cluster_options,
            "subscribe": topic,
            "startingOffsets": config.starting_offsets,
            "failOnDataLoss": str(config.fail_on_data_loss).lower(),
        }
        return self._spark.readStream.format("barnabas").options(**common | options).load()


def start_query(spark: "SparkSession", config: StreamConfig) -> "StreamingQuery":
    """NothingToRead if it is too early; ValueError, AnalysisException if the job cannot be built from its settings."""
    job = config.definition
    mode = job.output_mode(config.settings)
    # Only what is written when a window closes has something to say in a batch without records.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", str(mode == "append").lower())
    writer = (
        job.build(ClusterInputs(spark, config), config.settings)
        .writeStream.queryName(config.job)
        .outputMode(mode)
        .trigger(processingTime=f"{config.trigger_interval_ms} milliseconds")
        .option("checkpointLocation", str(config.directory / "checkpoint"))
    )
    return _to_files(writer, config) if job.files else _to_topics(writer, config)


def _to_files(writer: "DataStreamWriter", config: StreamConfig) -> "StreamingQuery":
    path = config.path_of_files(config.settings[config.definition.files])
    return writer.format("parquet").option("path", path).partitionBy("date").start()


def _to_topics(writer: "DataStreamWriter", config: StreamConfig) -> "StreamingQuery":
    topics = config.definition.output_topics(config.settings)
    only = topics[0] if len(topics) == 1 else None

    def write(rows: "DataFrame", batch: int) -> None:
        servers, client_config = config.bootstrap_servers, config.client_config
        write_batch(rows, batch, bootstrap_servers=servers, topic=only, output=_OUTPUT, client_config=client_config)

    return writer.foreachBatch(write).start()

"""The driver of one stream job: session, query, progress, and a clean end on SIGTERM.

Run as a Python process of its own, never by spark-submit: a signal to that reaches the JVM and not this code.
"""

import fcntl
import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from broker.common.clock import Clock
from broker.common.errors import NotNowError, StartupError
from broker.common.logs import logger
from broker.spark.cluster import connect_admin, create_topic
from broker.spark.config import StreamConfig
from broker.spark.progress import ProgressFile, progress_facts
from broker.spark.session import build_session
from broker.spark.sink import BatchSink, KafkaOutputTopic
from broker.spark.sink_state import SinkState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

HEARTBEAT_S = 1.0
TOPICS_TIMEOUT_S = 60.0
ERROR_LENGTH_MAX = 4_000

_log = logger("broker.spark")


def run_job(config: StreamConfig, stop: Event, clock: Clock) -> int:
    """Until `stop` is set (returns 0) or the query fails (returns 1). StartupError when the job cannot run here."""
    with _only_driver(config.directory):
        progress = ProgressFile(config.directory, clock, config.job)
        progress.write("starting")
        try:
            return _run(config, progress, stop)
        except Exception as error:
            progress.write("failed", error=str(error)[:ERROR_LENGTH_MAX])
            raise


def _run(config: StreamConfig, progress: ProgressFile, stop: Event) -> int:
    job = _load(config.job)
    if not _topics_exist(config, job, stop):
        progress.write("stopped")
        return 0
    shutil.rmtree(config.directory / "scratch", ignore_errors=True)
    spark = build_session(config.job, config.master, config.driver_memory, config.directory, config.ui_enable)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    try:
        return _follow(_start_query(spark, job, config), progress, stop)
    finally:
        spark.stop()


@contextmanager
def _only_driver(directory: Path) -> Iterator[None]:
    """Two drivers on one checkpoint would both write the same batches: the second one does not start."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "driver.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotNowError(f"Another driver is running the job in {directory}.") from None
        yield


def _load(job: str) -> ModuleType:
    match job:
        case "access_counts":
            from broker.spark.jobs import access_counts

            return access_counts
    raise StartupError(f"There is no stream job {job}.")


def _topics_exist(config: StreamConfig, job: ModuleType, stop: Event) -> bool:
    """Create what is missing, waiting for brokers. False when told to stop; StartupError after TOPICS_TIMEOUT_S."""
    admin = connect_admin({"bootstrap.servers": config.bootstrap_servers})
    deadline = time.monotonic() + TOPICS_TIMEOUT_S
    while not stop.is_set():
        try:
            create_topic(admin, config.input_topic, config.topic_partitions, {})
            create_topic(admin, config.output_topic, config.topic_partitions, job.OUTPUT_CONFIGS)
            return True
        except KafkaException as error:
            if time.monotonic() > deadline:
                raise NotNowError(f"{config.bootstrap_servers} gave no topics: {error.args[0].str()}.") from error
            stop.wait(1)
    return False


def _start_query(spark: "SparkSession", job: ModuleType, config: StreamConfig) -> "StreamingQuery":
    from broker.spark.source import BarnabasDataSource

    spark.dataSource.register(BarnabasDataSource)
    client = {"bootstrap.servers": config.bootstrap_servers}
    sink = BatchSink(KafkaOutputTopic(client, config.output_topic), SinkState(config.directory / "checkpoint" / "sink"))

    def write(changed: "DataFrame", batch: int) -> None:
        sink.write(batch, job.output_records(changed.toArrow()))

    records = (
        spark.readStream.format("barnabas")
        .option("kafka.bootstrap.servers", config.bootstrap_servers)
        .option("subscribe", config.input_topic)
        .option("startingOffsets", config.starting_offsets)
        .option("maxOffsetsPerTrigger", config.max_offsets_per_trigger)
        .option("failOnDataLoss", str(config.fail_on_data_loss).lower())
        .load()
    )
    # A window's count changes only when a record comes, so there is nothing to say in a batch without any.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    return (
        job.build(records, config)
        .writeStream.queryName(config.job)
        .outputMode("update")
        .trigger(processingTime=f"{config.trigger_interval_ms} milliseconds")
        .option("checkpointLocation", str(config.directory / "checkpoint"))
        .foreachBatch(write)
        .start()
    )


def _follow(query: "StreamingQuery", progress: ProgressFile, stop: Event) -> int:
    _log.info("query started", query=str(query.id), run=str(query.runId))
    while query.isActive and not stop.wait(HEARTBEAT_S):
        last = query.lastProgress
        progress.write("running", **progress_facts(json.loads(last.json) if last is not None else None))
    if query.isActive:
        query.stop()
    failure = query.exception()
    if failure is not None and not stop.is_set():
        _log.error("query failed", reason=str(failure))
        progress.write("failed", error=str(failure)[:ERROR_LENGTH_MAX])
        return 1
    _log.info("query stopped")
    progress.write("stopped")
    return 0

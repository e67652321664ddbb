"""The driver of one stream job: session, query, progress, and a clean end on SIGTERM.

Run as a Python process of its own, never by spark-submit: a signal to that reaches the JVM and not this code. What the
job needs and is away for a while (brokers, a partition without leader) is waited for without end, and `progress.json`
says what it is; the query then goes on from its checkpoint, as it would in a new driver.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import psutil
from confluent_kafka import KafkaError, KafkaException

from broker.common.clock import Clock
from broker.common.errors import BarnabasError, NotNowError, StartupError
from broker.common.logs import logger
from broker.spark.cluster import connect_admin, create_topic
from broker.spark.config import StreamConfig
from broker.spark.dead_letters import records_dead
from broker.spark.failures import Cure, cure_of, reason_of
from broker.spark.input_watch import InputWatch
from broker.spark.progress import (
    RECENT_EVERY_MS,
    ProgressFile,
    lag_by_partition,
    progress_facts,
    read_up_to,
    rows_after,
)
from broker.spark.query import NothingToRead, start_query
from broker.spark.session import build_session
from broker.spark.stopping import StopGuard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

HEARTBEAT_S = 1.0
#: Between two tries of a query that something away has ended.
RETRY_S = 5.0

#: Refusals that waiting does not mend.
_FINAL_REFUSALS = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_EXCEPTION,
        KafkaError._AUTHENTICATION,
    }
)

_log = logger("broker.spark")


def run_job(config: StreamConfig, stop: Event, clock: Clock) -> int:
    """Run the job until `stop` is set, then return 0.

    StartupError: an operator must act; NotNowError: a restart may help.
    """
    with _only_driver(config.directory):
        progress = ProgressFile(config.directory, clock, config.job)
        progress.write("starting")
        try:
            return _run(config, progress, stop, clock)
        except Exception as error:
            progress.write("failed", error=reason_of(str(error)))
            raise


def _run(config: StreamConfig, progress: ProgressFile, stop: Event, clock: Clock) -> int:
    if not _topics_exist(config, progress, stop):
        progress.write("stopped")
        return 0
    shutil.rmtree(config.directory / "scratch", ignore_errors=True)
    topics = config.definition.input_topics(config.settings)
    with StopGuard(stop, lambda: _end_at_once(progress)) as guard:
        with guard.starting():
            spark = build_session(
                config.job, config.master, config.driver_memory, config.directory, config.ui_enable, config.spark
            )
        try:
            with InputWatch(config.client, topics) as watch:
                return _run_queries(spark, config, JobReporter(progress, watch, clock), guard)
        finally:
            spark.stop()


def _end_at_once(progress: ProgressFile) -> None:
    """As `kill -9` would, with all children: what was under way is done again, and once, by the next driver."""
    try:
        _log.warning("stopped at once", reason="Spark was starting, or did not stop in time")
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        progress.write("stopped")
    finally:
        os._exit(0)


@contextmanager
def _only_driver(directory: Path) -> Iterator[None]:
    """Hold the checkpoint's lock: two drivers would both write the same batches, so the second one does not start."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "driver.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotNowError(f"Another driver is running the job in {directory}.") from None
        yield


def _topics_exist(config: StreamConfig, progress: ProgressFile, stop: Event) -> bool:
    """Create what is missing, waiting for brokers. False when told to stop; StartupError for a final refusal."""
    while not stop.is_set():
        try:
            make_topics(config)
            return True
        except KafkaException as error:
            reason = f"{config.bootstrap_servers} gave no topics: {error.args[0].str()}"
            if error.args[0].code() in _FINAL_REFUSALS:
                raise StartupError(f"{reason}.") from error
            progress.write("waiting", waiting_for=reason)
            stop.wait(1)
    return False


def make_topics(config: StreamConfig) -> None:
    """Create what the job needs and is not there; KafkaException when the cluster does not let it."""
    job, settings = config.definition, config.settings
    wanted: dict[str, dict[str, str]] = {topic: {} for topic in job.input_topics(settings)}
    outputs = job.output_topics(settings)
    wanted |= {topic: dict(job.output_configs) if topic == outputs[0] else {} for topic in outputs}
    admin = connect_admin(config.client)
    for topic, configs in wanted.items():
        create_topic(admin, topic, config.topic_partitions, configs)


def _run_queries(spark: "SparkSession", config: StreamConfig, report: "JobReporter", guard: StopGuard) -> int:
    """Run one query after the other, as long as waiting mends what ended it."""
    stop = guard.stop
    while not stop.is_set():
        try:
            with guard.starting():
                query = _start(spark, config)
        except _NotYet as delay:
            _wait(report, str(delay), stop)
            continue
        _log.info("query started", query=str(query.id), run=str(query.runId))
        failure = _follow(query, report, stop)
        if failure is None or stop.is_set():
            break
        cure, reason = cure_of(failure), reason_of(failure)
        if cure is Cure.WAITING:
            _log.warning("query waits", reason=reason, exception=failure)
            _wait(report, reason, stop)
            continue
        _log.error("query failed", reason=reason, exception=failure)
        raise StartupError(reason) if cure is Cure.A_PERSON else NotNowError(f"The query failed: {reason}")
    _log.info("query stopped")
    report.say("stopped")
    return 0


class _NotYet(BarnabasError):
    """A query cannot be started before something has passed by itself."""


def _start(spark: "SparkSession", config: StreamConfig) -> "StreamingQuery":
    """Raises _NotYet, and StartupError for a job that cannot be built."""
    from pyspark.errors import AnalysisException

    try:
        return start_query(spark, config)
    except NothingToRead as reason:
        raise _NotYet(str(reason)) from None
    except Exception as error:
        if cure_of(str(error)) is Cure.WAITING:
            _log.warning("query not started yet", reason=reason_of(str(error)), exc_info=True)
            raise _NotYet(reason_of(str(error))) from error
        if isinstance(error, ValueError | AnalysisException):
            raise StartupError(f"Job {config.job} cannot be built: {error}") from error
        raise


def _follow(query: "StreamingQuery", report: "JobReporter", stop: Event) -> str | None:
    """Follow the query; return why it ended; None: it was told to."""
    while query.isActive and not stop.wait(HEARTBEAT_S):
        report.running(query)
    if query.isActive:
        query.stop()
    report.log_dead_records(_reports(query))
    failure = query.exception()
    return None if failure is None else str(failure)


def _reports(query: "StreamingQuery") -> list[dict[str, Any]]:
    return [json.loads(item.json) for item in query.recentProgress]


def _wait(report: "JobReporter", reason: str, stop: Event) -> None:
    deadline = time.monotonic() + RETRY_S
    while time.monotonic() < deadline and not stop.wait(HEARTBEAT_S):
        report.say("waiting", waiting_for=reason)


class JobReporter:
    """Puts together what the query and the watch know, every second; and a point for the chart now and then."""

    def __init__(self, progress: ProgressFile, watch: InputWatch, clock: Clock):
        self._progress = progress
        self._watch = watch
        self._clock = clock
        self._point_ms = clock.now_ms()
        self._batch = self._told_of = -1
        self._ends_sum: int | None = None

    def say(self, state: str, **facts: object) -> None:
        self._progress.write(state, **facts)

    def running(self, query: "StreamingQuery") -> None:
        reports = _reports(query)
        self.log_dead_records(reports)
        last = reports[-1] if reports else None
        position, ends = read_up_to(last), self._watch.ends
        lags = lag_by_partition(position, ends) if position and ends else None
        lag = sum(sum(lag.values()) for lag in lags.values()) if lags else None
        self._add_point(reports, lag)
        facts = progress_facts(last) | {"lag": lag, "lags": lags, "error": ""}
        trouble = self._watch.trouble
        self.say("waiting" if trouble else "running", waiting_for=trouble, doing=query.status["message"], **facts)

    def log_dead_records(self, reports: list[dict[str, Any]]) -> None:
        """Log one line for each batch with records that the job could not use."""
        for report in reports:
            if report["batchId"] > self._told_of and (dead := records_dead(report)):
                in_all = self._progress.add_dead(dead)
                _log.warning("records put aside", batch=report["batchId"], records=dead, in_all=in_all)
            self._told_of = max(self._told_of, report["batchId"])

    def _add_point(self, reports: list[dict[str, Any]], lag: int | None) -> None:
        now_ms = self._clock.now_ms()
        elapsed_s = (now_ms - self._point_ms) / 1000
        if elapsed_s * 1000 < RECENT_EVERY_MS:
            return
        ends_sum = sum(self._watch.ends.values()) if self._watch.ends else None
        arrived = None if ends_sum is None or self._ends_sum is None else max(0, ends_sum - self._ends_sum) / elapsed_s
        newest = reports[-1]["batchId"] if reports else self._batch
        processed = rows_after(self._batch, reports) / elapsed_s
        self._progress.add_point({"at_ms": now_ms, "arrived": arrived, "processed": round(processed, 1), "lag": lag})
        self._point_ms, self._batch, self._ends_sum = now_ms, newest, ends_sum

"""A driver goes on as long as waiting helps, says what it waits for, and ends with one sentence when it does not."""

from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace

import pytest

from broker.common.errors import NotNowError, StartupError
from broker.spark import job
from broker.spark.job import _run_queries
from broker.spark.query import NothingToRead

SLOW_WORKER = "org.apache.spark.SparkException: Python worker failed to connect back.\n\tat org.apache.spark"
AWAY = "[STREAM_FAILED] Traceback (most recent call last):\n  File\nTimeoutError: no leader of visits-0\n\tat java"
CUT = "[STREAM_FAILED] Traceback:\nbroker.spark.offsets.DataLossError: visits-0 was cut. Set fail.on.data.loss=false."
BROKEN = "[STREAM_FAILED] Traceback (most recent call last):\nZeroDivisionError: division by zero\n\tat java"


class Report:
    """What the console would be shown, in order."""

    def __init__(self) -> None:
        self.states: list[tuple[str, str]] = []

    def say(self, state: str, waiting_for: str = "", error: str = "") -> None:
        if not self.states or self.states[-1] != (state, waiting_for or error):
            self.states.append((state, waiting_for or error))


class Script:
    """Each start is an exception, or how its query ends: None means that somebody stops the job."""

    def __init__(self, monkeypatch, *starts: Exception | str | None):
        self.starts = list(starts)
        self.report, self.stop = Report(), Event()
        monkeypatch.setattr(job, "start_query", self._start)
        monkeypatch.setattr(job, "_follow", lambda query, *_: query.end)
        monkeypatch.setattr(job, "RETRY_S", 0.01)
        monkeypatch.setattr(job, "HEARTBEAT_S", 0.001)

    def run(self) -> int:
        guard = SimpleNamespace(stop=self.stop, starting=nullcontext)
        return _run_queries(None, SimpleNamespace(job="counts"), self.report, guard)

    def _start(self, *_arguments) -> SimpleNamespace:
        then = self.starts.pop(0)
        if isinstance(then, Exception):
            raise then
        return SimpleNamespace(id="q", runId="r", end=then)


def test_partition_that_stays_away_is_waited_for_and_named_however_often(monkeypatch):
    script = Script(monkeypatch, AWAY, RuntimeError(AWAY), AWAY, None)
    assert script.run() == 0
    assert script.report.states == [("waiting", "no leader of visits-0"), ("stopped", "")]
    assert script.starts == []


def test_start_that_was_too_slow_for_spark_is_tried_again_with_its_reason(monkeypatch):
    script = Script(monkeypatch, RuntimeError(SLOW_WORKER), SLOW_WORKER, None)
    assert script.run() == 0
    reason = "a Python worker of Spark did not start within the ten seconds that Spark gives it"
    assert script.report.states == [("waiting", reason), ("stopped", "")]


def test_what_only_a_person_can_cure_ends_it_with_a_sentence_that_names_the_jobs_own_key(monkeypatch):
    with pytest.raises(StartupError) as ended:
        Script(monkeypatch, CUT).run()
    assert str(ended.value) == "visits-0 was cut. Set fail.on.data.loss=false."
    assert ended.value.exit_status == 78


def test_what_a_new_driver_may_cure_ends_it_with_a_sentence(monkeypatch):
    with pytest.raises(NotNowError) as ended:
        Script(monkeypatch, BROKEN).run()
    assert str(ended.value) == "The query failed: ZeroDivisionError: division by zero"
    assert ended.value.exit_status == 1


def test_job_that_cannot_be_built_is_a_sentence(monkeypatch):
    with pytest.raises(StartupError, match="Job counts cannot be built: no such column"):
        Script(monkeypatch, ValueError("no such column")).run()


def test_who_is_told_to_stop_while_it_waits_stops(monkeypatch):
    script = Script(monkeypatch, NothingToRead("there is no Parquet file in x yet"))
    monkeypatch.setattr(job, "_wait", lambda *_: script.stop.set())
    assert script.run() == 0
    assert script.report.states == [("stopped", "")]

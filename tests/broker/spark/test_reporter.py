"""What a driver tells of its query: in the log, and in the file that the console reads."""

import json
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from broker.spark import job
from broker.spark.job import JobReporter
from broker.spark.progress import ProgressFile
from tests.manual_clock import ManualClock


class Query:
    """As much of a StreamingQuery as is looked at."""

    def __init__(self) -> None:
        self.recentProgress = []
        self.status = {"message": "Waiting for data"}

    def finish_batch(self, number: int, read: int, dead: int) -> None:
        report = {"batchId": number, "observedMetrics": {"sifted.input": {"read": read, "dead": dead}}}
        self.recentProgress.append(SimpleNamespace(json=json.dumps(report)))


@pytest.fixture
def reporter(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "_log", job.logger("broker.spark.test"))
    watch = SimpleNamespace(ends={}, trouble="")
    return JobReporter(ProgressFile(tmp_path, ManualClock(), "dedupe"), watch, ManualClock())


def test_records_put_aside_are_told_once_for_each_batch(reporter, tmp_path):
    query = Query()
    with capture_logs() as logged:
        query.finish_batch(0, read=10, dead=0)
        reporter.running(query)
        query.finish_batch(1, read=10, dead=2)
        query.finish_batch(2, read=10, dead=1)
        reporter.running(query)
        reporter.running(query)
    lines = [
        (line["batch"], line["records"], line["in_all"]) for line in logged if line["event"] == "records put aside"
    ]
    assert lines == [(1, 2, 2), (2, 1, 3)]
    assert json.loads((tmp_path / "progress.json").read_text())["dead_records"] == 3

"""How far a job is, from what Spark reports and where the topics end."""

import json

from broker.common.types import TopicPartition
from broker.spark.dead_letters import records_dead, records_read
from broker.spark.progress import (
    RECENT_POINTS,
    ProgressFile,
    lag_by_partition,
    progress_facts,
    read_up_to,
    rows_after,
)
from tests.manual_clock import ManualClock

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_lag_is_what_lies_between_position_and_end():
    assert lag_by_partition({P0: 5}, {P0: 9, P1: 3}) == {"t": {"0": 4, "1": 3}}
    assert lag_by_partition({P0: 9}, {P0: 5}) == {"t": {"0": 0}}, "the end is from an earlier look"


def test_position_is_taken_from_every_source_that_is_a_topic():
    files, topic = {"endOffset": {"logOffset": 3}}, {"endOffset": {"t": {"0": 7}}}
    assert read_up_to({"sources": [files, topic, {"endOffset": None}]}) == {P0: 7}
    assert read_up_to(None) == {}


def test_rows_of_batches_already_counted_do_not_count_again():
    reports = [{"batchId": batch, "numInputRows": 10} for batch in range(5)]
    assert rows_after(2, reports) == 20
    assert rows_after(-1, reports) == 50


def test_records_are_counted_as_the_job_counts_them_where_it_does():
    """Spark counts what is read a second time, for the dead letters, a second time."""
    sides = {"sifted.left": {"read": 10, "dead": 1}, "sifted.right": {"read": 5, "dead": 0}, "other": {"rows": 7}}
    report = {"batchId": 1, "numInputRows": 30, "observedMetrics": sides}
    assert (rows_after(0, [report]), progress_facts(report)["input_rows"], records_dead(report)) == (15, 15, 1)
    assert (records_read({"numInputRows": 3}), records_dead({"numInputRows": 3})) == (3, 0)


def test_records_that_could_not_be_used_are_added_up_from_driver_to_driver(tmp_path):
    for in_all in (3, 6):
        progress = ProgressFile(tmp_path, ManualClock(), "dedupe")
        assert progress.add_dead(3) == in_all
        progress.write("running")
    assert json.loads((tmp_path / "progress.json").read_text())["dead_records"] == 6


def test_state_of_all_operators_is_added_up():
    operators = [{"numRowsTotal": 3, "memoryUsedBytes": 100}, {"numRowsTotal": 4, "memoryUsedBytes": 50}]
    facts = progress_facts({"stateOperators": operators, "eventTime": {"watermark": "2026-01-01T00:00:00.000Z"}})
    assert (facts["state_rows"], facts["state_bytes"]) == (7, 150)
    assert facts["watermark"] == "2026-01-01T00:00:00.000Z"


def test_recent_past_is_bounded_and_outlives_the_driver(tmp_path):
    for _ in range(2):
        progress = ProgressFile(tmp_path, ManualClock(), "dedupe")
        for number in range(RECENT_POINTS):
            progress.add_point({"at_ms": number})
        progress.add_point({"at_ms": 999})
        progress.write("running")
    recent = json.loads((tmp_path / "progress.json").read_text())["recent"]
    assert (len(recent), recent[-1]) == (RECENT_POINTS, {"at_ms": 999})
    ProgressFile(tmp_path, ManualClock(), "dedupe").write("starting")
    assert json.loads((tmp_path / "progress.json").read_text())["recent"] == recent

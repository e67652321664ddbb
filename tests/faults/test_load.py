"""A wait for progress that fails names the producers that wait, and what for."""

import pytest

from tests.barnabas_cluster import await_true
from tests.broker.connect.mock_cluster import mock_cluster
from tests.faults import load
from tests.faults.history import HistoryWriter
from tests.faults.load import Load, ProducerPlan


@pytest.fixture
def history(tmp_path):
    writer = HistoryWriter(tmp_path / "history")
    yield writer
    writer.close()


def test_a_producer_that_makes_no_progress_is_named_with_what_it_waits_for(history, monkeypatch):
    monkeypatch.setattr(load, "_LEADERS_S", 0.2)
    monkeypatch.setattr(load, "_FLUSH_DEADLINE_S", 0)
    stuck = Load([ProducerPlan("p-all", "kept", 1, acks="all")], "127.0.0.1:1", history, 1)
    stuck.start()
    await_true(lambda: stuck._producers[0]._outstanding, "a record is on its way", 20)
    with pytest.raises(AssertionError) as failure:
        stuck.await_progress(0.2)
    stuck.stop()
    message = str(failure.value)
    assert message.startswith(
        "not within 0.2 s: every producer makes progress; producer p-all (acks all) on kept: 0 records"
    )
    assert "for partition 0; last error: none; partitions led: no broker says who leads (_TRANSPORT)" in message


def test_leaders_of_the_partitions_are_named(history):
    with mock_cluster("kept") as cluster:
        loaded = Load([ProducerPlan("p-all", "kept", 1, acks="all")], cluster.bootstrap_servers, history, 1)
        loaded.start()
        loaded.await_progress(20)
        assert "partitions led: 0 by 1 isr [1]" in loaded._producers[0].waits_for()
        loaded.stop()

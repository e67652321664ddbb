from broker.connect.plugins.datagen_source import DatagenTask
from broker.connect.plugins.heartbeat_source import HeartbeatTask
from broker.connect.plugins.host_metrics_source import HostMetricsTask
from tests.broker.connect.plugins.runner import SourceContext, polled, started


def test_beats_are_numbered_and_go_on_after_a_restart():
    context = SourceContext()
    props = {"topic": "beats", "interval.ms": "10"}
    first = polled(started(HeartbeatTask(), props, context), 2)
    context.store(first)
    again = polled(started(HeartbeatTask(), props, context), 1)
    assert [item.value["beat"] for item in [*first, *again]] == [1, 2, 3]


def test_a_stopped_task_gives_nothing():
    task = started(HeartbeatTask(), {"topic": "beats", "interval.ms": "10"}, SourceContext())
    task.stop()
    assert task.poll() == []


def test_the_host_is_measured_under_its_name():
    (record,) = polled(started(HostMetricsTask(), {"topic": "host.metrics"}, SourceContext()), 1)
    assert record.key == record.value["host"]
    assert record.value["memory"]["total"] > 0


def test_made_up_orders_are_the_same_after_a_restart_and_end_where_told():
    props = {"topic": "orders", "interval.ms": "1", "batch.size": "4", "iterations": "6"}
    context = SourceContext()
    whole = polled(started(DatagenTask(), props, SourceContext()), 6)
    first = started(DatagenTask(), props, context).poll()
    context.store(first[:2])
    again = polled(started(DatagenTask(), props, context), 5, polls=5)
    assert [dict(item.value) for item in [*first[:2], *again]] == [dict(item.value) for item in whole]
    assert len(whole) == 6

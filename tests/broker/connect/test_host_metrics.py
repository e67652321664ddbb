"""One measurement per interval, of this machine, and no heap of old ones after a pause."""

import json
import platform

import psutil

from broker.connect.host_metrics import HostMetricsSource

NOW = 1_700_000_000_000


def test_one_record_per_interval_and_none_made_up_for():
    source = HostMetricsSource("host.metrics", interval_ms=1_000)
    source.start({})
    times = [NOW, NOW + 999, NOW + 1_000, NOW + 1_500, NOW + 9_700, NOW + 9_800, NOW + 10_000]
    assert [len(source.poll(at)) for at in times] == [0, 0, 1, 0, 1, 0, 1]


def test_record_describes_this_machine():
    source = HostMetricsSource("host.metrics")
    source.start({})
    source.poll(NOW)
    (record,) = source.poll(NOW + 1_000)
    value = json.loads(record.value)
    assert (record.topic, record.key) == ("host.metrics", platform.node().encode())
    assert record.source_offset is None
    assert value["time_ms"] == NOW + 1_000
    assert len(value["cpu_percent"]) == psutil.cpu_count()
    assert value["memory"]["total"] == psutil.virtual_memory().total
    assert set(value["load"]) == {"1m", "5m", "15m"}
    assert {"disk_io", "net_io", "swap", "host"} <= set(value)

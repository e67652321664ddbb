"""What open pages of a broker hear: a part of it when that reads differently, and to fetch themselves when it moved."""

import pytest

from console.cluster.brokers.feature import broker_group


@pytest.fixture
def pushed(monkeypatch):
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("console.cluster.brokers.announce.send_now", sent.extend)
    return sent


@pytest.mark.usefixtures("listeners")
def test_a_part_is_pushed_once_and_again_when_it_reads_differently(cluster, collect, collector, pushed):
    cluster.create_topic("orders", 1, 1)
    collect()
    collector.look("sizes")
    assert sum('id="broker-log-dirs"' in html for name, html in pushed if name == broker_group(1)) == 1
    pushed.clear()
    collector.look("sizes")
    assert pushed == []
    cluster.brokers.failed_dirs.add(1)
    collector.look("sizes")
    assert {name for name, _ in pushed} == {broker_group(1)}


@pytest.mark.usefixtures("listeners")
def test_pages_that_list_partitions_fetch_themselves_when_a_leader_moved(cluster, collect, collector, pushed):
    cluster.create_topic("orders", 1, 2)
    collect()
    collector.look("requests")
    pushed.clear()
    cluster.move_leader("orders", 0, 2)
    collect()
    collector.look("requests")
    groups = {name for name, html in pushed if 'id="live-resync"' in html}
    assert groups == {broker_group(1), broker_group(2)}

"""A broker one of whose disks is gone."""

import shutil
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from tests.barnabas_cluster import await_true


def test_partitions_of_a_disk_that_is_gone_are_led_no_more_and_the_others_are(tmp_path, two_disks):
    admin, broker = AdminClient({"bootstrap.servers": two_disks.bootstrap_servers}), two_disks.broker(1)
    admin.create_topics([NewTopic("t", 4, 1)])["t"].result(30)
    await_true(lambda: "barnabas_broker_leaders 4.0" in broker.get("/metrics"), "all are led")
    await_true(lambda: _gone(tmp_path / "one"), "the disk is gone, though its broker goes on writing")
    await_true(lambda: "barnabas_broker_leaders 2.0" in broker.get("/metrics"), "half of them is given up")
    assert "barnabas_broker_partitions 4.0" in broker.get("/metrics")


def _gone(disk: Path) -> bool:
    shutil.rmtree(disk, ignore_errors=True)
    return not disk.exists()

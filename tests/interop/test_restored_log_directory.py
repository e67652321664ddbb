"""A broker's log directory brought back whole from an older backup, while all brokers were down."""

import contextlib
import shutil

import pytest
from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.barnabas_cluster import await_true
from tests.interop.replicas import leader_of
from tests.interop.test_restart import acknowledged, restart, stored
from tests.interop.test_topic_ids import await_in_sync, create


@pytest.mark.long
@pytest.mark.parametrize("stop", ["kill", "stop"])
def test_a_log_directory_from_a_backup_does_not_empty_the_other_replicas(three_brokers, tmp_path, stop):
    """Killed together, the others are waited for; stopped last, the broker is alone in the ISR and leads nothing until
    a replica is elected.
    """
    cluster, first = three_brokers, three_brokers.broker(1)
    create(cluster, "t")
    written = acknowledged(cluster, "t", 100)
    first.stop()
    shutil.copytree(first.directory / "logs", tmp_path / "backup")
    first.start()
    first.await_healthy()
    await_in_sync(cluster, "t")
    written |= acknowledged(cluster, "t", 100, start=100)
    for broker in reversed(cluster.brokers):
        getattr(broker, stop)()
    shutil.rmtree(first.directory / "logs")
    (tmp_path / "backup").rename(first.directory / "logs")
    first.start()
    first.await_healthy()
    for broker in cluster.brokers[1:]:
        broker.start()
    for broker in cluster.brokers[1:]:
        broker.await_healthy()
    if stop == "stop":
        await_true(lambda: "no other replica was in sync" in first.log_path.read_text(), "the first broker says why")
        assert leader_of(cluster, "t") == -1
        elect(cluster, "t")
    await_in_sync(cluster, "t")
    assert stored(cluster, "t", 1, 200) == written
    restart(first, hard=True)
    await_in_sync(cluster, "t")
    assert first.log_path.read_text().count("a backup was restored. Its logs") == 1, "the next start doubts nothing"
    assert stored(cluster, "t", 1, 200) == written


def elect(cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})

    def is_elected() -> bool:
        with contextlib.suppress(KafkaException):
            admin.elect_leaders(ElectionType.UNCLEAN, [TopicPartition(topic, 0)]).result(10)
        return leader_of(cluster, topic) > 1

    await_true(is_elected, "a replica that is not from the backup leads")

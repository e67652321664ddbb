"""Whether a broker may restart now, in one word of the list of brokers."""

import pytest

from console.cluster.brokers.restart_safety import restart_word, with_restart_safety
from console.processes.guard import Absence, Hosted
from console.state.clusters.models import Broker

PARTITION = Hosted("orders", 0, (1, 2), (1, 2), 1, 2)


@pytest.mark.parametrize(
    ("absence", "word", "tone"),
    [
        (Absence(broker_id=1, thinner=4), "safe", "ok"),
        (Absence(broker_id=1, below=(PARTITION,)), "1 refuses acks=all", "warning"),
        (Absence(broker_id=1, below=(PARTITION, PARTITION)), "2 refuse acks=all", "warning"),
        (Absence(broker_id=1, below=(PARTITION,), offline=(PARTITION, PARTITION)), "2 offline", "critical"),
        (Absence(broker_id=1, unknown=(PARTITION,)), "unknown", "plain"),
        (Absence(broker_id=1, is_doubtful=True), "unknown", "plain"),
        (Absence(broker_id=1, offline=(PARTITION,), is_doubtful=True), "unknown", "plain"),
    ],
)
def test_the_word_is_the_worst_that_becomes_of_a_partition(absence, word, tone):
    assert restart_word(absence)[:2] == (word, tone)


@pytest.fixture
def words(collect, clock, monkeypatch):
    """words(): the word of each broker, as the guard sees the cluster that was just read."""

    monkeypatch.setattr("console.processes.consequences.now_ms", clock.now_ms)

    def read() -> dict[int, str]:
        collect()
        return {broker.broker_id: broker.restart_word for broker in with_restart_safety(Broker.objects.all())}

    return read


def test_a_broker_with_the_only_replica_takes_its_partition_away(cluster, words):
    cluster.create_topic("alone", 1, 1)
    cluster.place_replicas("alone", 0, (2,))
    assert words() == {1: "safe", 2: "1 offline", 3: "safe"}


def test_with_a_broker_away_the_others_are_judged_without_it(cluster, words):
    cluster.create_topic("orders", 1, 3)
    cluster.change_topic_settings("orders", {"min.insync.replicas": "2"})
    assert words() == {1: "safe", 2: "safe", 3: "safe"}
    cluster.stop_broker(3)
    assert words() == {1: "1 refuses acks=all", 2: "1 refuses acks=all", 3: ""}

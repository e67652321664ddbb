from console.state.clusters.tally import ClusterTally
from console.state.clusters.topic_rows import PartitionRow, TopicRow

LED = PartitionRow(0, 1, 0, (1, 2), (1,), 0, 0, 0.1)
LEADERLESS = PartitionRow(1, None, 0, (2, 3), (2,), 0, 0, None)
FINE = PartitionRow(2, 3, 0, (3, 1), (3, 1), 0, 0, 0.2)


def tally_of(*looks: dict[str, TopicRow]) -> ClusterTally:
    tally = ClusterTally()
    for look in looks:
        tally.look(look)
    return tally


def topic(name: str, *partitions: PartitionRow, is_internal: bool = False) -> dict[str, TopicRow]:
    return {name: TopicRow(name, "", is_internal, partitions)}


def test_replicas_are_counted_per_broker():
    counts = tally_of(topic("orders", LED, LEADERLESS)).by_broker()

    summary = {n: (item.leader_count, item.replica_count, item.out_of_sync_count) for n, item in counts.items()}
    assert summary == {1: (1, 1, 0), 2: (0, 2, 1), 3: (0, 1, 1)}


def test_internal_topics_do_not_count_as_messages_in():
    rows = topic("orders", FINE) | topic("__consumer_offsets", LED, is_internal=True)

    assert tally_of(rows).records_per_second == 0.2
    assert tally_of(rows).by_broker()[1].records_per_second == 0.1


def test_a_broker_that_is_named_no_more_is_not_counted():
    assert tally_of(topic("orders", LED), topic("orders", FINE)).by_broker().keys() == {1, 3}


def test_trouble_is_over_when_its_topic_is_gone():
    fine = topic("clicks", FINE)

    assert tally_of(fine | topic("orders", LED)).is_troubled
    assert tally_of(topic("orders", LEADERLESS)).is_troubled
    assert not tally_of(fine | topic("orders", LED, LEADERLESS), fine).is_troubled


def test_without_a_known_rate_there_is_none():
    assert tally_of(topic("orders", LEADERLESS)).records_per_second is None
    assert tally_of(topic("orders", FINE), {}).records_per_second is None

"""The sentence before a stop is honest about each partition."""

from console.processes.consequences import Hosted, age_sentence, stop_broker_sentence


def test_only_replica_goes_offline():
    partitions = [Hosted((2,), (2,), 2), Hosted((1,), (1,), 1)]
    assert stop_broker_sentence(2, partitions) == (
        "Stops broker 2: 1 partition it leads has no other replica in sync and will be offline until it is back."
    )


def test_replica_out_of_sync_does_not_take_over():
    assert "1 partition it leads has no other replica in sync" in stop_broker_sentence(2, [Hosted((2, 3), (2,), 2)])


def test_leader_moves_and_follower_thins():
    partitions = [Hosted((2, 3), (2, 3), 2), Hosted((3, 2), (3, 2), 3), Hosted((1, 2), (1, 2), 1)]
    assert stop_broker_sentence(2, partitions) == (
        "Stops broker 2: 1 partition will be led by another broker; 2 partitions will have one replica less."
    )


def test_broker_without_partitions_says_so():
    assert stop_broker_sentence(2, [Hosted((1,), (1,), 1)]) == "Stops broker 2: it holds no partition."


def test_old_knowledge_is_called_old():
    assert age_sentence(200_000, 197_000) == ""
    assert age_sentence(200_000, 88_000) == "This was seen 1 m 52 s ago and may have changed."


def test_cluster_never_seen_is_admitted():
    assert "has not seen the cluster yet" in age_sentence(200_000, 0)

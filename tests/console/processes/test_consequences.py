"""The sentence before a stop is honest about each partition."""

from console.processes.consequences import Hosted, age_sentence, stop_broker_sentence, stop_zookeeper_sentence


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


def server(port: int, mode: str = "follower", error: str = "") -> dict:
    return {"address": f"127.0.0.1:{port}", "mode": "" if error else mode, "error": error}


def test_a_zookeeper_alone_is_missed_by_all():
    assert stop_zookeeper_sentence(2181, [server(2181, "leader")]) == ""
    assert stop_zookeeper_sentence(2181, []) == ""


def test_one_of_three_zookeeper_members_is_spared():
    three = [server(2181, "leader"), server(2182), server(2183)]
    assert stop_zookeeper_sentence(2182, three) == (
        "Stops one of 3 ZooKeeper members: the others go on, none of them may fail then."
    )
    assert "elect a leader" in stop_zookeeper_sentence(2181, three)


def test_the_member_that_makes_the_quorum_is_not_spared():
    assert stop_zookeeper_sentence(2182, [server(2181, "leader"), server(2182), server(2183, error="down")]) == ""


def test_a_member_that_is_down_already_is_not_counted_twice():
    three = [server(2181, "leader"), server(2182), server(2183, error="down")]
    assert "the others go on" in stop_zookeeper_sentence(2183, three)


def test_a_zookeeper_server_outside_of_the_ensemble_is_not_missed():
    assert "no member" in stop_zookeeper_sentence(2184, [server(2181, "leader")])

"""Reasons first: each trouble as a sentence an operator can act on."""

from console.clusters.health import NAME_LENGTH_MAX, Facts, Level, TroubledPartition, assess

WELL = Facts(is_seen=True, controller_id=1, zookeeper_count=1)


def facts(**changed) -> Facts:
    return Facts(**{"is_seen": True, "controller_id": 1, "zookeeper_count": 1, **changed})


def leaderless(topic: str, *replicas: int) -> TroubledPartition:
    return TroubledPartition(topic, False, replicas, replicas[:1])


def lagging(topic: str, replicas: tuple[int, ...], isr: tuple[int, ...]) -> TroubledPartition:
    return TroubledPartition(topic, True, replicas, isr)


def sentences(**changed) -> list[str]:
    return [reason.text for reason in assess(facts(**changed)).reasons]


def test_a_well_cluster_needs_no_reason():
    assert assess(WELL).level == Level.OK
    assert assess(WELL).reasons == ()


def test_a_cluster_never_seen_is_unknown_not_well():
    assert assess(Facts(is_seen=False)).level == Level.UNKNOWN


def test_a_missing_broker_names_what_lost_its_leader():
    health = assess(facts(missing=frozenset({2}), troubled=(leaderless("orders", 2),) * 3))

    assert health.level == Level.CRITICAL
    assert health.reasons[0].text == "Broker 2 is not registered: 3 partitions of orders have no leader."


def test_a_missing_broker_whose_partitions_have_other_leaders_is_a_warning():
    health = assess(facts(missing=frozenset({2}), troubled=(lagging("orders", (1, 2), (1,)),)))

    assert health.level == Level.WARNING
    assert health.reasons[0].text == "Broker 2 is not registered: 1 partition of orders is under-replicated."


def test_a_missing_broker_without_replicas_is_still_named():
    assert sentences(missing=frozenset({3})) == ["Broker 3 is not registered."]


def test_partitions_in_trouble_for_another_reason_stand_alone():
    troubled = (leaderless("orders", 1), lagging("payments", (1, 2), (1,)), lagging("payments", (2, 1), (2,)))

    assert sentences(troubled=troubled) == [
        "1 partition of orders has no leader, though every replica's broker is registered.",
        "2 partitions of payments are under-replicated: a replica is out of sync.",
    ]


def test_many_topics_are_counted_with_kafkas_own_last():
    troubled = tuple(leaderless(topic, 2) for topic in ("__consumer_offsets", "b", "a", "c"))

    assert sentences(missing=frozenset({2}), troubled=troubled) == [
        "Broker 2 is not registered: 4 partitions of a, b and 2 other topics have no leader."
    ]


def test_a_very_long_name_is_cut():
    (text,) = sentences(troubled=(leaderless("n" * 249, 1),))

    assert "n" * NAME_LENGTH_MAX + "…" in text
    assert "n" * (NAME_LENGTH_MAX + 1) not in text


def test_no_controller_says_what_cannot_be_done():
    health = assess(facts(controller_id=None))

    assert health.level == Level.CRITICAL
    assert "no controller" in health.reasons[0].text


def test_unreachable_brokers_come_with_their_error_and_no_guess_about_the_controller():
    assert sentences(brokers_error="No broker answered in time.", controller_id=None) == [
        "The brokers cannot be asked: No broker answered in time."
    ]


def test_losing_a_minority_of_zookeeper_is_a_warning_and_a_majority_is_critical():
    one = assess(facts(zookeeper_count=3, zookeeper_errors={"a:2181": "does not answer"}))
    two = assess(facts(zookeeper_count=3, zookeeper_errors={"a:2181": "does not answer", "b:2181": "has no quorum"}))

    assert (one.level, two.level) == (Level.WARNING, Level.CRITICAL)
    assert one.reasons[0].text == "ZooKeeper a:2181 does not answer."
    assert "no leader can be elected until it is back" in two.reasons[0].text


def test_the_worst_reason_stands_first_and_decides():
    health = assess(facts(missing=frozenset({9}), troubled=(leaderless("orders", 1),)))

    assert [reason.level for reason in health.reasons] == [Level.CRITICAL, Level.WARNING]
    assert health.level == Level.CRITICAL

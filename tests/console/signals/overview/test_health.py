"""Reasons first: each trouble as a sentence an operator can act on."""

from console.signals.overview.health import (
    HealthFacts,
    HealthLevel,
    Quiet,
    TightDirectory,
    TroubledGroup,
    TroubledPartition,
    TroubledProcess,
)
from console.signals.overview.reasons import NAME_LENGTH_MAX, assess
from console.state.clusters.outage import Outage

WELL = HealthFacts(is_seen=True, controller_id=1, zookeeper_count=1)


def facts(**changed) -> HealthFacts:
    return HealthFacts(**{"is_seen": True, "controller_id": 1, "zookeeper_count": 1, **changed})


def leaderless(topic: str, *replicas: int) -> TroubledPartition:
    return TroubledPartition(topic, False, replicas, replicas[:1])


def lagging(topic: str, replicas: tuple[int, ...], isr: tuple[int, ...]) -> TroubledPartition:
    return TroubledPartition(topic, True, replicas, isr)


def sentences(**changed) -> list[str]:
    return [reason.text for reason in assess(facts(**changed)).reasons]


def test_a_well_cluster_needs_no_reason():
    assert assess(WELL).level == HealthLevel.OK
    assert assess(WELL).reasons == ()


def test_a_cluster_never_seen_is_unknown_not_well():
    assert assess(HealthFacts(is_seen=False)).level == HealthLevel.UNKNOWN


def test_a_missing_broker_names_what_lost_its_leader():
    health = assess(facts(missing=frozenset({2}), troubled=(leaderless("orders", 2),) * 3))

    assert health.level == HealthLevel.CRITICAL
    assert health.reasons[0].text == "Broker 2 is not registered: 3 partitions of orders have no leader."


def test_a_missing_broker_whose_partitions_have_other_leaders_is_a_warning():
    health = assess(facts(missing=frozenset({2}), troubled=(lagging("orders", (1, 2), (1,)),)))

    assert health.level == HealthLevel.WARNING
    assert health.reasons[0].text == "Broker 2 is not registered: 1 partition of orders is under-replicated."


def test_a_missing_broker_without_replicas_is_still_named():
    assert sentences(missing=frozenset({3})) == ["Broker 3 is not registered."]


def test_partitions_in_trouble_for_another_reason_stand_alone():
    troubled = (leaderless("orders", 1), lagging("payments", (1, 2), (1,)), lagging("payments", (2, 1), (2,)))

    assert sentences(troubled=troubled) == [
        "1 partition of orders has no leader, though every replica's broker is registered.",
        "2 partitions of payments are under-replicated: a replica is out of sync.",
    ]


def test_a_partition_whose_state_was_removed_waits_for_the_logs_of_its_replicas():
    (reason,) = assess(facts(troubled=(TroubledPartition("orders", False, (1, 2), ()),))).reasons
    assert reason.level == HealthLevel.CRITICAL
    assert "state was removed from ZooKeeper: start all its brokers" in reason.action.text


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

    assert health.level == HealthLevel.CRITICAL
    assert "no controller" in health.reasons[0].text


def unread(cause: str = "No broker answered in time.") -> Outage:
    return Outage(cause, "k1:9092", 700_000, 1_000_000)


def unreachable(cause: str = "No broker answered in time.", **changed) -> HealthFacts:
    outage = unread(cause)
    return facts(brokers_outage=outage, outage=outage, groups_outage=outage, **changed)


def test_a_cluster_that_cannot_be_read_is_unknown_with_what_was_tried_and_the_age_of_its_data():
    health = assess(unreachable(controller_id=None))

    (reason,) = health.reasons
    assert (health.level, reason.level) == (HealthLevel.UNKNOWN, HealthLevel.UNKNOWN)
    assert reason.text == "The state of this cluster is unknown: No broker answered in time."
    assert reason.evidence.replace("\u202f", " ") == "Last read 5 min ago · tried k1:9092"
    assert reason.since_ms == 700_000


def test_what_was_stored_of_a_cluster_that_cannot_be_read_is_no_reason():
    stale = {
        "missing": frozenset({2}),
        "flapping": {3: 4},
        "troubled": (leaderless("orders", 1),),
        "directories": (TightDirectory(1, "/data", is_full=True),),
        "groups": (group(),),
        "groups_count": 1,
    }
    assert len(assess(facts(**stale)).reasons) == 5
    assert [reason.key for reason in assess(unreachable(**stale)).reasons] == ["brokers unreachable"]


def test_a_dead_process_is_known_also_while_the_cluster_is_not():
    dead = TroubledProcess("broker-2", "failed", "gave up after 3 tries", is_lost=True, broker_id=2)
    health = assess(unreachable(missing=frozenset({2}), processes=(dead,)))

    assert [reason.level for reason in health.reasons] == [HealthLevel.CRITICAL, HealthLevel.UNKNOWN]


def test_a_muted_outage_does_not_make_an_unknown_cluster_healthy():
    muted = Quiet("brokers unreachable", "muted", HealthLevel.UNKNOWN, 0, (), None, "ada", "a planned stop")
    health = assess(unreachable(quiets=(muted,)))

    assert (health.level, health.reasons, health.is_unknown) == (HealthLevel.UNKNOWN, (), True)


def test_topics_that_cannot_be_read_leave_the_brokers_known():
    outage = unread()
    health = assess(
        facts(outage=outage, groups_outage=outage, missing=frozenset({2}), troubled=(leaderless("orders", 1),))
    )

    assert [reason.text for reason in health.reasons] == [
        "The state of topics and partitions is unknown: No broker answered in time.",
        "Broker 2 is not registered.",
    ]


def test_groups_that_cannot_be_read_are_unknown_and_the_rest_is_known():
    health = assess(facts(groups_outage=unread(), groups=(group(),), groups_count=1))

    (reason,) = health.reasons
    assert (health.level, reason.subject) == (HealthLevel.UNKNOWN, "Consumer groups")


def test_a_cluster_that_does_not_let_the_console_in_is_told_as_it_said_it():
    error = "The cluster does not let the console in: the broker at h:1 does not let us in: no."
    (reason,) = assess(unreachable(error, is_refused=True, controller_id=None)).reasons

    assert (reason.level, reason.text) == (HealthLevel.UNKNOWN, f"The state of this cluster is unknown: {error}")
    assert "client configuration" in reason.action.text


def test_losing_a_minority_of_zookeeper_is_a_warning_and_a_majority_is_critical():
    one = assess(facts(zookeeper_count=3, zookeeper_errors={"a:2181": "does not answer"}))
    two = assess(facts(zookeeper_count=3, zookeeper_errors={"a:2181": "does not answer", "b:2181": "has no quorum"}))

    assert (one.level, two.level) == (HealthLevel.WARNING, HealthLevel.CRITICAL)
    assert one.reasons[0].text == "ZooKeeper a:2181 does not answer."
    assert "no leader can be elected until it is back" in two.reasons[0].text


def test_the_worst_reason_stands_first_and_decides():
    health = assess(facts(missing=frozenset({9}), troubled=(leaderless("orders", 1),)))

    assert [reason.level for reason in health.reasons] == [HealthLevel.CRITICAL, HealthLevel.WARNING]
    assert health.level == HealthLevel.CRITICAL


def refusing(topic: str, replicas: tuple[int, ...], isr: tuple[int, ...]) -> TroubledPartition:
    return TroubledPartition(topic, True, replicas, isr, 4, min_isr=2)


def test_a_partition_below_min_isr_is_critical_though_it_is_led():
    (reason,) = assess(facts(missing=frozenset({2}), troubled=(refusing("orders", (1, 2), (1,)),))).reasons

    assert reason.level == HealthLevel.CRITICAL
    assert "1 partition of orders is below min.insync.replicas and refuses acks=all" in reason.text
    assert reason.evidence == "orders-4: in sync: [1], replicas: [1, 2]"


def test_min_isr_is_missed_also_when_every_broker_is_registered():
    (reason,) = assess(facts(troubled=(refusing("orders", (1, 2), (1,)),))).reasons

    assert reason.level == HealthLevel.CRITICAL
    assert reason.text.endswith("though every replica's broker is registered.")
    assert "stop no other broker" in reason.action.text


def test_a_lagging_replica_is_named_with_its_broker():
    (reason,) = assess(facts(troubled=(lagging("orders", (1, 2, 3), (1, 2)),) * 5)).reasons

    assert reason.evidence.startswith(
        "Out of sync: broker 3 (5 replicas) · orders-0: in sync: [1, 2], replicas: [1, 2, 3]"
    )
    assert reason.evidence.endswith("2 more")


def test_a_missing_broker_is_started_on_the_page_of_its_process():
    here = assess(facts(missing=frozenset({2}), managed=frozenset({2}), missing_since_ms={2: 7})).reasons[0]
    elsewhere = assess(facts(missing=frozenset({2}))).reasons[0]

    assert (here.action.page, here.action.argument, here.since_ms) == ("process", "broker-2", 7)
    assert (elsewhere.action.page, elsewhere.since_ms) == ("", None)
    assert "on its own host" in elsewhere.action.text


def test_no_controller_without_zookeeper_sends_to_zookeeper_first():
    down = assess(facts(controller_id=None, zookeeper_errors={"a:2181": "refuses connections"})).reasons[-1]
    serving = assess(facts(controller_id=None)).reasons[0]

    assert down.action.text.startswith("Start ZooKeeper first")
    assert serving.action.text.startswith("Wait a few seconds")


def test_every_reason_names_its_object_and_a_next_action():
    health = assess(
        facts(
            controller_id=None,
            zookeeper_errors={"a:2181": "refuses connections"},
            flapping={3: 4},
            missing=frozenset({2}),
            troubled=(leaderless("a", 2), leaderless("b", 1), lagging("c", (1, 3), (1,)), refusing("d", (1, 3), (3,))),
        )
    )

    assert len(health.reasons) == 7
    assert all(reason.subject and reason.text and reason.action.text and reason.key for reason in health.reasons)


def test_nothing_leads_to_processes_that_another_runs():
    same_facts = {
        "zookeeper_errors": {"a:2181": "refuses connections"},
        "missing": frozenset({2}),
        "outage": unread(),
    }
    here, there = (assess(facts(**same_facts, manages_processes=number)).reasons for number in (True, False))
    assert [item.text for item in here] == [item.text for item in there]
    assert any(event.action.page == "processes" for event in here)
    assert not any(event.action.page in ("process", "processes") for event in there)
    assert any(event.action.text.endswith("(its processes are run elsewhere)") for event in there)


def test_a_process_that_is_not_as_wanted_is_named_with_its_own_sentence():
    failed = TroubledProcess("clicks", "failed", "gave up after 3 tries", is_lost=True)
    health = assess(facts(processes=(failed,)))
    assert (health.level, health.reasons[0].text) == (HealthLevel.CRITICAL, "clicks should be running and has failed.")
    assert (health.reasons[0].action.argument, health.reasons[0].evidence) == ("clicks", "gave up after 3 tries")


def test_a_missing_brokers_process_is_evidence_and_no_second_reason():
    exited = TroubledProcess("broker-2", "exited", "killed by signal 9", is_lost=False, broker_id=2)
    reasons = assess(facts(missing=frozenset({2}), processes=(exited,))).reasons
    assert [reason.evidence for reason in reasons] == ["broker-2 is exited: killed by signal 9"]


def group(name="readers", **values) -> TroubledGroup:
    known = {"verdict": "stalled", "meaning": "It commits the same offset again and again.", "lag": 12_345}
    return TroubledGroup(name, **{**known, "member_count": 2, **values})


def test_a_group_that_does_not_get_on_says_how_and_how_much_waits():
    (reason,) = assess(facts(groups=(group(behind_ms=7_200_000),), groups_count=1)).reasons
    assert reason.level == HealthLevel.WARNING
    assert reason.text == ("Group readers does not get on (stalled): it commits the same offset again and again.")
    assert reason.evidence.replace("\u202f", " ") == "consumer lag 12 345 · behind by 2 h · 2 members"
    assert (reason.action.page, reason.action.argument) == ("group", "readers")


def test_records_that_will_be_lost_come_before_those_that_wait():
    waiting, expiring = group("waiting", member_count=0), group("expiring", expires_in_ms=1_800_000)
    assert sentences(groups=(waiting, expiring), groups_count=2) == [
        "Group expiring will lose records: the oldest it has not read may be deleted in 30\u202fmin.",
        "Group waiting has no members and 12\u202f345 unread records.",
    ]


def test_records_that_were_lost_are_counted():
    assert sentences(groups=(group(lost=3),), groups_count=1) == [
        "Group readers lost 3 records: they were deleted before it read them."
    ]


def test_a_loss_that_goes_on_is_critical():
    losing = group(lost=26_019, is_losing=True, lost_since_ms=99, expires_in_ms=0, read_per_second=20.0)
    (reason,) = assess(facts(groups=(losing,), groups_count=1)).reasons
    assert (reason.level, reason.since_ms) == (HealthLevel.CRITICAL, 99)
    assert reason.text.replace("\u202f", " ") == (
        "Group readers has lost 26 019 records: retention deleted them before it read them."
    )
    assert reason.action.text.startswith("Keep the records longer")
    assert "Start" not in reason.action.text


def test_consumers_that_are_there_are_not_to_be_started():
    (with_members,) = assess(facts(groups=(group(expires_in_ms=60_000),), groups_count=1)).reasons
    assert "Start its consumers" not in with_members.action.text
    (stopped,) = assess(facts(groups=(group(expires_in_ms=60_000, read_per_second=0.0),), groups_count=1)).reasons
    assert "find why its members commit nothing" in stopped.action.text
    (without,) = assess(facts(groups=(group(expires_in_ms=60_000, member_count=0),), groups_count=1)).reasons
    assert "Start its consumers" in without.action.text


def test_a_loss_comes_before_one_that_threatens():
    groups = (group("later", expires_in_ms=5), group("billing", lost=7, is_losing=True, expires_in_ms=600_000))
    texts = sentences(groups=groups, groups_count=2)
    assert [text.split()[1] for text in texts] == ["billing", "later"]


def test_a_loss_that_is_over_stays_a_warning():
    (reason,) = assess(facts(groups=(group(lost=3, verdict="ok", lost_since_ms=9),), groups_count=1)).reasons
    assert (reason.level, reason.since_ms) == (HealthLevel.WARNING, 9)


def test_each_reason_of_a_group_says_since_when():
    (empty,) = assess(facts(groups=(group(member_count=0, empty_since_ms=5),), groups_count=1)).reasons
    (stuck,) = assess(facts(groups=(group(since_ms=7),), groups_count=1)).reasons
    assert (empty.since_ms, stuck.since_ms) == (5, 7)


def test_a_group_without_members_is_called_so_even_if_it_lost_records():
    assert sentences(groups=(group(member_count=0, lag=1, lost=3),), groups_count=1) == [
        "Group readers has no members and 1 unread record, and lost 3 that were deleted before."
    ]


def test_many_groups_in_trouble_do_not_bury_the_rest():
    result = sentences(groups=tuple(group(f"g{number}") for number in range(9)), groups_count=30)
    assert len(result) == 5
    assert result[-1] == "26 more consumer groups are in trouble."


def test_an_offline_directory_is_critical_and_a_filling_one_a_warning():
    offline = TightDirectory(1, "/data/1", error="the disk cannot be read")
    filling = TightDirectory(2, "/data/2", left_share=0.12, usable_bytes=12_000_000_000, is_critical=False)
    health = assess(facts(directories=(filling, offline)))
    assert [(reason.level, reason.subject) for reason in health.reasons] == [
        (HealthLevel.CRITICAL, "Broker 1"),
        (HealthLevel.WARNING, "Broker 2"),
    ]
    assert health.reasons[1].evidence.replace("\u202f", " ") == "/data/2: 12 GB left, 12 % of the volume"

"""What goes with a broker: every partition by its own replicas, whoever else is away, and never a guess."""

import pytest

from console.processes.guard import FRESH_MS, GuardFacts, Hosted, PartitionFate, absence_of, fate_of
from console.processes.guard_sentences import continuation_sentences, harm_warnings

NOW_MS = 1_000_000


def hosted(topic="orders", replicas=(1, 2, 3), isr=None, leader=None, min_isr: int | None = 2, partition=0) -> Hosted:
    in_sync = replicas if isr is None else isr
    return Hosted(topic, partition, replicas, in_sync, leader if leader is not None else in_sync[0], min_isr)


def world(*partitions: Hosted, **changes) -> GuardFacts:
    known = {"now_ms": NOW_MS, "seen_at_ms": NOW_MS - 1_000, "partitions": partitions, "controller_id": 1}
    return GuardFacts(**known | changes)


def harms(broker_id: int, *partitions: Hosted, **changes) -> list[str]:
    return list(harm_warnings(absence_of(broker_id, world(*partitions, **changes))))


def course(broker_id: int, *partitions: Hosted, **changes) -> list[str]:
    return list(continuation_sentences(absence_of(broker_id, world(*partitions, **changes))))


@pytest.mark.parametrize(
    ("partition", "away", "fate"),
    [
        (hosted(), (), PartitionFate.MOVED),
        (hosted(leader=2), (), PartitionFate.THINNER),
        (hosted(), (3,), PartitionFate.BELOW),
        (hosted(isr=(1, 2)), (), PartitionFate.BELOW),
        (hosted(isr=(1, 2)), (3,), PartitionFate.BELOW),
        (hosted(replicas=(1, 2)), (), PartitionFate.BELOW),
        (hosted(replicas=(1, 2), min_isr=3), (), PartitionFate.BELOW),
        (hosted(replicas=(1, 2), min_isr=1), (), PartitionFate.MOVED),
        (hosted(replicas=(1, 2), min_isr=1), (2,), PartitionFate.OFFLINE),
        (hosted(replicas=(1,), min_isr=1), (), PartitionFate.OFFLINE),
        (hosted(isr=(1,)), (), PartitionFate.OFFLINE),
        (hosted(isr=(2, 3)), (), PartitionFate.UNTOUCHED),
        (hosted(min_isr=3), (), PartitionFate.BELOW),
        (hosted(min_isr=None), (), PartitionFate.UNKNOWN),
        (hosted(min_isr=None, isr=(1,)), (), PartitionFate.OFFLINE),
        (hosted(replicas=(1, 2, 3), isr=(1, 2), min_isr=3), (), PartitionFate.MOVED),
    ],
)
def test_fate_of_a_partition_when_broker_1_goes(partition, away, fate):
    assert fate_of(partition, 1, frozenset(away)) is fate


def test_with_a_broker_away_already_the_next_takes_every_partition_below_its_minimum():
    partitions = [hosted(partition=number, leader=1) for number in range(62)]
    assert harms(2, *partitions) == []
    assert harms(2, *partitions, away=frozenset({3})) == [
        "62 partitions fall below min.insync.replicas, and producers with acks=all are refused there: orders-0, "
        "orders-1, orders-2 and 59 more."
    ]
    assert "Broker 3 is away already." in course(2, *partitions, away=frozenset({3}))


def test_a_partition_with_as_many_replicas_as_its_minimum_is_named_though_all_are_up():
    assert harms(1, hosted(), hosted("emoji.zoo", replicas=(1, 2))) == [
        "1 partition falls below min.insync.replicas, and producers with acks=all are refused there: emoji.zoo-0."
    ]


def test_the_only_replica_goes_offline_and_says_for_how_long():
    (sentence,) = harms(2, hosted("single", replicas=(2,), min_isr=1), hosted("other", replicas=(1,), min_isr=1))
    assert sentence == "1 partition goes offline until broker 2 is back, for no other replica is in sync: single-0."


def test_a_replica_out_of_sync_does_not_take_over():
    assert "single-0" in harms(2, hosted("single", replicas=(2, 3), isr=(2,), min_isr=1))[0]


def test_what_goes_on_is_told_with_what_it_costs():
    partitions = (hosted(leader=2), hosted(leader=1), hosted(leader=3), hosted("elsewhere", replicas=(1, 3)))
    assert course(2, *partitions) == [
        "1 partition will be led by another broker; 2 partitions will have one replica less in sync."
    ]
    assert course(2) == ["Broker 2 has no replica in sync: no partition changes."]


def test_offices_are_told():
    shards = (hosted("__consumer_offsets", leader=1), hosted("__transaction_state", leader=1))
    groups = {1: ["a", "b", "c", "d"]}
    text = " ".join(course(1, *shards, groups=groups))
    assert "It is the controller: the others have to elect another one." in text
    assert "group coordinator of 1 partition of __consumer_offsets, with 4 groups (a, b, c and 1 more)" in text
    assert "transaction coordinator of 1 partition of __transaction_state" in text
    assert "coordinator" not in " ".join(course(2, *shards, groups=groups))


def test_a_minimum_that_nobody_has_said_is_no_minimum_of_one():
    (sentence,) = harms(1, hosted(min_isr=None))
    assert "min.insync.replicas of 1 partition is unknown" in sentence
    assert absence_of(1, world(hosted(min_isr=None))).is_harmful


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seen_at_ms": 0}, "has not seen the cluster yet"),
        ({"seen_at_ms": NOW_MS - FRESH_MS - 1}, "may be wrong: the collector has not looked since"),
        ({"error": "No broker answered in time."}, "does not answer now"),
    ],
)
def test_what_is_old_or_unknown_is_never_called_harmless(changes, words):
    absence = absence_of(2, world(hosted(), **changes))
    assert absence.is_harmful
    assert words in next(harm_warnings(absence))


def test_names_that_may_not_be_told_are_counted_only():
    absence = absence_of(1, world(hosted("secret", replicas=(1,)), hosted("orders", replicas=(1,), partition=4)))
    text = " ".join(harm_warnings(absence, lambda name: name != "secret"))
    assert "orders-4 and 1 more" in text
    assert "secret" not in text
    assert "in topics that your rights do not reach" in " ".join(harm_warnings(absence, lambda _name: False))


def test_an_assent_hangs_on_what_falls_and_not_on_what_only_moves():
    before = absence_of(1, world(hosted(), hosted(partition=1)))
    moved = absence_of(1, world(hosted(leader=2), hosted(partition=1)))
    fallen = absence_of(1, world(hosted(isr=(1, 2)), hosted(partition=1)))
    away = absence_of(1, world(hosted(), hosted(partition=1), away=frozenset({3})))
    assert before.confirmed == moved.confirmed
    assert len({before.confirmed, fallen.confirmed, away.confirmed}) == 3

"""Which elections were unclean, by what two looks at any Kafka show; and that no clean one is called so."""

from dataclasses import replace
from itertools import pairwise

import pytest

from console.state.clusters.topic_rows import PartitionRow, TopicRow, compare
from console.state.history.unclean import ASKED_MAX, LostRange, Sign, UncleanWatch, sentence_of, unclean_events

LED = PartitionRow(0, 1, 5, (1, 2), (1,), 0, 1_234, None)


def row(*partitions: PartitionRow, name="orders") -> dict[str, TopicRow]:
    return {name: TopicRow(name, "id", False, partitions)}


def losses_of(*looks: PartitionRow, is_next_look=True, is_recovering=lambda *_: False) -> list[LostRange]:
    """Of a partition that was seen so, one look after the other."""
    watch, lost_ranges = UncleanWatch(), []
    for before, after in pairwise(looks):
        known = row(before)
        changes = compare(known, row(after))
        lost_ranges += watch.look(known, changes, is_next_look=is_next_look, is_recovering=is_recovering)
    return lost_ranges


def led_by(leader, epoch=6, isr=None, ends_at=1_234) -> PartitionRow:
    return LED._replace(leader=leader, leader_epoch=epoch, isr=isr or (leader,), next_offset=ends_at)


def signs(*looks: PartitionRow, **more) -> list[Sign]:
    return [look.sign for look in losses_of(*looks, **more)]


LEADERLESS = LED._replace(leader=None)


def test_a_leader_with_a_shorter_log_says_what_is_lost():
    (loss,) = losses_of(LED, led_by(2, ends_at=1_180))
    assert (loss.sign, loss.lost) == (Sign.WENT_BACK, 54)
    assert sentence_of(loss) == (
        "orders-0: unclean election: broker 2 leads, previously broker 1, and its log ends earlier. At least 54 "
        "acknowledged records are lost: readers saw it end at 1,234, now it ends at 1,180"
    )


def test_a_log_that_went_back_is_told_however_long_nobody_looked():
    assert signs(LED, led_by(2, ends_at=1_180), is_next_look=False) == [Sign.WENT_BACK]
    assert signs(LED, led_by(1, 9, ends_at=1_180), is_next_look=False) == [Sign.WENT_BACK]


def test_who_leads_after_nobody_did_and_was_not_in_sync_may_cost_records():
    (loss,) = losses_of(LED, LEADERLESS, led_by(2, 7, ends_at=1_300))
    assert loss.sign is Sign.WAS_OUT
    assert "broker 2 leads and was not in sync at the look before, previously broker 1" in sentence_of(loss)
    assert "may be lost: the log was last seen to end at 1,234, now it ends at 1,300" in sentence_of(loss)


def test_who_was_out_of_sync_at_the_look_before_is_a_possibility_unless_zookeeper_knows():
    (loss,) = losses_of(LED, led_by(2))
    assert (loss.sign, loss.is_certain) == (Sign.WAS_OUT, False)
    assert "possibly an unclean election" in sentence_of(loss)
    assert signs(LED, led_by(2), is_recovering=lambda *place: place == ("orders", 0)) == [Sign.RECOVERING]


def test_zookeeper_is_asked_of_no_more_than_a_person_would_wait_for():
    known = row(*(LED._replace(partition=number) for number in range(ASKED_MAX + 50)))
    now = row(*(led_by(2)._replace(partition=number) for number in range(ASKED_MAX + 50)))
    requests = []
    collected = UncleanWatch().look(
        known, compare(known, now), is_next_look=True, is_recovering=lambda *place: requests.append(place)
    )
    assert (len(collected), len(requests)) == (ASKED_MAX + 50, ASKED_MAX)


@pytest.mark.parametrize(
    ("looks", "why"),
    [
        ([LED, led_by(2, isr=(1, 2))], "it came in sync first: the one before is still in"),
        ([LED._replace(isr=(1, 2)), led_by(2)], "it was in sync"),
        ([LED, LEADERLESS, led_by(1, 7)], "the last of the ISR came back"),
        ([LED, LED._replace(next_offset=None)], "the leader is silent"),
        ([LED, led_by(2, epoch=4, ends_at=10)], "an old leader speaks for itself"),
        ([LED, LED._replace(next_offset=1_200)], "the same leadership: an answer that is late"),
        ([LED, led_by(1, ends_at=2_000)], "it was elected again"),
        ([LED, led_by(3)._replace(replicas=(3,))], "a move brought it, and took the others away"),
        ([LED._replace(replicas=(1, 2), adding=(2,)), led_by(2)._replace(replicas=(2,))], "that move was seen"),
    ],
)
def test_what_is_no_unclean_election(looks, why):
    assert signs(*looks) == [], why


def test_who_leads_out_of_sync_while_a_move_is_under_way_is_still_told():
    moving = LED._replace(replicas=(1, 2, 3), adding=(3,))
    assert signs(moving, moving._replace(leader=3, isr=(3,), leader_epoch=6)) == [Sign.WAS_OUT]


def test_after_a_long_time_the_isr_says_nothing():
    assert signs(LED, led_by(2), is_next_look=False) == []
    assert signs(LED, LEADERLESS, led_by(2, 7), is_next_look=False) == []


def test_a_leader_that_does_not_answer_yet_is_judged_when_it_does():
    """Until then its epoch and the end of its log are those of the leader before."""
    silent = LED._replace(leader=2, isr=(2,))
    assert signs(LED, silent, led_by(2, ends_at=1_180)) == [Sign.WENT_BACK]
    assert signs(LED, LEADERLESS, silent, led_by(2, 7)) == [Sign.WAS_OUT]
    assert signs(LED, LEADERLESS, LED._replace(leader_epoch=None)) == []


def test_who_came_in_sync_under_a_leader_that_never_answered_was_elected_cleanly():
    """For minutes nobody was told an epoch, while leaders and ISR went on changing."""
    silent = [LEADERLESS, LED._replace(leader=3, isr=(3,)), LED._replace(leader=None, isr=(3,))]
    silent = [partition._replace(isr=(1, 3) if partition is silent[0] else partition.isr) for partition in silent]
    back = LED._replace(leader=3, isr=(2, 3))
    assert signs(LED._replace(isr=(1, 3)), *silent, back, led_by(2, 12)) == []


def test_without_epochs_the_leader_alone_is_gone_by():
    old = LED._replace(leader_epoch=None)
    assert signs(old, led_by(2, ends_at=1_000)._replace(leader_epoch=None)) == [Sign.WENT_BACK]


def test_a_topic_that_is_made_again_owes_nothing():
    watch = UncleanWatch()
    known, gone = row(LED), row(LEADERLESS)
    watch.look(known, compare(known, gone), is_next_look=True, is_recovering=lambda *_: False)
    again = {"orders": replace(row(led_by(2, 0, ends_at=0))["orders"], topic_id="another")}
    assert watch.look(gone, compare(gone, again), is_next_look=True, is_recovering=lambda *_: False) == []
    assert watch._waiting == {}


def test_many_partitions_of_a_topic_are_one_event_and_the_worst_is_named():
    lost_ranges = [LostRange("t", n, Sign.WENT_BACK, 2, 1, 100 + n, 100) for n in range(1, 8)]
    (event,) = unclean_events(lost_ranges)
    assert event.sentence.startswith("t: 7 partitions, such as t-7: unclean election")
    assert (event.kind, event.tone, event.partition) == ("unclean", "critical", None)
    one, possible = unclean_events([lost_ranges[0], LostRange("u", 0, Sign.WAS_OUT, 2, 1, None, None)])
    assert (one.tone, one.partition, possible.tone) == ("critical", 1, "warning")
    assert "where the log ended before is not known" in possible.sentence

"""What goes later: whole segments, when the active one rolls or nothing is written any more."""

import pytest

from console.cluster.retention.later import DeletionCause, is_overdue, later
from console.kit.gateway.retention.interface import CommittedView, PartitionRetention, RetentionView

HOUR = 3_600_000


def partition(number: int, first: int, new_first: int, following: int, size: int = 1_000) -> PartitionRetention:
    return PartitionRetention(number, "", first, new_first, following, 1, size)


def view(*partitions, policy: str = "delete", age: int = HOUR, room: int = -1) -> RetentionView:
    return RetentionView(policy, age, room, partitions)


def rows_of(expected) -> list[tuple]:
    return [
        (symptom.cause, symptom.records, [(loss.group, loss.records) for loss in symptom.losses])
        for symptom in expected
    ]


def test_old_records_of_a_segment_that_stays_go_with_it_and_all_of_them_in_silence():
    """The active segment holds old records and young ones."""
    result = later(view(partition(0, 0, 0, 1_000)), CommittedView({"slow": {0: 100}, "fast": {0: 1_000}}), {0: 800})
    assert rows_of(result) == [
        (DeletionCause.OVERDUE, 800, [("slow", 700)]),
        (DeletionCause.SILENCE, 1_000, [("slow", 900)]),
    ]
    assert is_overdue(result)


def test_where_everything_is_young_only_silence_deletes():
    result = later(view(partition(0, 0, 0, 1_000)), CommittedView({}), {0: 0})
    assert rows_of(result) == [(DeletionCause.SILENCE, 1_000, [])]
    assert not is_overdue(result)


def test_where_nothing_is_young_all_is_overdue():
    (overdue, _) = later(view(partition(0, 10, 10, 50)), CommittedView({}), {0: None})
    assert overdue.records == 40


def test_what_goes_at_once_is_not_counted_again():
    (silence,) = later(view(partition(0, 0, 600, 1_000)), CommittedView({}), {0: 600})
    assert silence.records == 400


def test_partitions_beyond_the_size_go_when_as_much_is_written_anew():
    result = later(
        view(partition(0, 0, 0, 100, size=5_000), partition(1, 0, 0, 7, size=10), age=-1, room=2_000),
        CommittedView({"slow": {0: 90, 1: 0}}),
        {},
    )
    assert rows_of(result) == [(DeletionCause.SIZE, 100, [("slow", 10)])]


@pytest.mark.parametrize(
    "nothing",
    [
        view(partition(0, 0, 0, 9), policy="compact"),
        view(partition(0, 0, 0, 9), age=-1),
        view(partition(0, 4, 4, 4)),
        view(PartitionRetention(0, "there is no leader for this partition")),
    ],
)
def test_nothing_goes_later_where_no_limit_or_no_record_is(nothing):
    assert later(nothing, CommittedView({"slow": {0: 0}}), {0: None}) == ()


def test_a_partition_whose_times_nobody_told_is_not_called_overdue():
    assert [symptom.cause for symptom in later(view(partition(0, 0, 0, 9)), CommittedView({}), {})] == [
        DeletionCause.SILENCE
    ]

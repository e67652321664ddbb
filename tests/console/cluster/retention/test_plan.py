"""Differences, losses and the digest, without a cluster."""

import pytest

from console.cluster.retention.plan import change_plan, deletes_more, differences, losses, totals
from console.cluster.retention.timeline import WIDTH, timeline
from console.kit.gateway.retention.interface import (
    CommittedView,
    DoomedSegment,
    PartitionRetention,
    RetentionView,
    SettingView,
)

SETTINGS = (
    SettingView("cleanup.policy", "delete", "default"),
    SettingView("retention.bytes", "-1", "default"),
    SettingView("retention.ms", "60000", "topic"),
)


def plan_of(settings, loses_records: bool = False):
    changes = differences(settings, {"retention.ms": "1000"})
    return change_plan("orders", settings, changes, loses_records, "127.0.0.1:9092")


def view(*partitions: PartitionRetention, retention_ms: int = 60_000) -> RetentionView:
    return RetentionView("delete", retention_ms, -1, partitions)


def going(partition: int, first: int, new_first: int, segments: tuple = ()) -> PartitionRetention:
    return PartitionRetention(
        partition, "", first, new_first, 100, 5, 500, len(segments), 100, new_first - first, segments
    )


def test_blank_and_same_values_are_no_difference():
    assert differences(SETTINGS, {"retention.ms": "60000", "retention.bytes": "", "cleanup.policy": "default"}) == ()


def test_a_default_written_out_is_a_difference_because_it_then_stays():
    (first,) = differences(SETTINGS, {"cleanup.policy": "delete"})

    assert (first.old_source, first.new, first.undo) == ("default", "delete", "default")


def test_taking_the_value_away_is_undone_with_the_old_value():
    (first,) = differences(SETTINGS, {"retention.ms": "default"})

    assert (first.new, first.undo) == (None, "60000")


def test_the_digest_changes_with_value_and_source_and_not_with_other_settings():
    same = (*SETTINGS, SettingView("segment.bytes", "1", "topic"))
    other_source = (*SETTINGS[:2], SettingView("retention.ms", "60000", "cluster"))

    assert plan_of(same).confirmed == plan_of(SETTINGS).confirmed
    assert plan_of(other_source).confirmed != plan_of(SETTINGS).confirmed


def test_a_group_loses_what_it_has_not_read_below_the_new_start():
    committed = CommittedView({"slow": {0: 10, 1: 90}, "read-all": {0: 50, 1: 80}, "ancient": {0: 0}})
    result = losses(view(going(0, 5, 50), going(1, 0, 80)), committed)

    assert [(item.group, item.records, item.partitions) for item in result] == [("ancient", 45, 1), ("slow", 40, 1)]


def test_a_partition_that_could_not_be_asked_is_no_loss_and_no_calm():
    silent = view(PartitionRetention(0, "there is no leader"))

    assert losses(silent, CommittedView({"slow": {0: 1}})) == ()
    assert totals(silent).unknown_partitions == 1
    assert deletes_more(totals(view()), totals(silent))


def test_compaction_counts_as_deleting():
    compacting = RetentionView("compact", -1, -1, (PartitionRetention(0, compacted_records=7),))

    assert deletes_more(totals(view()), totals(compacting))
    assert not deletes_more(totals(compacting), totals(compacting))


def test_segments_lie_on_the_axis_by_their_newest_record():
    old = DoomedSegment(0, 9, 10, 1_000, "retention.ms")
    newer = DoomedSegment(10, 19, 10, 50_000, "retention.ms")
    drawn = timeline(view(going(0, 0, 20, (old, newer))), 101_000)

    (lane,) = drawn.lanes
    assert [bar.segment for bar in lane.bars] == [old, newer]
    assert lane.bars[0].x + lane.bars[0].width <= lane.bars[1].x
    assert lane.bars[1].x + lane.bars[1].width <= lane.kept_x < drawn.cut_x + WIDTH
    assert (drawn.to_ms, lane.kept_segments) == (101_000, 3)


def test_bars_never_leave_the_axis_even_with_times_in_the_future():
    doomed = tuple(DoomedSegment(n, n, 1, 10_000_000, "retention.bytes") for n in range(400))
    (lane,) = timeline(view(going(0, 0, 400, doomed)), 5_000).lanes

    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH for bar in lane.bars)


def test_nothing_that_goes_needs_no_axis():
    assert timeline(view(going(0, 0, 0)), 1_000) is None


def test_only_a_plan_that_loses_records_asks_for_the_name():
    assert plan_of(SETTINGS).typed_name == ""
    assert plan_of(SETTINGS, loses_records=True).typed_name == "orders"
    assert plan_of(SETTINGS).after == {"retention.ms": "1000"}


@pytest.mark.parametrize(
    ("setting", "typed", "is_safe"),
    [
        ("retention.ms", "60001", True),
        ("retention.ms", "-1", True),
        ("retention.ms", "59999", False),
        ("retention.ms", "default", False),
        ("retention.bytes", "1000000", False),
        ("cleanup.policy", "compact", False),
        ("cleanup.policy", "compact,delete", False),
    ],
)
def test_a_plan_that_keeps_less_from_now_on_is_not_called_safe(setting, typed, is_safe):
    changes = differences(SETTINGS, {setting: typed})
    plan = change_plan("orders", SETTINGS, changes, False, "127.0.0.1:9092")
    assert (bool(plan.safe_because), bool(plan.touches)) == (is_safe, not is_safe)

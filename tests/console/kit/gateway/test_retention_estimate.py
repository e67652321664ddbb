"""An estimate of retention for brokers that do not preview it: the most that can go; what is not known is an error."""

import pytest

from console.kit.gateway.retention.estimate import PartitionExtent, RetentionLimits, estimate, limits_with
from console.kit.gateway.retention.interface import SettingView

LOG = PartitionExtent(0, 100, 1_100, 10_000)


def records(limits: RetentionLimits, young_from=None, log: PartitionExtent = LOG) -> int:
    (first,) = estimate(limits, [log], {} if young_from is None else young_from, ()).partitions
    assert first.error == ""
    assert first.new_first_offset - first.first_offset == first.deleted_records
    return first.deleted_records


@pytest.mark.parametrize(
    ("policy", "age", "room", "young_from", "gone"),
    [
        ("delete", -1, -1, {}, 0),
        ("delete", 60_000, -1, {0: 400}, 300),
        ("delete", 60_000, -1, {0: None}, 1_000),
        ("delete", 60_000, -1, {0: 50}, 0),
        ("delete", -1, 2_500, {}, 750),
        ("delete", -1, 20_000, {}, 0),
        ("delete", 60_000, 2_500, {0: 1_000}, 900),
        ("compact,delete", 60_000, -1, {0: 400}, 300),
        ("compact", 60_000, 1, {0: None}, 0),
        ("", 60_000, 1, {0: None}, 0),
    ],
)
def test_time_and_size_take_the_oldest_and_the_greater_part_counts(policy, age, room, young_from, gone):
    assert records(RetentionLimits(policy, age, room), young_from) == gone


def test_an_empty_log_loses_nothing():
    assert records(RetentionLimits("delete", 0, 0), {0: None}, PartitionExtent(0, 7, 7, 0)) == 0


def test_a_limit_whose_facts_are_missing_is_an_error_and_no_zero():
    by_time = estimate(RetentionLimits("delete", 1, -1), [LOG], {}, [3]).partitions
    assert [partition.partition for partition in by_time if partition.error] == [0, 3]
    (by_size,) = estimate(RetentionLimits("delete", -1, 1), [PartitionExtent(0, 0, 9, None)], {}, ()).partitions
    assert "DescribeLogDirs" in by_size.error


def test_a_value_that_is_taken_away_gives_way_to_the_inherited_one():
    settings = [
        SettingView("cleanup.policy", "compact", "topic", inherited="delete"),
        SettingView("retention.ms", "5", "topic", inherited="604800000"),
        SettingView("retention.bytes", "-1", "default", inherited="-1"),
    ]
    assert limits_with(settings, {}) == RetentionLimits("compact", 5, -1)
    changes = {"cleanup.policy": None, "retention.ms": None, "retention.bytes": "0"}
    assert limits_with(settings, changes) == RetentionLimits("delete", 604_800_000, 0)

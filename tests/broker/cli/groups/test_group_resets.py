import pytest

from broker.cli.groups.group_resets import duration_ms, export, moment_ms, read_export, topic_scope, within_log
from broker.common.types import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("P7D", 604_800_000),
        ("PT1H30M", 5_400_000),
        ("P1DT0.5S", 86_400_500),
        ("-PT1S", -1000),
        ("PT-1M", -60_000),
        ("pt1s", 1000),
    ],
)
def test_a_duration_is_read_as_java_reads_it(text, ms):
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "7D", "P1Y", "1h", "P99999999999999D"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError):
        duration_ms(text)


def test_a_moment_is_of_utc_unless_a_zone_is_named():
    assert moment_ms("1970-01-02T00:00:00.250") == 86_400_250
    assert moment_ms("1970-01-02T00:00:00.250Z") == 86_400_250
    assert moment_ms("1970-01-02T01:00:00+01:00") == 86_400_000


def test_a_moment_before_all_clocks_asks_for_the_first_record_and_for_nothing_else():
    assert moment_ms("1969-12-31T23:59:59.999") == 0


def test_a_moment_without_a_time_is_refused_in_kafkas_words():
    with pytest.raises(ValueError, match="It does not contain a 'T' according to ISO8601 format"):
        moment_ms("2026-11-22 10:00")
    with pytest.raises(ValueError):
        moment_ms("To-morrow")


def test_a_topic_stands_alone_or_with_partitions():
    assert topic_scope("t") == ("t", None)
    assert topic_scope("t:0,2") == ("t", [0, 2])
    with pytest.raises(ValueError, match="topic:0,1"):
        topic_scope("t:a")


def test_what_is_exported_can_be_read_again():
    one = {"g": {T1: 7, T0: 3}}
    assert export(one, with_group=False) == "t,0,3\nt,1,7\n"
    assert read_export(export(one, with_group=False), ["g"]) == one
    two = {'a "group", quoted': {T0: 1}, "h": {T0: 2}}
    assert read_export(export(two, with_group=True), list(two)) == two
    assert read_export(export(one, with_group=True), ["g"]) == one


@pytest.mark.parametrize("text", ["t,0", "t,0,x", "t,zero,1", "t,0,1", "a,b,c,d,e", "t\0,0,1,2,3", f"{'x' * 200_000}"])
def test_a_line_that_is_not_as_exported_is_named(text):
    with pytest.raises(ValueError):
        read_export(text, ["g", "h"])


def test_no_offset_leaves_its_log():
    bounded, notices = within_log({T0: -99, T1: 50}, {T0: 3, T1: 0}, {T0: 9, T1: 50})
    assert bounded == {T0: 3, T1: 50}
    assert notices == ["New offset (-99) is lower than earliest offset for topic partition t-0. Value will be set to 3"]
    _, notices = within_log({T0: 10}, {T0: 3}, {T0: 9})
    assert notices == ["New offset (10) is higher than latest offset for topic partition t-0. Value will be set to 9"]

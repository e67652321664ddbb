"""One sentence with numbers says why a group is behind, and tells slow from stopped."""

import pytest

from console.kit.common.clock import now_ms
from console.state.client_applications.models import ClientLook, ClientTraffic
from console.state.consumers.models import FETCHED_LATELY_MS, ConsumerGroup, GroupPartition
from console.state.consumers.why_behind import ReadingPace, why_behind

SLOW = {"lag": 54_000, "members": 1, "partitions": 6, "arriving": 150.0, "lag_growth": 125.0}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "Too slow: it reads 25 records/s while 150 records/s arrive: 1 member for 6 partitions. "
         "At the pace of a member it needs 6."),
        ({"members": 2}, "Too slow: it reads 25 records/s while 150 records/s arrive: 2 members for 6 partitions. "
         "At the pace of a member it needs 12, and only 6 can share the partitions."),
        ({"lag_growth": 0.0, "reading": 25.0}, "Too slow: it reads 25 records/s while 150 records/s arrive: "
         "1 member for 6 partitions. At the pace of a member it needs 6."),
        ({"lag_growth": -50.0, "partitions": 1}, "Catching up: it reads 200 records/s while 150 records/s arrive: "
         "1 member for 1 partition."),
        ({"reading": 150.0}, "Keeping pace: it reads 150 records/s, as many as arrive: 1 member for 6 partitions. "
         "The lag stays."),
        ({"reading": 0.0, "members": 3}, "Stopped: it commits nothing while 150 records/s arrive: "
         "3 members for 6 partitions."),
        ({"reading": 0.0, "fetched": 0.0}, "Stopped: it reads nothing while 150 records/s arrive: "
         "1 member for 6 partitions."),
        ({"reading": 0.0, "fetched": 150.0}, "It reads 150 records/s and commits nothing while 150 records/s arrive: "
         "1 member for 6 partitions. What it read is read again after a restart."),
        ({"reading": 0.0, "fetched": 150.0, "is_losing": True}, "It commits what is deleted already while "
         "150 records/s arrive: 1 member for 6 partitions."),
        ({"reading": 25.0, "stuck": 2}, "Stopped in 2 of 6 partitions: it reads 25 records/s from the others while "
         "150 records/s arrive."),
        ({"reading": 25.0, "stuck": 1, "stuck_name": "orders-4"}, "Stopped in orders-4: it reads 25 records/s from the "
         "others while 150 records/s arrive."),
        ({"members": 0, "lag_growth": None, "lag": 900}, "Stopped: no member has read it; 150 records/s arrive, and "
         "900 wait."),
        ({"members": 0, "empty_ms": 7_200_000, "lag": 900}, "Stopped: no member has read it for 2 h; "
         "150 records/s arrive, and 900 wait."),
        ({"lag": 0}, ""),
        ({"lag": None}, ""),
        ({"lag_growth": None}, ""),
        ({"arriving": None, "reading": 5.0}, ""),
        ({"members": None}, ""),
    ],
)  # fmt: skip
def test_the_sentence_names_rates_members_and_partitions(values, sentence):
    assert why_behind(ReadingPace(**SLOW | values)).replace("\u202f", " ") == sentence


def test_the_page_of_a_group_says_it(db, viewer, client_of):
    ConsumerGroup.objects.create(name="slow", state="Stable", coordinator=1, verdict="slow", member_count=1,
        partition_count=6, lag=54_000, lag_per_second=125.0, arriving_per_second=150.0)  # fmt: skip
    text = client_of(viewer).get("/consumers/slow/").content.decode()
    assert "Too slow: it reads 25 records/s while 150 records/s arrive" in text


def test_a_partition_that_was_never_committed_is_named_and_not_called_slow(db):
    group = ConsumerGroup.objects.create(name="stuck", state="Stable", coordinator=1, verdict="no commit",
        member_count=1, partition_count=3, lag=540, lag_per_second=4.0, arriving_per_second=12.0)  # fmt: skip
    for number, values in enumerate(({"read_per_second": 4.0, "lag": 1}, {"read_per_second": 4.0, "lag": 0})):
        GroupPartition.objects.create(group=group, topic="invoices", partition=number, committed=9, **values)
    GroupPartition.objects.create(group=group, topic="invoices", partition=2, committed=None, lag=539)
    assert group.why_behind.replace("\u202f", " ") == (
        "Stopped in invoices-2: it reads 8.0 records/s from the others while 12 records/s arrive."
    )


def test_a_member_that_reads_and_commits_nothing_is_told_from_one_that_reads_nothing(db):
    group = ConsumerGroup.objects.create(name="mute", state="Stable", coordinator=1, verdict="no commit",
        member_count=1, members=[["m-1", "app", "/10.0.0.7", "", 1]], topics=["invoices"], partition_count=1, lag=540,
        lag_per_second=19.0, arriving_per_second=19.0)  # fmt: skip
    assert group.why_behind.startswith("Stopped: it commits nothing while 19 records/s arrive"), "no broker tells"
    ClientLook.objects.create(is_told=True)
    assert group.why_behind.startswith("Stopped: it reads nothing while")
    reads = {"client_id": "app", "is_produce": False, "bytes_per_second": 1.0, "records_per_second": 19.0}
    for topic, age_ms in (("invoices", 0), ("invoices", FETCHED_LATELY_MS + 1_000), ("others", 0)):
        ClientTraffic.objects.create(topic=topic, used_at_ms=now_ms() - age_ms, **reads)
    assert group.why_behind.startswith("It reads 19 records/s and commits nothing while 19 records/s arrive")

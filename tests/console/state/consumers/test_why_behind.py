"""One sentence with numbers says why a group is behind."""

import pytest

from console.state.consumers.models import ConsumerGroup
from console.state.consumers.why_behind import why_behind


@pytest.mark.parametrize(
    ("lag", "lag_rate", "arriving", "members", "partitions", "sentence"),
    [
        (54_000, 125.0, 150.0, 1, 6, "It reads 25 records/s while 150 records/s arrive: 1 member for 6 partitions. "
         "At the pace of a member it needs 6."),
        (54_000, 125.0, 150.0, 2, 6, "It reads 25 records/s while 150 records/s arrive: 2 members for 6 partitions. "
         "At the pace of a member it needs 12, and only 6 can share the partitions."),
        (900, -50.0, 150.0, 1, 1, "It reads 200 records/s while 150 records/s arrive: 1 member for 1 partition, and "
         "the lag shrinks."),
        (900, 150.0, 150.0, 3, 3, "It reads nothing while 150 records/s arrive: 3 members for 3 partitions."),
        (900, None, 150.0, 0, 3, "No member reads it: 150 records/s arrive, and 900 records wait."),
        (0, 0.0, 150.0, 1, 1, ""),
        (None, None, None, 1, 1, ""),
        (900, None, 150.0, 1, 1, ""),
        (900, 1.0, 1.0, None, 1, ""),
    ],
)  # fmt: skip
def test_the_sentence_names_rates_members_and_partitions(lag, lag_rate, arriving, members, partitions, sentence):
    assert why_behind(lag, lag_rate, arriving, members, partitions) == sentence


def test_the_page_of_a_group_says_it(db, viewer, client_of):
    ConsumerGroup.objects.create(name="slow", state="Stable", coordinator=1, verdict="slow", member_count=1,
        partition_count=6, lag=54_000, lag_per_second=125.0, arriving_per_second=150.0)  # fmt: skip
    text = client_of(viewer).get("/consumers/slow/").content.decode()
    assert "It reads 25 records/s while 150 records/s arrive" in text

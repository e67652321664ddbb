import pytest

from broker.cli.frame.declaration import CommandError
from broker.cli.topics.partition_filters import of_topic_partitions, of_topics
from broker.common.types import TopicPartition

ALL = [TopicPartition(topic, number) for topic in ("t", "u", "v") for number in range(7)]


def left(leaves):
    return [str(item) for item in ALL if leaves(item)]


def test_topics_are_a_regular_expression_of_whole_names_and_partitions_a_list():
    assert left(of_topics("t,u", "0,6")) == ["t-0", "t-6", "u-0", "u-6"]
    assert left(of_topics(None, None)) == [str(item) for item in ALL]
    assert left(of_topics("[uv]", "2")) == ["u-2", "v-2"]


@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        ("t:0", ["t-0"]),
        ("t:0,u:1-3", ["t-0", "u-1", "u-2"]),
        ("v:5-", ["v-5", "v-6"]),
        ("u:-2", ["u-0", "u-1"]),
        (":2", ["t-2", "u-2", "v-2"]),
        ("t|u:6-7", ["t-6", "u-6"]),
        ("v", [f"v-{number}" for number in range(7)]),
    ],
)
def test_of_a_range_the_end_is_left_out(text, partitions):
    assert left(of_topic_partitions(text)) == partitions


def test_what_is_no_partition_is_refused():
    with pytest.raises(CommandError, match="--partitions expects a list of numeric partition ids, but was: 0,x"):
        of_topics("t", "0,x")
    with pytest.raises(CommandError, match="Invalid rule: t:a"):
        of_topic_partitions("t:a")

"""Where logs begin and go on: both are told together or not at all, and who lets us wait is left alone for a while."""

import pytest

from broker.client.errors import BrokerUnreachable
from broker.protocol.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from console.kit.gateway.connection.at_once import BrokerResponses
from console.kit.gateway.topics import log_bounds
from console.kit.gateway.topics.log_bounds import SILENT_LEADER_PAUSE_SECONDS, BoundsLook, LogBounds

ONE, OTHER = ("one", 9092), ("other", 9092)
TIMEOUT_S = 2.0


class Cluster:
    """In place of `ask_at_once`: `offsets` of (topic, partition) are first, next and epoch; a number is an error."""

    def __init__(self):
        self.offsets, self.rounds, self.silent, self.takes_s = {}, [], {}, 0.0
        self.now_s = 100.0

    def __call__(self, _client, questions, timeout_s):
        assert timeout_s == TIMEOUT_S
        self.rounds.append(sorted(questions))
        self.now_s += self.takes_s
        return {
            leader: BrokerResponses(error=self.silent[leader])
            if leader in self.silent
            else BrokerResponses([self._answer(item) for item in requests])
            for leader, requests in questions.items()
        }

    def _answer(self, request):
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[self._bounds_of(topic.name, partition) for partition in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    def _bounds_of(self, topic, partition):
        at = (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP).index(partition.timestamp)
        offset = self.offsets[topic, partition.partition_index]
        code = offset[3 + at] if len(offset) > 3 else 0
        return ListOffsetsPartitionResponse(
            partition_index=partition.partition_index, error_code=code, offset=offset[at], leader_epoch=offset[2]
        )


@pytest.fixture
def cluster(monkeypatch):
    cluster = Cluster()
    monkeypatch.setattr(log_bounds, "ask_at_once", cluster)
    return cluster


@pytest.fixture
def look(cluster):
    return BoundsLook(None, TIMEOUT_S, lambda: cluster.now_s).look


def test_every_partition_has_both_ends_also_where_they_are_asked_for_in_several_requests(cluster, look, monkeypatch):
    monkeypatch.setattr(log_bounds, "PARTITIONS_PER_REQUEST", 2)
    places = [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("c", 7)]
    cluster.offsets = {place: (number, 10 + number, 3) for number, place in enumerate(places)}
    result = look({ONE: places[:4], OTHER: places[4:]})
    assert result == {place: LogBounds(number, 10 + number, 3) for number, place in enumerate(places)}


@pytest.mark.parametrize("codes", [(6, 0), (0, 6), (6, 6)])
def test_a_partition_of_which_only_one_end_is_told_is_not_told_of(cluster, look, codes):
    cluster.offsets = {("a", 0): (0, 5, 1, *codes), ("a", 1): (1, 6, 1)}
    assert look({ONE: [("a", 0), ("a", 1)]}) == {("a", 1): LogBounds(1, 6, 1)}


def test_a_leader_that_lets_us_wait_is_left_alone_for_a_while_and_the_others_are_not(cluster, look):
    cluster.offsets = {("a", 0): (0, 5, 1), ("b", 0): (1, 6, 1)}
    led = {ONE: [("a", 0)], OTHER: [("b", 0)]}
    cluster.silent, cluster.takes_s = {ONE: BrokerUnreachable("timed out")}, TIMEOUT_S
    assert look(led) == {("b", 0): LogBounds(1, 6, 1)}
    cluster.silent, cluster.takes_s = {}, 0.0
    cluster.now_s += SILENT_LEADER_PAUSE_SECONDS - 0.1
    assert look(led).keys() == {("b", 0)}
    cluster.now_s += 0.2
    assert look(led).keys() == {("a", 0), ("b", 0)}
    assert cluster.rounds == [[ONE, OTHER], [OTHER], [ONE, OTHER]]


def test_a_leader_that_refuses_at_once_is_asked_again_at_the_next_look(cluster, look):
    cluster.offsets = {("a", 0): (0, 5, 1)}
    cluster.silent = {ONE: BrokerUnreachable("refuses connections")}
    assert look({ONE: [("a", 0)]}) == {}
    cluster.silent = {}
    assert look({ONE: [("a", 0)]}).keys() == {("a", 0)}

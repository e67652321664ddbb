"""Where the log of every partition begins and goes on, asked of all leaders at one time, each for its own."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from broker.client.errors import ApiNotServed
from broker.protocol.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from console.kit.gateway.connection.at_once import Address, BrokerResponses, ask_at_once
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.groups.interface import TopicPartition

logger = logging.getLogger(__name__)

PARTITIONS_PER_REQUEST = 1_000
#: A leader that let us wait in vain is left alone for this long, so that one dead broker does not slow every round. One
#: that refuses connections costs no time, and is asked again.
SILENT_LEADER_PAUSE_SECONDS = 5.0


class LogBounds(NamedTuple):
    """Offsets and epoch as Kafka writes them: -1 where it knows none. `next_offset` is exclusive."""

    first_offset: int
    next_offset: int
    leader_epoch: int


class BoundsLook:
    """Not thread-safe: one thread uses it."""

    def __init__(self, client: ClusterClient, timeout_seconds: float, clock_s: Callable[[], float] = time.monotonic):
        self._client, self._timeout, self._clock_s = client, timeout_seconds, clock_s
        self._silent_until: dict[Address, float] = {}

    def look(self, led: Mapping[Address, Sequence[TopicPartition]]) -> dict[TopicPartition, LogBounds]:
        """Look at log bounds. `led`: by their leader, partitions of a topic side by side. What was not answered is
        missing.
        """
        began_s = self._clock_s()
        self._silent_until = {item: until for item, until in self._silent_until.items() if until > began_s}
        questions = {leader: _questions(item) for leader, item in led.items() if leader not in self._silent_until}
        responses = ask_at_once(self._client, questions, self._timeout)
        self._note_silence(responses, began_s)
        return {place: bounds for heard in responses.values() for place, bounds in _bounds(heard.answers)}

    def _note_silence(self, responses: Mapping[Address, BrokerResponses], began_s: float) -> None:
        now_s = self._clock_s()
        for leader, heard in responses.items():
            if heard.error is None:
                continue
            logger.debug("no offsets of the broker at %s:%s: %s", *leader, heard.error)
            if now_s - began_s >= self._timeout / 2 and not isinstance(heard.error, ApiNotServed):
                self._silent_until[leader] = now_s + SILENT_LEADER_PAUSE_SECONDS


def _questions(places: Sequence[TopicPartition]) -> list[ListOffsetsRequest]:
    """Return two requests for each set of partitions: for their first and their next offsets."""
    return [
        _question(places[start : start + PARTITIONS_PER_REQUEST], timestamp)
        for start in range(0, len(places), PARTITIONS_PER_REQUEST)
        for timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
    ]


def _question(places: Sequence[TopicPartition], timestamp: int) -> ListOffsetsRequest:
    topics = [
        ListOffsetsTopic(
            name=topic,
            partitions=[ListOffsetsPartition(partition_index=number, timestamp=timestamp) for _, number in place],
        )
        for topic, place in groupby(places, key=itemgetter(0))
    ]
    return ListOffsetsRequest(topics=topics)


def _bounds(answers: Sequence[ListOffsetsResponse]) -> Iterator[tuple[TopicPartition, LogBounds]]:
    for first, following in zip(answers[::2], answers[1::2], strict=True):
        firsts = dict(_offsets_of(first))
        for place, response in _offsets_of(following):
            if place in firsts:
                yield place, LogBounds(firsts[place].offset, response.offset, response.leader_epoch)


def _offsets_of(answer: ListOffsetsResponse) -> Iterator[tuple[TopicPartition, ListOffsetsPartitionResponse]]:
    for topic in answer.topics:
        for partition in topic.partitions:
            if not partition.error_code:
                yield (topic.name, partition.partition_index), partition

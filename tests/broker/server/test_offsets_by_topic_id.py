"""OffsetCommit and OffsetFetch of version 10, which name topics by their ids, over a socket."""

from uuid import UUID

from broker.common.errors import ErrorCode
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

KNOWN, UNKNOWN, OTHER = UUID(int=77), UUID(int=78), UUID(int=79)


async def test_offsets_are_committed_and_fetched_by_topic_ids(served):
    client = await _client(served)
    assert await _commit(client, {(KNOWN, 0): 5, (UNKNOWN, 0): 6, (OTHER, 0): 7, (KNOWN, 9): 8}) == {
        (KNOWN, 0): ErrorCode.NONE,
        (KNOWN, 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        (UNKNOWN, 0): ErrorCode.UNKNOWN_TOPIC_ID,
        (OTHER, 0): ErrorCode.UNKNOWN_TOPIC_ID,
    }
    assert await _fetch(client, KNOWN, UNKNOWN) == {
        KNOWN: (5, ErrorCode.NONE),
        UNKNOWN: (-1, ErrorCode.UNKNOWN_TOPIC_ID),
    }


async def test_all_offsets_are_those_of_topics_that_there_are(served):
    client = await _client(served)
    await _commit(client, {(KNOWN, 0): 5})
    assert await _fetch(client) == {KNOWN: (5, ErrorCode.NONE)}
    del served.metadata.topics["t"]
    assert await _fetch(client) == {}


async def test_commit_of_many_partitions_keeps_the_ids(served):
    client = await _client(served)
    count = 3_000
    codes = await _commit(client, {(KNOWN, index): 1 for index in range(count)})
    assert codes == {(KNOWN, 0): ErrorCode.NONE} | {
        (KNOWN, index): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for index in range(1, count)
    }


async def _client(served):
    served.lead(OFFSETS_TOPIC)
    served.tell_of(OFFSETS_TOPIC)
    served.tell_of("t", topic_id=KNOWN)
    return await served.client()


async def _commit(client, offsets: dict[tuple[UUID, int], int]) -> dict[tuple[UUID, int], ErrorCode]:
    topics = [
        OffsetCommitRequestTopic(
            topic_id=topic_id,
            partitions=[
                OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="")
                for (named, index), offset in offsets.items()
                if named == topic_id
            ],
        )
        for topic_id in dict.fromkeys(topic_id for topic_id, _ in offsets)
    ]
    response = await client.ask(OffsetCommitRequest(group_id="g", topics=topics), 10)
    return {
        (topic.topic_id, partition.partition_index): ErrorCode(partition.error_code)
        for topic in response.topics
        for partition in topic.partitions
    }


async def _fetch(client, *topic_ids: UUID) -> dict[UUID, tuple[int, ErrorCode]]:
    """Return offset and error of partition 0 of each topic; of all topics if none is named."""
    topics = [OffsetFetchRequestTopic(topic_id=topic_id, partition_indexes=[0]) for topic_id in topic_ids]
    group = OffsetFetchRequestGroup(group_id="g", topics=topics or None)
    response = await client.ask(OffsetFetchRequest(groups=[group]), 10)
    return {
        topic.topic_id: (partition.committed_offset, ErrorCode(partition.error_code))
        for topic in response.groups[0].topics
        for partition in topic.partitions
    }

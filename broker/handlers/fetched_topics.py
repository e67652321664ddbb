"""Answers to Fetch, put together by topic."""

from broker.protocol.messages.fetch import FetchableTopicResponse, PartitionData
from broker.replication.fetch_session import Answered, TopicKey


def by_topic(answers: list[Answered]) -> list[FetchableTopicResponse]:
    """A topic may come more than once: the order of the partitions stays."""
    responses: list[FetchableTopicResponse] = []
    partitions: list[PartitionData] = []
    last: TopicKey | None = None
    for topic, answer in answers:
        if topic != last:
            last, partitions = topic, []
            if isinstance(topic, str):
                responses.append(FetchableTopicResponse(topic=topic, partitions=partitions))
            else:
                responses.append(FetchableTopicResponse(topic_id=topic, partitions=partitions))
        partitions.append(answer)
    return responses

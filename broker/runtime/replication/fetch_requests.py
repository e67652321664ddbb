"""A follower's plan as the request that goes over the wire."""

from dataclasses import dataclass
from uuid import UUID

from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from broker.replication.leader_link import Ask, FetchPlan

FETCH_VERSION = 17


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """What a follower asks with; Kafka's replica.fetch.* configurations."""

    broker_id: int
    max_wait_ms: int
    max_bytes: int
    max_bytes_per_partition: int
    back_off_ms: int
    #: Without any answer for so long the connection is given up.
    silence_ms_max: int
    #: An answer may be larger than max_bytes by one batch.
    frame_bytes_max: int

    @property
    def client_id(self) -> str:
        return f"broker-{self.broker_id}-fetcher"


def fetch_request(plan: FetchPlan, settings: FetchSettings, broker_epoch: int) -> FetchRequest:
    return FetchRequest(
        replica_state=ReplicaState(replica_id=settings.broker_id, replica_epoch=broker_epoch),
        max_wait_ms=0 if plan.opens_session else settings.max_wait_ms,
        min_bytes=1,
        max_bytes=settings.max_bytes,
        session_id=plan.session_id,
        session_epoch=plan.session_epoch,
        topics=_topics(plan.asks, settings),
        forgotten_topics_data=_forgotten(plan.forgotten),
    )


def _topics(asks: list[Ask], settings: FetchSettings) -> list[FetchTopic]:
    topics: dict[tuple[str, UUID], FetchTopic] = {}
    for ask in asks:
        key = ask.topic_partition.topic, ask.topic_id
        topic = topics.get(key)
        if topic is None:
            topic = topics[key] = FetchTopic(topic_id=ask.topic_id)
        topic.partitions.append(
            FetchPartition(
                partition=ask.topic_partition.partition,
                current_leader_epoch=ask.leader_epoch,
                fetch_offset=ask.position.log_end_offset,
                last_fetched_epoch=ask.position.last_epoch,
                log_start_offset=ask.position.log_start_offset,
                partition_max_bytes=settings.max_bytes_per_partition,
                is_progress=ask.is_progress,
            )
        )
    return list(topics.values())


def _forgotten(forgotten: list[tuple[UUID, int]]) -> list[ForgottenTopic]:
    topics: dict[UUID, ForgottenTopic] = {}
    for topic_id, partition in forgotten:
        topics.setdefault(topic_id, ForgottenTopic(topic_id=topic_id)).partitions.append(partition)
    return list(topics.values())

"""The topics as group coordinators see them, whose members subscribe to them."""

from collections.abc import Iterable
from uuid import UUID

from broker.common.types import NO_TOPIC_ID
from broker.coordinator.consumer_group.topics import AssignableTopic
from broker.runtime.metadata_cache import MetadataCache


class KnownTopics:
    """What the metadata cache knows, as a `TopicDirectory`."""

    def __init__(self, metadata: MetadataCache):
        self._metadata = metadata

    @property
    def version(self) -> int:
        return self._metadata.topics_version

    def names(self) -> Iterable[str]:
        return self._metadata.topics.keys()

    def named(self, name: str) -> AssignableTopic | None:
        """Return the topic; None, too, until all its partitions are known, and for one without an id."""
        topic = self._metadata.topics.get(name)
        if topic is None or topic.topic_id == NO_TOPIC_ID or not topic.is_whole:
            return None
        return AssignableTopic(name, topic.topic_id, len(topic.partitions))

    def name_of(self, topic_id: UUID) -> str | None:
        topic = self._metadata.topic_of_id(topic_id)
        return topic.name if topic is not None else None

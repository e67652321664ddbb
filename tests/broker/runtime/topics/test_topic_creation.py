"""Creating a topic over a ZooKeeper session that is lost just then."""

from types import SimpleNamespace

import pytest

from broker.common.cluster import TopicAssignment
from broker.config.broker import read_broker_config
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_placement import NewTopic
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost, ZooKeeperError
from tests.broker.runtime.controllers_word import tell_all


class Store:
    """Loses its session or connection during the first creation, after or before that counted."""

    def __init__(self, metadata: MetadataCache, error: type[ZooKeeperError], *, is_written_first: bool):
        self._error = error
        self.session = SimpleNamespace(wait_connected=self._connected)
        self.attempts = 0
        self._metadata = metadata
        self._is_written_first = is_written_first
        self._topic: TopicAssignment | None = None

    async def _connected(self) -> None:
        pass

    async def create_topic(self, name, partitions, configs, topic_id):
        self.attempts += 1
        if self.attempts > 1 or self._is_written_first:
            self._topic = TopicAssignment(name, topic_id, partitions)
            tell(self._metadata, name, topic_id)
        if self.attempts == 1:
            raise self._error("/brokers/topics/t", "lost")

    async def topic(self, name):
        return self._topic


def tell(metadata: MetadataCache, *topic) -> None:
    states = []
    if topic:
        name, topic_id = topic
        partition = UpdateMetadataPartitionState(partition_index=0, leader=1, replicas=[1], isr=[1])
        states = [UpdateMetadataTopicState(topic_name=name, topic_id=topic_id, partition_states=[partition])]
    tell_all(metadata, UpdateMetadataRequest(topic_states=states, live_brokers=[UpdateMetadataBroker(id=1)]))


@pytest.mark.parametrize("error", [SessionLost, ConnectionInterrupted])
@pytest.mark.parametrize(("is_written_first", "attempts"), [(False, 2), (True, 1)])
async def test_a_zookeeper_lost_under_way_costs_the_client_nothing(error, is_written_first, attempts):
    metadata = MetadataCache()
    tell(metadata)
    store = Store(metadata, error, is_written_first=is_written_first)
    config = read_broker_config("broker.id=1\nlog.dirs=/nowhere\nzookeeper.connect=nobody:1\n")
    created = await TopicAdmin(store, metadata, config).create(NewTopic("t", 1, 1), timeout_ms=5_000)
    assert metadata.topics["t"].topic_id == created.topic_id
    assert store.attempts == attempts

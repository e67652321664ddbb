"""Topics that brokers make by themselves: with as many replicas as configured, and not before they can have them."""

import asyncio
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import read_broker_config
from broker.runtime.metadata_cache import BrokerAddress, MetadataCache, PartitionMetadata, TopicMetadata
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_placement import NewTopic

FILE = (
    "broker.id=1\nzookeeper.connect=127.0.0.1:1\n"
    "offsets.topic.num.partitions=4\ntransaction.state.log.num.partitions=4\ndefault.replication.factor=2\n"
)


@pytest.fixture
def scene():
    """A cluster that grows by `join`; what is created is led at once."""
    metadata, created, written = MetadataCache(), {}, {}

    async def create_topic(name, partitions, configs, topic_id) -> None:
        created[name], written[name] = partitions, configs
        states = {index: PartitionMetadata(ids[0], 0, ids, ids, ()) for index, ids in partitions.items()}
        metadata.topics[name] = TopicMetadata(name, topic_id, states)

    def join(broker_id: int) -> None:
        metadata.brokers[broker_id] = BrokerAddress(broker_id, {}, None)

    def configure(more: str) -> None:
        store = SimpleNamespace(create_topic=create_topic)
        scene.admin = TopicAdmin(store, metadata, read_broker_config(FILE + more))

    scene = SimpleNamespace(
        created=created, configs=written, join=join, leave=metadata.brokers.pop, configure=configure
    )
    configure("")
    return scene


@pytest.mark.parametrize("topic", [OFFSETS_TOPIC, TRANSACTION_TOPIC])
async def test_internal_topics_wait_until_enough_brokers_live(scene, topic):
    for broker_id in (1, 2):
        scene.join(broker_id)
        with pytest.raises(ApiError) as refusal:
            await scene.admin.ensure_internal(topic)
        assert refusal.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "factor of 3 cannot be reached because only 2 broker(s) are registered" in refusal.value.message
    scene.join(3)
    await scene.admin.ensure_internal(topic)
    assert [len(set(replicas)) for replicas in scene.created[topic].values()] == [3, 3, 3, 3]


@pytest.mark.parametrize("topic", [OFFSETS_TOPIC, TRANSACTION_TOPIC])
async def test_an_internal_topic_that_a_client_creates_is_compacted_and_as_the_broker_would_make_it(scene, topic):
    for broker_id in (1, 2, 3):
        scene.join(broker_id)
    created = await scene.admin.create(NewTopic(topic, replication_factor=2, configs={"retention.ms": "1"}), 1_000)
    assert [len(replicas) for replicas in scene.created[topic].values()] == [2, 2, 2, 2]
    assert scene.configs[topic] == created.configs
    assert scene.configs[topic].items() >= {"cleanup.policy": "compact", "retention.ms": "1"}.items()


@pytest.mark.parametrize("replicas", [{"replication_factor": 1}, {"assignment": {0: (1,), 1: (1,)}}])
async def test_an_internal_topic_that_a_client_creates_with_one_replica_can_be_written(scene, replicas):
    scene.join(1)
    await scene.admin.create(NewTopic(TRANSACTION_TOPIC, **replicas), 1_000)
    assert "min.insync.replicas" not in scene.configs[TRANSACTION_TOPIC]
    assert scene.configs[TRANSACTION_TOPIC]["cleanup.policy"] == "compact"


@pytest.mark.parametrize("policy", ["delete", "compact,delete", ""])
async def test_an_internal_topic_that_would_be_deleted_by_age_is_not_created(scene, policy):
    scene.join(1)
    with pytest.raises(ApiError, match="keeps states of transactions") as refusal:
        await scene.admin.create(NewTopic(TRANSACTION_TOPIC, 1, 1, configs={"cleanup.policy": policy}), 1_000)
    assert refusal.value.code is ErrorCode.INVALID_CONFIG
    assert scene.created == {}


async def test_topic_a_client_names_first_has_the_default_number_of_replicas(scene):
    scene.join(1)
    with pytest.raises(ApiError) as refusal:
        await scene.admin.create_automatically("t")
    assert refusal.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    scene.join(2)
    await scene.admin.create_automatically("t")
    assert [set(replicas) for replicas in scene.created["t"].values()] == [{1, 2}]


@pytest.fixture
def small(scene):
    """A cluster that may have ten partitions."""
    for broker_id in (1, 2, 3):
        scene.join(broker_id)
    scene.admin._config.set_dynamic({}, {"max.partitions": 10})
    return scene


async def refused(work) -> str:
    with pytest.raises(ApiError) as refusal:
        await work
    assert refusal.value.code is ErrorCode.POLICY_VIOLATION
    return refusal.value.message


async def test_there_are_no_more_partitions_than_the_cluster_may_have(small):
    await small.admin.create(NewTopic("a", partitions=6, replication_factor=1), 1_000)
    message = await refused(small.admin.create(NewTopic("b", partitions=5, replication_factor=1), 1_000))
    assert "there are 6, max.partitions is 10" in message
    assert "b" not in small.created
    await small.admin.create(NewTopic("b", partitions=4, replication_factor=1), 1_000)
    await refused(small.admin.create_automatically("c"))
    await refused(small.admin.add_partitions("a", 7, None, 1_000))
    await refused(small.admin.create(NewTopic("c", partitions=1, replication_factor=1), 1_000, validate_only=True))


async def test_topics_that_are_made_at_the_same_time_count_before_anybody_sees_them(small):
    topics = [NewTopic(f"t{number}", partitions=2, replication_factor=1) for number in range(9)]
    made = await asyncio.gather(*(small.admin.create(item, 1_000) for item in topics), return_exceptions=True)
    assert sum(isinstance(item, ApiError) for item in made) == 4
    assert len(small.created) == 5


async def test_brokers_own_topics_are_made_whatever_there_is(small):
    await small.admin.create(NewTopic("a", partitions=10, replication_factor=1), 1_000)
    await small.admin.ensure_internal(OFFSETS_TOPIC)


@pytest.fixture
def alone(scene, monkeypatch):
    """Broker 1, which has been asked a first time and has waited for others as long as it must."""
    scene.join(1)
    monkeypatch.setattr("broker.runtime.topics.topic_admin.LONE_BROKER_MS", 0)
    return scene


@pytest.mark.parametrize("topic", [OFFSETS_TOPIC, TRANSACTION_TOPIC])
async def test_lone_broker_with_the_defaults_makes_internal_topics_it_can_hold_and_warns(alone, topic):
    with capture_logs() as lines:
        await alone.admin.ensure_internal(topic)
    assert set(alone.created[topic].values()) == {(1,)}
    assert alone.configs[topic].get("min.insync.replicas", "1") == "1"
    assert [(line["log_level"], line["default_replicas"]) for line in lines if "one replica" in line["event"]] == [
        ("warning", 3)
    ]


async def test_lone_broker_waits_whether_others_come(scene, monkeypatch):
    scene.join(1)
    with pytest.raises(ApiError), capture_logs() as lines:
        await scene.admin.ensure_internal(OFFSETS_TOPIC)
    assert "target replication factor of 3" in lines[0]["reason"], "the log says why groups are not served"
    scene.join(2)
    monkeypatch.setattr("broker.runtime.topics.topic_admin.LONE_BROKER_MS", 0)
    with pytest.raises(ApiError):
        await scene.admin.ensure_internal(OFFSETS_TOPIC)
    assert scene.created == {}


@pytest.mark.parametrize(
    ("topic", "overrides"),
    [
        (OFFSETS_TOPIC, "offsets.topic.replication.factor=3\n"),
        (TRANSACTION_TOPIC, "transaction.state.log.replication.factor=3\n"),
        (TRANSACTION_TOPIC, "transaction.state.log.min.isr=2\n"),
    ],
)
async def test_what_somebody_asked_for_is_not_made_with_less(alone, topic, overrides):
    alone.configure(overrides)
    with pytest.raises(ApiError) as refusal:
        await alone.admin.ensure_internal(topic)
    assert refusal.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE


async def test_broker_whose_topics_know_of_another_is_not_alone(alone):
    """The others are only away."""
    alone.join(2)
    await alone.admin.create(NewTopic("t", partitions=1, replication_factor=2), 1_000)
    alone.leave(2)
    with pytest.raises(ApiError):
        await alone.admin.ensure_internal(OFFSETS_TOPIC)


async def test_why_an_internal_topic_cannot_be_is_told_once(scene):
    scene.join(1)
    with capture_logs() as lines:
        for _ in range(5):
            with pytest.raises(ApiError):
                await scene.admin.ensure_internal(OFFSETS_TOPIC)
    assert [line["log_level"] for line in lines] == ["warning"]

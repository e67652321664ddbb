"""Which name is asked for, when, and what an answer tells of it: ids, names nobody can have, names named twice."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.preview_retention import PreviewRetentionRequest, PreviewRetentionTopic
from broker.runtime.topics.topic_admin import NO_TOPIC_ID
from broker.security.operations import AclOperation, ResourceType
from tests.broker.server.authorization.allowed import Allowed, client_with, on_cluster, on_topic
from tests.broker.server.authorization.shapes import codes_in, refusals_in
from tests.broker.server.authorization.table import LAST_BY_NAME, NEEDS, request_of
from tests.broker.server.authorization.test_partly import both
from tests.broker.server.test_every_version import TOPIC_IDS

TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
T_ID = TOPIC_IDS["t"]

LAST_OF_CLIENTS = {ApiKey.ADD_PARTITIONS_TO_TXN: 3}
#: Whose requests name a topic, each in its last version for clients.
OF_TOPICS = [
    pytest.param(handler.api, (LAST_BY_NAME | LAST_OF_CLIENTS).get(handler.api, handler.served[1]), id=handler.api.name)
    for handler in HANDLERS
    if handler.api in NEEDS and any(right[1:] == (ResourceType.TOPIC, "t") for right in NEEDS[handler.api].rights)
    if handler.api not in (ApiKey.FETCH, ApiKey.PREVIEW_RETENTION)
]
#: Rights to anything but topic t.
OTHERS = {right for needs in NEEDS.values() for right in needs.rights if right[1] is not ResourceType.TOPIC} - {
    on_cluster(AclOperation.CREATE),
    on_cluster(AclOperation.CLUSTER_ACTION),
}


@pytest.mark.parametrize("name", ["", "n" * 300, "no/topic", ".."])
@pytest.mark.parametrize(("api", "version"), OF_TOPICS)
async def test_a_name_that_no_topic_can_have_is_refused_like_any_other(full, api, version, name):
    """DescribeProducers looks first whether there can be such a topic, as Kafka does: that tells of none."""
    response = await (await client_with(full, OTHERS)).ask(request_of(api, version, name), version)
    expected = ErrorCode.INVALID_TOPIC_EXCEPTION if api is ApiKey.DESCRIBE_PRODUCERS else TOPIC
    assert expected in set(codes_in(response))


#: How often they ask for a topic that is named twice, if not once: each time, or not at all, as that is the fault.
TIMES_ASKED = {
    ApiKey.PRODUCE: 2,
    ApiKey.ALTER_CONFIGS: 0,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: 0,
    ApiKey.DELETE_TOPICS: 0,
    ApiKey.CREATE_PARTITIONS: 0,
}


@pytest.mark.parametrize(("api", "version"), OF_TOPICS)
async def test_a_topic_that_is_named_twice_is_asked_for_once_or_as_often_as_it_counts(full, api, version):
    rights = Allowed(OTHERS)
    request = both(request_of(api, version), request_of(api, version))
    await (await client_with(full, rights)).ask(request, version)
    (needed,) = (right for right in NEEDS[api].rights if right[1] is ResourceType.TOPIC)
    topic_rights = [right for right in rights.denied if right[1] is ResourceType.TOPIC]
    assert topic_rights == [needed] * TIMES_ASKED.get(api, 1)


@pytest.mark.parametrize(
    ("rights", "expected"),
    [
        ([], (TOPIC, None)),
        ([on_topic(AclOperation.DELETE)], (TOPIC, None)),
        ([on_topic(AclOperation.DESCRIBE)], (TOPIC, "t")),
        ([on_topic(AclOperation.DESCRIBE), on_topic(AclOperation.DELETE)], (ErrorCode.NONE, "t")),
    ],
    ids=["none", "delete", "describe", "both"],
)
async def test_a_topic_deleted_by_its_id_keeps_its_name_from_who_may_not_see_it(full, rights, expected):
    """KAFKA-12394."""
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=None, topic_id=T_ID)], timeout_ms=1000)
    (result,) = (await (await client_with(full, rights)).ask(request, 6)).responses
    assert (result.error_code, result.name, result.topic_id) == (*expected, T_ID)


@pytest.mark.parametrize(
    ("api", "message"), [(ApiKey.DELETE_TOPICS, DeleteTopicsRequest), (ApiKey.METADATA, MetadataRequest)]
)
async def test_an_id_nobody_has_is_unknown_to_everybody(full, api, message):
    unknown = UUID(int=999)
    topic_class = DeleteTopicState if api is ApiKey.DELETE_TOPICS else MetadataRequestTopic
    request = message(topics=[topic_class(name=None, topic_id=unknown)])
    response = await (await client_with(full, [])).ask(request, 6 if api is ApiKey.DELETE_TOPICS else 12)
    (result,) = response.responses if api is ApiKey.DELETE_TOPICS else response.topics
    assert (result.error_code, result.name, result.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, None, unknown)


async def test_metadata_by_id_keeps_the_name_from_who_may_not_see_it(full):
    request = MetadataRequest(topics=[MetadataRequestTopic(name=None, topic_id=T_ID)])
    rights = Allowed()
    (topic,) = (await (await client_with(full, rights)).ask(request, 12)).topics
    assert (topic.error_code, topic.name, topic.topic_id, topic.partitions) == (TOPIC, None, T_ID, [])
    assert rights.denied == [on_topic(AclOperation.DESCRIBE)]
    (topic,) = (await (await client_with(full, [on_topic(AclOperation.DESCRIBE)])).ask(request, 12)).topics
    assert (topic.error_code, topic.name, len(topic.partitions)) == (ErrorCode.NONE, "t", 1)


async def test_metadata_of_an_internal_topic_does_not_say_that_it_is_one(full):
    request = MetadataRequest(topics=[MetadataRequestTopic(name="__consumer_offsets")])
    (topic,) = (await (await client_with(full, [])).ask(request, 12)).topics
    assert (topic.error_code, topic.is_internal, topic.topic_id) == (TOPIC, False, NO_TOPIC_ID)


@pytest.mark.parametrize(
    ("rights", "code"),
    [
        ([], TOPIC),
        ([on_topic(AclOperation.CREATE, "new"), on_cluster(AclOperation.CREATE)], TOPIC),
        ([on_topic(AclOperation.DESCRIBE, "new")], TOPIC),
        ([on_topic(AclOperation.DESCRIBE, "new"), on_topic(AclOperation.CREATE, "new")], ErrorCode.NONE),
        ([on_topic(AclOperation.DESCRIBE, "new"), on_cluster(AclOperation.CREATE)], ErrorCode.NONE),
    ],
    ids=["none", "create only", "describe only", "create it", "create any"],
)
async def test_a_topic_is_created_by_being_asked_for_only_if_that_is_allowed(full, rights, code, monkeypatch):
    monkeypatch.setattr(full.config, "auto_create_topics_enable", True)
    request = MetadataRequest(topics=[MetadataRequestTopic(name="new")], allow_auto_topic_creation=True)
    (topic,) = (await (await client_with(full, rights)).ask(request, 12)).topics
    assert (topic.error_code, topic.name) == (code, "new")
    assert ("new" in full.metadata.topics) == (code == ErrorCode.NONE)


async def test_of_several_missing_topics_those_are_created_that_may_be(full, monkeypatch):
    monkeypatch.setattr(full.config, "auto_create_topics_enable", True)
    names = ["mine", "theirs", "hidden"]
    rights = [
        on_topic(AclOperation.DESCRIBE, "mine"),
        on_topic(AclOperation.CREATE, "mine"),
        on_topic(AclOperation.DESCRIBE, "theirs"),
    ]
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=True
    )
    response = await (await client_with(full, rights)).ask(request, 12)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [
        ("mine", 0),
        ("theirs", TOPIC),
        ("hidden", TOPIC),
    ]
    assert {"mine", "theirs", "hidden"} & full.metadata.topics.keys() == {"mine"}


async def test_a_topic_is_created_without_telling_its_configuration(full):
    """KIP-525: by who may create it and not describe it."""
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="new", num_partitions=2, replication_factor=1)], timeout_ms=1000
    )
    (topic,) = (await (await client_with(full, [on_cluster(AclOperation.CREATE)])).ask(request, 7)).topics
    assert (topic.error_code, topic.topic_config_error_code) == (ErrorCode.NONE, TOPIC)
    assert (topic.num_partitions, topic.replication_factor, topic.configs) == (-1, -1, [])
    assert topic.topic_id == full.metadata.topics["new"].topic_id


async def test_nobody_makes_the_topic_of_kafka_s_own_metadata(full):
    named = CreatableTopic(name="__cluster_metadata", num_partitions=1, replication_factor=1)
    (topic,) = (await (await full.client()).ask(CreateTopicsRequest(topics=[named]), 7)).topics
    assert topic.error_code == TOPIC


async def test_a_preview_is_for_who_may_alter_the_topic(full):
    """At the door for who may alter none, by topic for others."""
    request = PreviewRetentionRequest(
        topics=[PreviewRetentionTopic(name=name, partitions=None) for name in ("t", "no")]
    )
    response = await (await client_with(full, [on_topic(AclOperation.ALTER_CONFIGS)])).ask(request, 0)
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("t", ErrorCode.NONE), ("no", TOPIC)]
    assert refusals_in(await (await client_with(full, [])).ask(request, 0)) == {ErrorCode.CLUSTER_AUTHORIZATION_FAILED}

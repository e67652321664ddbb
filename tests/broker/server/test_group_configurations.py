"""What is set for a group: IncrementalAlterConfigs, DescribeConfigs and ListConfigResources, and who goes by it."""

import pytest

from broker.common.errors import ErrorCode
from broker.config.definition import ConfigSource
from broker.handlers.config_resources import ConfigResourceType
from broker.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC

SESSION, HEARTBEAT, ASSIGNMENT = (
    f"consumer.{name}.ms" for name in ("session.timeout", "heartbeat.interval", "assignment.interval")
)


async def test_what_is_set_is_described_with_where_it_comes_from(served):
    client = await served.client()
    assert await _set(client, "g", {SESSION: "50000"}) == (ErrorCode.NONE, None)
    configs = await _described(client, "g")
    assert [(name, config.value, config.config_source) for name, config in configs.items()] == [
        (HEARTBEAT, "5000", ConfigSource.DEFAULT),
        (SESSION, "50000", ConfigSource.GROUP),
        (ASSIGNMENT, "1000", ConfigSource.DEFAULT),
    ]
    assert [(synonym.name, synonym.value, synonym.source) for synonym in configs[SESSION].synonyms] == [
        (SESSION, "50000", ConfigSource.GROUP),
        (f"group.{SESSION}", "45000", ConfigSource.DEFAULT),
    ]
    assert await _set(client, "g", {SESSION: None}) == (ErrorCode.NONE, None)
    assert (await _described(client, "g"))[SESSION].value == "45000"


@pytest.mark.parametrize(
    ("group", "values", "code", "sentence"),
    [
        (
            "g",
            {SESSION: "44999"},
            ErrorCode.INVALID_CONFIG,
            f"{SESSION} must be in the range 45000 to 60000 inclusive.",
        ),
        (
            "g",
            {HEARTBEAT: "15001"},
            ErrorCode.INVALID_CONFIG,
            f"{HEARTBEAT} must be in the range 5000 to 15000 inclusive.",
        ),
        ("g", {"retention.ms": "1"}, ErrorCode.INVALID_CONFIG, "Unknown group config name: retention.ms"),
        (
            "g",
            {SESSION: "x"},
            ErrorCode.INVALID_CONFIG,
            f"Invalid value x for configuration {SESSION}: Not a number of type INT",
        ),
        ("", {SESSION: "50000"}, ErrorCode.INVALID_REQUEST, "Group name can't be empty."),
    ],
)
async def test_what_cannot_be_is_refused_in_kafka_s_words(served, group, values, code, sentence):
    client = await served.client()
    assert await _set(client, group, values) == (code, sentence)
    assert await _set(client, group, values, validate_only=True) == (code, sentence)


async def test_session_is_longer_than_the_heartbeats_are_apart(served):
    served.config.values["group_consumer_min_session_timeout_ms"] = 1
    client = await served.client()
    sentence = f"{SESSION} must be greater than {HEARTBEAT}"
    assert await _set(client, "g", {SESSION: "5000"}) == (ErrorCode.INVALID_CONFIG, sentence)
    assert await _set(client, "g", {SESSION: "5001"}) == (ErrorCode.NONE, None)
    assert await _set(client, "g", {HEARTBEAT: "6000"}) == (ErrorCode.INVALID_CONFIG, sentence)


async def test_groups_that_anything_is_set_for_are_listed(served):
    client = await served.client()
    await _set(client, "a/ä", {SESSION: "50000"})
    assert await _listed(client, 32) == [("a/ä", 32)]
    served.tell_of("t")
    assert {("t", 2), ("1", 4), ("1", 8), ("a/ä", 32)} <= set(await _listed(client))
    response = await client.ask(ListConfigResourcesRequest(resource_types=[64]), 1)
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    await _set(client, "a/ä", {SESSION: None})
    assert await _listed(client, 32) == []


async def test_members_are_told_of_another_interval_with_their_next_heartbeat(served):
    served.lead(OFFSETS_TOPIC)
    served.tell_of(OFFSETS_TOPIC)
    client = await served.client()
    joining = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", rebalance_timeout_ms=1_000, subscribed_topic_names=["t"], topic_partitions=[]
    )
    joined = await client.ask(joining, 1)
    assert (joined.error_code, joined.heartbeat_interval_ms) == (ErrorCode.NONE, 5_000)
    await _set(client, "g", {HEARTBEAT: "7000"})
    beat = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=joined.member_epoch)
    assert (await client.ask(beat, 1)).heartbeat_interval_ms == 7_000


async def test_what_is_out_of_the_broker_s_bounds_is_capped_as_long_as_it_is(served):
    served.entity_configs.configs["groups/g"] = {SESSION: "90000", HEARTBEAT: "1", "other": "1"}
    await served.group_configs.load()
    assert served.group_configs.values == {"g": {SESSION: 60_000, HEARTBEAT: 5_000}}


async def _set(client, group: str, values: dict[str, str | None], *, validate_only: bool = False):
    configs = [
        AlterableConfig(
            name=name,
            config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
            value=value,
        )
        for name, value in values.items()
    ]
    resource = AlterConfigsResource(resource_type=ConfigResourceType.GROUP, resource_name=group, configs=configs)
    response = await client.ask(IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only), 1)
    return response.responses[0].error_code, response.responses[0].error_message


async def _described(client, group: str):
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.GROUP, resource_name=group, configuration_keys=None
    )
    (result,) = (await client.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True), 4)).results
    assert result.error_code == ErrorCode.NONE
    return {config.name: config for config in result.configs}


async def _listed(client, *types: int) -> list[tuple[str, int]]:
    response = await client.ask(ListConfigResourcesRequest(resource_types=list(types)), 1)
    assert response.error_code == ErrorCode.NONE
    return [(resource.resource_name, resource.resource_type) for resource in response.config_resources]

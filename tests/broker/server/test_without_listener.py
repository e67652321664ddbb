"""Metadata by a listener that some brokers lack: whoever cannot be reached leads nothing, as far as the client sees."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.broker.runtime.controllers_word import tell_all

LISTENERS = {1: "PLAINTEXT", 2: "OTHER"}


@pytest.fixture
def metadata_with_two_leaders(served):
    """Partition 0 is led by broker 1, partition 1 by broker 2, which has no PLAINTEXT listener."""
    endpoints = {number: UpdateMetadataEndpoint(host="h", port=9, listener=name) for number, name in LISTENERS.items()}
    states = [
        UpdateMetadataPartitionState(partition_index=leader - 1, leader=leader, isr=[1, 2], replicas=[1, 2])
        for leader in LISTENERS
    ]
    tell_all(
        served.metadata,
        UpdateMetadataRequest(
            controller_id=1,
            controller_epoch=1,
            live_brokers=[UpdateMetadataBroker(id=number, endpoints=[item]) for number, item in endpoints.items()],
            topic_states=[UpdateMetadataTopicState(topic_name="t", partition_states=states)],
        ),
    )
    return served


@pytest.mark.parametrize(("version", "code"), [(5, ErrorCode.LEADER_NOT_AVAILABLE), (6, ErrorCode.LISTENER_NOT_FOUND)])
async def test_a_leader_without_the_listener_is_none(metadata_with_two_leaders, version, code):
    answer = await (await metadata_with_two_leaders.client()).ask(
        MetadataRequest(topics=[MetadataRequestTopic(name="t")]), version
    )
    assert [broker.node_id for broker in answer.brokers] == [1]
    reached, unreached = sorted(answer.topics[0].partitions, key=lambda partition: partition.partition_index)
    assert (reached.error_code, reached.leader_id, reached.isr_nodes) == (ErrorCode.NONE, 1, [1, 2])
    assert (unreached.error_code, unreached.leader_id) == (code, -1)
    assert reached.offline_replicas == unreached.offline_replicas == [2]

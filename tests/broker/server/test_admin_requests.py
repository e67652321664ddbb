"""What administrators ask any broker over a socket: brokers that stopped, resources with a configuration."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_cluster import DescribeClusterRequest
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.unregister_broker import UnregisterBrokerRequest
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.broker.runtime.controllers_word import tell_all
from tests.broker.server.conftest import Client, Served

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32


def _tell(served: Served, *live: int) -> None:
    """As the controller: topic t is on brokers 1, 2 and 3."""
    brokers = [
        UpdateMetadataBroker(
            id=broker_id,
            endpoints=[UpdateMetadataEndpoint(host=f"host-{broker_id}", port=9092, listener="PLAINTEXT")],
            rack=f"rack-{broker_id}",
        )
        for broker_id in live
    ]
    state = UpdateMetadataPartitionState(leader=1, leader_epoch=0, isr=[1], replicas=[1, 2, 3])
    topic = UpdateMetadataTopicState(topic_name="t", partition_states=[state])
    tell_all(
        served.metadata,
        UpdateMetadataRequest(controller_id=1, controller_epoch=1, live_brokers=brokers, topic_states=[topic]),
    )


@pytest.fixture
async def client(served: Served) -> Client:
    _tell(served, 1, 2, 4)
    _tell(served, 1)
    return await served.client()


async def test_brokers_that_stopped_with_replicas_are_fenced_ones(client):
    """Broker 4 has none, and nobody has seen broker 3 run."""
    request = DescribeClusterRequest(include_fenced_brokers=True)
    brokers = (await client.ask(request, 2)).brokers
    assert [(one.broker_id, one.host, one.port, one.rack, one.is_fenced) for one in brokers] == [
        (1, "host-1", 9092, "rack-1", False),
        (2, "host-2", 9092, "rack-2", True),
        (3, "", -1, None, True),
    ]
    assert [broker.broker_id for broker in (await client.ask(DescribeClusterRequest(), 2)).brokers] == [1]


async def test_a_broker_that_runs_again_is_not_fenced(served, client):
    _tell(served, 1, 2, 3)
    brokers = (await client.ask(DescribeClusterRequest(include_fenced_brokers=True), 2)).brokers
    assert [(broker.broker_id, broker.is_fenced) for broker in brokers] == [(1, False), (2, False), (3, False)]


@pytest.mark.parametrize(
    ("endpoint_type", "code", "message"),
    [
        (
            2,
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
        ),
        (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, "Unsupported endpoint type 3"),
    ],
)
async def test_endpoints_of_other_types_are_refused_in_kafkas_words(client, endpoint_type, code, message):
    response = await client.ask(DescribeClusterRequest(endpoint_type=endpoint_type), 2)
    assert (response.error_code, response.error_message, response.brokers) == (code, message, [])


@pytest.mark.parametrize(
    ("broker_id", "code", "message"),
    [
        (1, ErrorCode.INVALID_REQUEST, "Broker 1 is running: stop it, and its registration in ZooKeeper ends."),
        (2, ErrorCode.NONE, None),
        (9, ErrorCode.BROKER_ID_NOT_REGISTERED, "Broker ID 9 is not currently registered"),
    ],
)
async def test_a_broker_that_stopped_is_unregistered_already(client, broker_id, code, message):
    response = await client.ask(UnregisterBrokerRequest(broker_id=broker_id), 0)
    assert (response.error_code, response.error_message) == (code, message)


@pytest.mark.parametrize(
    ("types", "listed"),
    [
        ([], [(LOGGER, "1"), (BROKER, "1"), (TOPIC, "t")]),
        ([TOPIC], [(TOPIC, "t")]),
        ([BROKER, LOGGER], [(LOGGER, "1"), (BROKER, "1")]),
        ([CLIENT_METRICS], []),
        ([GROUP], []),
    ],
)
async def test_resources_are_listed_by_type_in_kafkas_order(client, types, listed):
    response = await client.ask(ListConfigResourcesRequest(resource_types=types), 1)
    resources = [(resource.resource_type, resource.resource_name) for resource in response.config_resources]
    assert (response.error_code, resources) == (ErrorCode.NONE, listed)


async def test_resources_of_other_types_are_refused_and_version_0_knows_one(client):
    response = await client.ask(ListConfigResourcesRequest(resource_types=[TOPIC, 64]), 1)
    assert (response.error_code, response.config_resources) == (ErrorCode.UNSUPPORTED_VERSION, [])
    assert (await client.ask(ListConfigResourcesRequest(), 0)).config_resources == []


async def test_a_pattern_of_transactional_ids_that_re2_cannot_read_is_refused(client):
    for pattern, code in (("a.*", ErrorCode.NONE), ("(?=a)", ErrorCode.INVALID_REGULAR_EXPRESSION)):
        request = ListTransactionsRequest(transactional_id_pattern=pattern)
        assert (await client.ask(request, 2)).error_code == code


async def test_metadata_has_an_error_of_its_own(client):
    assert (await client.ask(MetadataRequest(topics=[]), 13)).error_code == ErrorCode.NONE

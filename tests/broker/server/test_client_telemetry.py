"""GetTelemetrySubscriptions and PushTelemetry over a socket (KIP-714), and the subscriptions as configuration."""

from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest
from broker.protocol.messages.push_telemetry import PushTelemetryRequest
from broker.protocol.schema import ZERO_UUID
from broker.records.compression import Compression, compress
from broker.server.telemetry_metrics import TelemetryMetrics
from tests.broker.protocol.otlp_messages import SUM, metric, metrics_data, point
from tests.broker.server.conftest import INTRODUCTION, Client

CLIENT_METRICS = 16
PUSHED = metrics_data(metric("sent", point(3, topic="t"), kind=SUM), metric("rate", point(2.5)))


async def alter(client: Client, operation=ConfigOperation.SET, **texts: str | None):
    configs = [
        AlterableConfig(name=name.replace("_", "."), config_operation=operation, value=value)
        for name, value in texts.items()
    ]
    resource = AlterConfigsResource(resource_type=CLIENT_METRICS, resource_name="mine", configs=configs)
    return (await client.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)).responses[0]


async def subscription(client: Client, instance_id: UUID = ZERO_UUID):
    return await client.ask(GetTelemetrySubscriptionsRequest(client_instance_id=instance_id), 0)


async def push(client: Client, of, data: bytes = PUSHED, codec=Compression.NONE, *, subscription_id=None, last=False):
    request = PushTelemetryRequest(
        client_instance_id=of.client_instance_id,
        subscription_id=of.subscription_id if subscription_id is None else subscription_id,
        terminating=last,
        compression_type=codec,
        metrics=bytes(compress(codec, data)),
    )
    return ErrorCode((await client.ask(request, 0)).error_code)


@pytest.fixture
async def client(served) -> Client:
    connected = await served.client()
    await connected.ask(INTRODUCTION, 4)
    assert (await alter(connected, interval_ms="1000", metrics="s,r", match="client_id=tester")).error_code == 0
    return connected


def series_of(served, *, has_names: bool = True) -> dict[tuple[str, ...], float]:
    families = TelemetryMetrics(served.services.telemetry, served.services.clock, has_names=has_names).collect()
    return {
        (sample.labels["client_id"], sample.labels["name"], sample.labels["attributes"]): sample.value
        for family in families
        for sample in family.samples
        if "attributes" in sample.labels
    }


async def test_a_client_is_told_what_to_push(client):
    granted = await subscription(client)
    assert granted.error_code == ErrorCode.NONE
    assert granted.client_instance_id != ZERO_UUID
    assert (granted.push_interval_ms, granted.requested_metrics, granted.delta_temporality) == (1_000, ["r", "s"], True)
    assert granted.telemetry_max_bytes == 500_000
    assert granted.accepted_compression_types == [4, 3, 1, 2]


@pytest.mark.parametrize("codec", list(Compression))
async def test_what_is_pushed_is_told_to_prometheus(served, client, codec):
    assert await push(client, await subscription(client), codec=codec) == ErrorCode.NONE
    assert series_of(served) == {("tester", "sent", "topic=t"): 3.0, ("tester", "rate", ""): 2.5}


async def test_client_ids_are_told_only_where_names_may_be(served, client):
    await push(client, await subscription(client))
    assert series_of(served, has_names=False) == {}


async def test_sums_add_up_and_gauges_are_replaced(served, client):
    granted = await subscription(client)
    await push(client, granted)
    await push(client, granted, last=True)
    assert series_of(served) == {("tester", "sent", "topic=t"): 6.0, ("tester", "rate", ""): 2.5}


async def test_a_push_that_is_not_due_is_throttled(client):
    granted = await subscription(client)
    await push(client, granted)
    assert await push(client, granted) == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert (await subscription(client, granted.client_instance_id)).error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED


async def test_a_push_of_another_subscription_is_refused(client):
    granted = await subscription(client)
    assert await push(client, granted, subscription_id=granted.subscription_id + 1) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID


async def test_a_changed_subscription_has_another_id_and_may_be_fetched_at_once(client):
    granted = await subscription(client)
    await alter(client, metrics="s")
    assert await push(client, granted) == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    again = await subscription(client, granted.client_instance_id)
    assert (again.error_code, again.requested_metrics) == (ErrorCode.NONE, ["s"])


async def test_pushes_that_are_too_large_or_cannot_be_read_are_refused(client):
    granted = await subscription(client)
    assert await push(client, granted, b"x" * 500_001, last=True) == ErrorCode.TELEMETRY_TOO_LARGE
    granted = await subscription(client)
    assert await push(client, granted, b"\x0a\xff", last=True) == ErrorCode.INVALID_RECORD
    granted = await subscription(client)
    bomb = b"\x00" * (9 * 1024 * 1024)
    assert await push(client, granted, bomb, Compression.GZIP, last=True) == ErrorCode.INVALID_RECORD


async def test_an_instance_id_of_zeros_cannot_push(client):
    request = PushTelemetryRequest(client_instance_id=ZERO_UUID, metrics=b"")
    assert (await client.ask(request, 0)).error_code == ErrorCode.INVALID_REQUEST


async def test_subscriptions_are_listed_and_described_as_configuration(client):
    listed = await client.ask(ListConfigResourcesRequest(), 0)
    assert [resource.resource_name for resource in listed.config_resources] == ["mine"]
    resource = DescribeConfigsResource(resource_type=CLIENT_METRICS, resource_name="mine", configuration_keys=None)
    (described,) = (await client.ask(DescribeConfigsRequest(resources=[resource]), 4)).results
    assert {entry.name: (entry.value, entry.config_source) for entry in described.configs} == {
        "interval.ms": ("1000", 7),
        "match": ("client_id=tester", 7),
        "metrics": ("s,r", 7),
    }


async def test_a_subscription_without_settings_is_gone(client):
    gone = await alter(client, ConfigOperation.DELETE, interval_ms=None, metrics=None, match=None)
    assert gone.error_code == ErrorCode.NONE
    assert (await client.ask(ListConfigResourcesRequest(), 0)).config_resources == []
    assert (await subscription(client)).requested_metrics == []


async def test_settings_that_cannot_be_are_refused(client):
    refused = await alter(client, interval_ms="1")
    assert (refused.error_code, refused.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
    )

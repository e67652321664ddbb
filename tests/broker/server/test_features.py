"""Features that a cluster of real brokers finalizes; what they are called is made up, as are their levels."""

import asyncio

import pytest
from structlog.testing import capture_logs

from broker.common.errors import ErrorCode, StartupError
from broker.common.features import SupportedFeature
from broker.config.broker import read_broker_config
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpgradeType
from broker.server.broker import Broker
from broker.zookeeper.features import FEATURE
from tests.broker.server.conftest import INTRODUCTION, Client
from tests.eventually import eventually

NEWER, OLDER = (SupportedFeature("colour.version", 0, 2),), (SupportedFeature("colour.version", 0, 1),)


@pytest.fixture
async def start(tmp_path, zookeeper, request):
    """Starts brokers of one cluster: `await start(broker_id, what it supports)`."""
    started = []

    async def start_broker(broker_id: int, supported: tuple[SupportedFeature, ...] = NEWER) -> Broker:
        lines = {
            "broker.id": str(broker_id),
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "log.dirs": str(tmp_path / f"logs-{broker_id}"),
            "zookeeper.connect": f"127.0.0.1:{zookeeper.port}/{request.node.name[:40]}",
        }
        config = read_broker_config("".join(f"{key}={text}\n" for key, text in lines.items()))
        broker = Broker(config, supported_features=supported)
        started.append(broker)
        await broker.start()
        return broker

    yield start_broker
    for broker in reversed(started):
        await broker.stop()


async def client_of(broker: Broker) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", broker._parts.addresses.advertised[0].port))


async def finalized(broker: Broker, version: int = 4) -> dict[str, int]:
    answer = await (await client_of(broker)).ask(INTRODUCTION, version)
    return {feature.name: feature.max_version_level for feature in answer.finalized_features}


async def update(broker: Broker, level: int, upgrade_type=UpgradeType.UPGRADE, *, version: int = 2, dry_run=False):
    await eventually(lambda: broker.services.controller.is_controller, "the controller")
    key = FeatureUpdateKey(feature="colour.version", max_version_level=level, upgrade_type=upgrade_type)
    request = UpdateFeaturesRequest(feature_updates=[key], validate_only=dry_run, timeout_ms=10_000)
    return await (await client_of(broker)).ask(request, version)


async def test_a_new_cluster_finalizes_the_highest_levels(start):
    assert await finalized(await start(1)) == {"colour.version": 2}


async def test_a_level_is_lowered_and_raised_and_every_broker_sees_it(start):
    first, second = await start(1), await start(2)
    assert (await update(first, 1, UpgradeType.SAFE_DOWNGRADE)).error_code == ErrorCode.NONE
    assert await finalized(first) == {"colour.version": 1}
    await eventually(lambda: second.services.features.level_of("colour.version") == 1, "the level")
    assert (await update(first, 2, dry_run=True)).error_code == ErrorCode.NONE
    assert await finalized(first) == {"colour.version": 1}
    assert (await update(first, 2)).error_code == ErrorCode.NONE
    assert await finalized(first) == {"colour.version": 2}


async def test_only_the_controller_changes_levels(start):
    first, second = await start(1), await start(2)
    await eventually(lambda: first.services.controller.is_controller, "the controller")
    key = FeatureUpdateKey(feature="colour.version", max_version_level=1, upgrade_type=UpgradeType.SAFE_DOWNGRADE)
    answer = await (await client_of(second)).ask(UpdateFeaturesRequest(feature_updates=[key]), 1)
    assert [answer.error_code, answer.results[0].error_code] == [ErrorCode.NOT_CONTROLLER] * 2


async def test_a_level_that_a_broker_does_not_support_is_not_finalized(start):
    first = await start(1, OLDER)
    await start(2, NEWER)
    answer = await update(first, 2)
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert answer.error_message == (
        "The update failed for all features since the following feature had an error: Invalid update version 2 for "
        "feature colour.version. Broker 1 only supports versions 0-1"
    )
    assert await finalized(first) == {"colour.version": 1}


async def test_a_release_that_the_cluster_has_left_behind_does_not_start(start):
    await start(1)
    with pytest.raises(StartupError, match=r"has finalized colour.version=2, which this release does not support"):
        await start(2, OLDER)


async def test_a_broker_that_the_cluster_leaves_behind_ends(start):
    """An earlier controller knew nothing of the levels that this broker supports."""
    broker = await start(1, OLDER)
    with capture_logs() as logs:
        data = (await broker._session.get(FEATURE)).data.replace(b'level":1', b'level":2')
        await broker._session.set(FEATURE, data)
        await asyncio.wait_for(broker.failed.wait(), 10)
    assert any("colour.version=2" in line.get("reason", "") for line in logs)


async def test_levels_whose_znode_was_removed_still_count_and_are_written_again(start):
    broker = await start(1)
    await eventually(lambda: broker.services.controller.is_controller, "the controller")
    before = broker.services.features.finalized
    await broker._session.delete(FEATURE)
    await eventually(lambda: broker.services.features.finalized.epoch > before.epoch, "the znode")
    assert broker.services.features.finalized.levels == before.levels


async def test_who_cannot_read_a_lowest_level_of_0_is_not_told_of_the_feature(start):
    client = await client_of(await start(1))
    assert (await client.ask(INTRODUCTION, 3)).supported_features == []
    (feature,) = (await client.ask(INTRODUCTION, 4)).supported_features
    assert (feature.name, feature.min_version, feature.max_version) == ("colour.version", 0, 2)


async def test_a_client_that_means_another_broker_is_sent_back_to_its_bootstrap_servers(start):
    broker = await start(7)
    client, cluster_id = await client_of(broker), broker.services.cluster_id

    async def code(cluster: str | None, node: int) -> int:
        request = ApiVersionsRequest(
            client_software_name="test", client_software_version="1", cluster_id=cluster, node_id=node
        )
        return (await client.ask(request, 5)).error_code

    assert await code(cluster_id, 7) == await code(None, -1) == ErrorCode.NONE
    assert await code("another", 7) == await code(cluster_id, 8) == ErrorCode.REBOOTSTRAP_REQUIRED
    assert await code(cluster_id, -1) == await code(None, 7) == ErrorCode.INVALID_REQUEST

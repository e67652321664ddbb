"""/feature: as Kafka 2.7 to 3.9 writes it, and in a real ZooKeeper."""

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration
from broker.common.features import NOTHING_FINALIZED, SupportedFeature
from broker.zookeeper import znodes
from broker.zookeeper.cluster_secret import ensure_secret
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.features import FEATURE, decode_features, encode_features, read_features, write_features
from broker.zookeeper.session import Znode

LEVELS = {"group.version": 1, "transaction.version": 2}


def znode(data: bytes) -> Znode:
    return Znode(data, version=3, czxid=1, ephemeral_owner=0, created_at_ms=0, mzxid=70)


def test_the_levels_that_kafka_has_written_are_read():
    since_3_3 = b'{"features":{"group.version":{"max_version_level":1}},"version":2,"status":1}'
    since_2_7 = b'{"version":1,"status":1,"features":{"f":{"min_version_level":1,"max_version_level":4}}}'
    assert decode_features(znode(since_3_3)) == ({"group.version": 1}, 70, 3)
    assert decode_features(znode(since_2_7)).levels == {"f": 4}
    assert decode_features(znode(b'{"version":1,"status":0,"features":{}}')).levels == {}
    assert decode_features(znode(encode_features(LEVELS))).levels == LEVELS


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"status":1,"features":[1]}',
        b'{"status":1,"features":{"f":{}}}',
        b'{"features":{"f":{"max_version_level":99999}}}',
    ],
)
def test_levels_that_cannot_be_read_are_no_levels_of_0(data):
    with pytest.raises(MalformedZnode, match="/feature"):
        decode_features(znode(data))


def test_a_registration_says_what_its_release_supports():
    endpoints = (BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092),)
    registration = BrokerRegistration(1, endpoints, features=(SupportedFeature("group.version", 0, 1),))
    assert znodes.decode_broker(1, znodes.encode_broker(registration, 5), 7).registration == registration
    by_hand = znodes.encode_broker(registration, 5).replace(b'"min_version":0', b'"min_version":{}')
    assert znodes.decode_broker(1, by_hand, 7).registration.features == ()


async def test_a_new_cluster_finalizes_with_its_secret_and_only_then(session):
    secret = await ensure_secret(session, LEVELS)
    assert (await read_features(session)).levels == LEVELS
    assert await ensure_secret(session, {"group.version": 9}) == secret
    assert (await read_features(session)).levels == LEVELS


async def test_an_older_cluster_finalizes_nothing_by_itself(session):
    await ensure_secret(session)
    assert await read_features(session) is None


async def test_a_level_that_somebody_has_changed_meanwhile_is_not_written_over(session):
    assert await write_features(session, LEVELS, NOTHING_FINALIZED)
    present = await read_features(session)
    assert not await write_features(session, {}, NOTHING_FINALIZED)
    assert await write_features(session, {"group.version": 0}, present)
    assert not await write_features(session, LEVELS, present)


async def test_the_epoch_rises_also_when_the_znode_was_removed(session):
    await write_features(session, LEVELS, NOTHING_FINALIZED)
    before = await read_features(session)
    await session.delete(FEATURE)
    await write_features(session, LEVELS, NOTHING_FINALIZED)
    after = await read_features(session)
    assert (after.levels, after.zk_version) == (LEVELS, 0)
    assert after.epoch > before.epoch

"""kafka-python's decoder, a third implementation, reads what we write: field by field, old versions included."""

import importlib
import pkgutil

import pytest
from kafka.protocol.broker_version_data import BROKER_API_VERSIONS

from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import decode, encode
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from broker.protocol.schema import Struct

pytestmark = pytest.mark.versions


def _their_classes():
    collected = vars(importlib.import_module("kafka.protocol.sasl")).copy()
    for package in ("admin", "consumer", "producer", "metadata"):
        root = importlib.import_module(f"kafka.protocol.{package}")
        for module in pkgutil.iter_modules(root.__path__, f"kafka.protocol.{package}."):
            collected |= vars(importlib.import_module(module.name))
    return collected


THEIRS = _their_classes()
#: They turn these into sets of bits; test_against_kio compares them.
BITFIELDS = {"authorized_operations", "topic_authorized_operations", "cluster_authorized_operations"}
#: This broker's alone.
OWN = {ApiKey.PREVIEW_RETENTION, ApiKey.DESCRIBE_REQUESTS, ApiKey.DESCRIBE_CLIENT_TRAFFIC}
BETWEEN_BROKERS = {
    ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA,
    ApiKey.UPDATE_METADATA,
    ApiKey.CONTROLLED_SHUTDOWN,
}
#: Which kafka-python does not know.
DELEGATION_TOKENS = {
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
}
#: Kafka 4's groups: the console describes them in other clusters. kafka-python's names of their fields are others than
#: Kafka's; test_against_kio compares them.
OF_OTHER_CLUSTERS = {
    ApiKey.CONSUMER_GROUP_HEARTBEAT: 1,
    ApiKey.CONSUMER_GROUP_DESCRIBE: 1,
    ApiKey.SHARE_GROUP_DESCRIBE: 1,
    ApiKey.STREAMS_GROUP_DESCRIBE: 0,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: 1,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: 0,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: 0,
}
#: What KRaft's controllers and brokers say to each other, and how leaders ask for another ISR since KIP-497: here they
#: write it to ZooKeeper.
NOT_DECLARED = {
    ApiKey.ALTER_PARTITION,
    ApiKey.ENVELOPE,
    ApiKey.ALLOCATE_PRODUCER_IDS,
}
TELEMETRY = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}
UNKNOWN_TO_THEM = {(ApiVersionsRequest, 5), (TxnOffsetCommitRequest, 6), (TxnOffsetCommitResponse, 6)}
BOTH = [
    pytest.param(message, THEIRS[message.__name__], version, id=f"{message.__name__}-{version}")
    for pair in MESSAGES.values()
    for message in pair
    if message.__name__ in THEIRS
    for version in range(message.versions[0], message.versions[1] + 1)
    # kafka-python reads every ApiVersions response that carries an error as version 0, and does not know KIP-1242 and
    # KIP-1319, nor the messages of DeleteGroups 3.
    if message is not ApiVersionsResponse and (message, version) not in UNKNOWN_TO_THEM
    if (message.api, version) != (ApiKey.DELETE_GROUPS, 3)
]


@pytest.mark.parametrize(("message", "theirs", "version"), BOTH)
def test_kafka_python_reads_the_same_values(message, theirs, version, sample):
    for seed in range(3):
        ours = sample(message, version, seed)
        _assert_same(ours, theirs.decode(encode(ours, version), version=version), version)


@pytest.mark.parametrize(("message", "theirs", "version"), BOTH)
def test_what_kafka_python_writes_reads_the_same(message, theirs, version, sample):
    ours = sample(message, version, 7)
    decoded = theirs.decode(encode(ours, version), version=version)
    decoded._header = None  # their encoder looks for it, their decoder does not set it
    assert decode(message, bytes(decoded.encode(version=version)), version) == ours


def test_every_api_of_clients_is_compared():
    not_theirs = {ApiKey.UNREGISTER_BROKER, *TELEMETRY, *DELEGATION_TOKENS}
    compared = MESSAGES.keys() - BETWEEN_BROKERS - OWN - not_theirs - OF_OTHER_CLUSTERS.keys()
    assert {reading.values[0].api for reading in BOTH} == compared


def test_declared_are_the_apis_of_kafka_3_9_and_those_that_only_other_clusters_serve():
    advertised = {key: last for key, (_, last) in BROKER_API_VERSIONS[(3, 9)].items() if key not in NOT_DECLARED}
    advertised[ApiKey.DESCRIBE_GROUPS] = 6  # of Kafka 4.1
    advertised[ApiKey.API_VERSIONS] = 5  # KIP-1242
    advertised |= {ApiKey.OFFSET_COMMIT: 10, ApiKey.OFFSET_FETCH: 10}  # of Kafka 4.1
    advertised |= {ApiKey.FIND_COORDINATOR: 6, ApiKey.FETCH: 18, ApiKey.LIST_OFFSETS: 11, ApiKey.METADATA: 13}
    advertised |= {ApiKey.LIST_TRANSACTIONS: 2, ApiKey.DESCRIBE_CLUSTER: 2, ApiKey.ALTER_PARTITION_REASSIGNMENTS: 1}
    advertised |= {ApiKey.DESCRIBE_LOG_DIRS: 5, ApiKey.DELETE_GROUPS: 3}
    advertised[ApiKey.END_TXN] = 5  # KIP-890, part 2
    advertised |= {ApiKey.PRODUCE: 13, ApiKey.TXN_OFFSET_COMMIT: 6}  # topic ids, KIP-516 and KIP-1319
    advertised |= {ApiKey.WRITE_TXN_MARKERS: 2, ApiKey.INIT_PRODUCER_ID: 6}  # KIP-1228, KIP-939
    # Which Kafka has with KRaft only.
    advertised |= {ApiKey.DESCRIBE_TOPIC_PARTITIONS: 0, ApiKey.UPDATE_FEATURES: 2, ApiKey.UNREGISTER_BROKER: 0}
    advertised |= {ApiKey.DESCRIBE_QUORUM: 2, ApiKey.LIST_CONFIG_RESOURCES: 1}
    advertised |= dict.fromkeys(TELEMETRY, 0)
    advertised |= OF_OTHER_CLUSTERS
    assert {api: pair.request.versions[1] for api, pair in MESSAGES.items() if api not in OWN} == advertised


def _assert_same(ours, theirs, version):
    for field in ours.fields:
        if not field.exists_in(version) or field.name in BITFIELDS:
            continue
        mine, other = getattr(ours, field.name), getattr(theirs, field.name, None)
        if field.tag is not None and mine == field.new_default():
            continue  # nothing is on the wire; their default may be another than ours
        if isinstance(mine, Struct):
            _assert_same(mine, other, version)
        elif isinstance(mine, list) and mine and isinstance(mine[0], Struct):
            assert len(mine) == len(other), field.name
            for one, another in zip(mine, other, strict=True):
                _assert_same(one, another, version)
        else:
            assert other == mine, field.name

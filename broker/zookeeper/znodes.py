"""Where things are in ZooKeeper and what is in them: the layout of Kafka 3.9 in ZooKeeper mode. Pure.

Encoders write what Kafka writes. Decoders accept what any Kafka of the last ten years or its tools may have written,
and raise MalformedZnode for anything else.
"""

import base64
import binascii
import re
from collections.abc import Collection
from typing import Any
from uuid import UUID

from broker.common.cluster import (
    NO_LOG,
    BrokerEndpoint,
    BrokerRegistration,
    LeaderAndIsr,
    LiveBroker,
    LogLoss,
    TopicAssignment,
)
from broker.common.controller_epoch import CONTROLLER_EPOCH_MAX
from broker.common.features import SupportedFeature
from broker.common.types import NO_BROKER, NO_TOPIC_ID, TopicPartition
from broker.security.membership import SECRET_BYTES
from broker.zookeeper.errors import MalformedZnode, OperationRefused
from broker.zookeeper.json_fields import decode_fields as _decode
from broker.zookeeper.json_fields import encode_fields as _encode
from broker.zookeeper.json_fields import int32, int64

BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
SEQID = "/brokers/seqid"
CLUSTER_ID = "/cluster/id"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CONFIG_CHANGES = "/config/changes"
CONFIG_CHANGE_PREFIX = "/config/changes/config_change_"
DELETE_TOPICS = "/admin/delete_topics"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
#: Not Kafka's: what the members of this cluster know each other by.
SECRET = "/barnabas/secret"

#: What a broker creates at start if it is missing.
PERSISTENT_PATHS = (
    "/consumers",
    BROKER_IDS,
    TOPICS,
    SEQID,
    CONFIG_CHANGES,
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    DELETE_TOPICS,
    "/isr_change_notification",
    PRODUCER_ID_BLOCK,
    "/log_dir_event_notification",
)


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic_path(topic: str) -> str:
    return _child(TOPICS, topic)


def partitions_path(topic: str) -> str:
    return f"{topic_path(topic)}/partitions"


def partition_path(partition: TopicPartition) -> str:
    return f"{partitions_path(partition.topic)}/{partition.partition}"


def state_path(partition: TopicPartition) -> str:
    return f"{partition_path(partition)}/state"


def config_path(entity_type: str, name: str) -> str:
    """Return the path of settings. `entity_type` is Kafka's plural: topics, brokers, clients, users, ips."""
    return _child(f"/config/{entity_type}", name)


def delete_topic_path(topic: str) -> str:
    return _child(DELETE_TOPICS, topic)


def _child(parent: str, name: str) -> str:
    """Return the path of a child of `parent`; OperationRefused for a name that would lead elsewhere."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OperationRefused(f"{parent}/{name!r:.300}", "this is no name of a znode")
    return f"{parent}/{name}"


# -- /brokers/ids/N

_OWN_MARK = "barnabas"
_IDS_RESTORED_AT = "topic_ids_restored_at"
_ENDPOINT = re.compile(r"(?P<listener>[^:/]+)://(?:\[(?P<ipv6>[^\]]*)\]|(?P<host>[^:\[\]]*)):(?P<port>\d+)")


def encode_broker(registration: BrokerRegistration, now_ms: int) -> bytes:
    """Encode a registration. host and port are those of the first PLAINTEXT endpoint, for readers older than endpoints.
    `barnabas` marks a broker of this kind; Kafka ignores fields it does not know.
    """
    plaintext = next((e for e in registration.endpoints if e.security_protocol == "PLAINTEXT"), None)
    fields: dict[str, Any] = {
        "version": 5,
        "host": plaintext.host if plaintext else None,
        "port": plaintext.port if plaintext else -1,
        "jmx_port": -1,
        "timestamp": str(now_ms),
        "endpoints": [_render_endpoint(endpoint) for endpoint in registration.endpoints],
        "listener_security_protocol_map": {e.listener: e.security_protocol for e in registration.endpoints},
    }
    if registration.rack:
        fields["rack"] = registration.rack
    if registration.ids_restored_at >= 0:
        fields[_IDS_RESTORED_AT] = registration.ids_restored_at
    features = {name: {"min_version": low, "max_version": high} for name, low, high in registration.features}
    return _encode({**fields, "features": features, _OWN_MARK: 1})


def decode_broker(broker_id: int, data: bytes, czxid: int) -> LiveBroker:
    fields = _decode(broker_path(broker_id), data)
    protocols = fields.get("listener_security_protocol_map") or {}
    texts = fields.get("endpoints") or [f"PLAINTEXT://{fields.get('host')}:{fields.get('port')}"]
    rack = fields.get("rack")
    try:
        endpoints = tuple(_parse_endpoint(broker_id, text, protocols) for text in texts)
        if not isinstance(rack, str | None):
            raise TypeError(rack)
    except (ValueError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{broker_path(broker_id)} has no readable endpoints or rack") from error
    restored_at = fields.get(_IDS_RESTORED_AT)
    registration = BrokerRegistration(
        broker_id,
        endpoints,
        rack,
        is_foreign=not _is_own(fields),
        ids_restored_at=restored_at if type(restored_at) is int else -1,
        features=_parse_features(fields.get("features")),
    )
    return LiveBroker(registration, czxid)


def _parse_features(fields: Any) -> tuple[SupportedFeature, ...]:
    """Of features that cannot be read nothing is known: the broker supports none."""
    try:
        return tuple(
            SupportedFeature(name, int32(feature["min_version"]), int32(feature["max_version"]))
            for name, feature in (fields or {}).items()
        )
    except (KeyError, ValueError, TypeError, AttributeError):
        return ()


def _is_own(fields: dict[str, Any]) -> bool:
    """Return whether a broker of this kind wrote the registration. Those before the mark began with `version`; Kafka's
    begin with `features`, or with what came before features.
    """
    return _OWN_MARK in fields or next(iter(fields), None) == "version"


def _render_endpoint(endpoint: BrokerEndpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.listener}://{host}:{endpoint.port}"


def _parse_endpoint(broker_id: int, text: Any, protocols: dict[str, str]) -> BrokerEndpoint:
    match = _ENDPOINT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise MalformedZnode(f"{broker_path(broker_id)} has an endpoint {text!r}")
    listener = match["listener"]
    return BrokerEndpoint(
        listener, match["ipv6"] or match["host"] or "", int32(match["port"]), protocols.get(listener, listener)
    )


# -- /brokers/topics


def encode_topic(assignment: TopicAssignment) -> bytes:
    topic_id = {"topic_id": encode_uuid(assignment.topic_id)} if assignment.has_id else {}
    return _encode(
        {
            "version": 3,
            **topic_id,
            "partitions": _render_replicas(assignment.partitions),
            "adding_replicas": _render_replicas(assignment.adding),
            "removing_replicas": _render_replicas(assignment.removing),
        }
    )


def decode_topic(topic: str, data: bytes) -> TopicAssignment:
    """Decode a topic; one written by a Kafka older than topic ids, or by a tool of one, has NO_TOPIC_ID.

    A move of a partition that is not there is left out: a tool that knew nothing of moves took the partition away.
    """
    path = topic_path(topic)
    fields = _decode(path, data)
    try:
        partitions = _parse_replicas(fields["partitions"])
        adding = _parse_moves(fields.get("adding_replicas"), partitions)
        removing = _parse_moves(fields.get("removing_replicas"), partitions)
        if not all(replicas and len(set(replicas)) == len(replicas) for replicas in partitions.values()):
            raise ValueError("a partition has no replica, or one twice")
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise MalformedZnode(f"{path} has no readable partitions: {error!s:.200}") from error
    return TopicAssignment(topic, decode_uuid(path, fields.get("topic_id")), partitions, adding, removing)


def _render_replicas(partitions: dict[int, tuple[int, ...]]) -> dict[str, list[int]]:
    return {str(index): list(replicas) for index, replicas in sorted(partitions.items())}


def _parse_replicas(fields: dict[str, list[int]]) -> dict[int, tuple[int, ...]]:
    return {
        int32(index): tuple(int32(replica) for replica in replicas)
        for index, replicas in sorted(fields.items(), key=lambda item: int32(item[0]))
    }


def _parse_moves(fields: dict[str, list[int]] | None, partitions: Collection[int]) -> dict[int, tuple[int, ...]]:
    return {index: replicas for index, replicas in _parse_replicas(fields or {}).items() if index in partitions}


#: Named as in KIP-966. A Kafka that ignores them writes the state without: then no replica is eligible.
_ELR, _LAST_KNOWN_ELR = "eligible_leader_replicas", "last_known_elr"


def encode_state(state: LeaderAndIsr) -> bytes:
    fields: dict[str, Any] = {
        "version": 1,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
        "isr": list(state.isr),
    }
    if state.leader_recovery_state:
        fields["leader_recovery_state"] = state.leader_recovery_state
    if state.log_losses:
        fields["log_losses"] = [list(loss) for loss in state.log_losses]
    if state.elr:
        fields[_ELR] = list(state.elr)
    if state.last_known_elr:
        fields[_LAST_KNOWN_ELR] = list(state.last_known_elr)
    return _encode(fields)


def _log_loss(broker_id: Any, last_epoch: Any, end_offset: Any) -> LogLoss:
    return LogLoss(int32(broker_id), int32(last_epoch, -1), max(int64(end_offset), NO_LOG))


def decode_state(partition: TopicPartition, data: bytes, zk_version: int) -> LeaderAndIsr:
    fields = _decode(state_path(partition), data)
    try:
        return LeaderAndIsr(
            leader=int32(fields["leader"], NO_BROKER),
            leader_epoch=int32(fields["leader_epoch"]),
            isr=tuple(int32(replica) for replica in fields["isr"]),
            controller_epoch=int32(fields["controller_epoch"]),
            zk_version=zk_version,
            leader_recovery_state=int32(fields.get("leader_recovery_state", 0)),
            log_losses=tuple(_log_loss(*loss) for loss in fields.get("log_losses", ())),
            elr=tuple(int32(replica) for replica in fields.get(_ELR, ())),
            last_known_elr=tuple(int32(replica) for replica in fields.get(_LAST_KNOWN_ELR, ())),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{state_path(partition)} has no readable state: {error!r:.200}") from error


# -- /controller, /controller_epoch, /cluster/id, /latest_producer_id_block


def encode_controller(broker_id: int, now_ms: int) -> bytes:
    return _encode({"version": 2, "brokerid": broker_id, "timestamp": str(now_ms), "kraftControllerEpoch": -1})


def decode_controller(data: bytes) -> int:
    """Return the id of the broker that is controller."""
    broker_id = _integer(CONTROLLER, _decode(CONTROLLER, data).get("brokerid"))
    if not 0 <= broker_id < 2**31:
        raise MalformedZnode(f"{CONTROLLER} names a broker that cannot be")
    return broker_id


def encode_controller_epoch(epoch: int) -> bytes:
    return str(epoch).encode()


def decode_controller_epoch(data: bytes) -> int:
    """Return the epoch, at most CONTROLLER_EPOCH_MAX. Raises MalformedZnode."""
    epoch = _integer(CONTROLLER_EPOCH, data.decode(errors="replace"))
    if not 0 <= epoch <= CONTROLLER_EPOCH_MAX:
        raise MalformedZnode(f"{CONTROLLER_EPOCH} has {epoch:.9g}, which is no controller epoch")
    return epoch


def encode_cluster_id(cluster_id: str) -> bytes:
    return _encode({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes) -> str:
    cluster_id = _decode(CLUSTER_ID, data).get("id")
    if not isinstance(cluster_id, str):
        raise MalformedZnode(f"{CLUSTER_ID} has no id")
    return cluster_id


def encode_secret(secret: bytes) -> bytes:
    return _encode({"version": 1, "secret": base64.b64encode(secret).decode()})


def decode_secret(data: bytes) -> bytes:
    try:
        secret = base64.b64decode(_decode(SECRET, data)["secret"], validate=True)
    except (KeyError, ValueError, TypeError) as error:
        raise MalformedZnode(f"{SECRET} has no secret") from error
    if len(secret) < SECRET_BYTES:
        raise MalformedZnode(f"{SECRET} has a secret of {len(secret)} bytes")
    return secret


def encode_producer_id_block(broker_id: int, first: int, last: int) -> bytes:
    return _encode({"version": 1, "broker": broker_id, "block_start": str(first), "block_end": str(last)})


def decode_producer_id_block_end(data: bytes) -> int:
    """Return the last producer id given out, -1 before the first."""
    return _integer(PRODUCER_ID_BLOCK, _decode(PRODUCER_ID_BLOCK, data).get("block_end")) if data else -1


# -- /config


def encode_config(config: dict[str, str]) -> bytes:
    return _encode({"version": 1, "config": config})


def decode_config(path: str, data: bytes) -> dict[str, str]:
    config = _decode(path, data).get("config", {}) if data else {}
    if not isinstance(config, dict):
        raise MalformedZnode(f"{path} has no config")
    return {str(key): str(value) for key, value in config.items()}


def encode_config_change(entity_path: str) -> bytes:
    return _encode({"version": 2, "entity_path": entity_path})


def decode_config_change(path: str, data: bytes) -> str:
    """Return the entity whose config changed, as topics/T or brokers/N; version 1 named type and entity apart."""
    fields = _decode(path, data)
    entity_path = fields.get("entity_path") or f"{fields.get('entity_type')}/{fields.get('entity_name')}"
    return str(entity_path)


# -- parts


def encode_uuid(value: UUID) -> str:
    """Return Kafka's text for an id: 22 characters of base64url."""
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def decode_uuid(path: str, text: Any) -> UUID:
    try:
        return UUID(bytes=base64.urlsafe_b64decode(text + "==")) if text else NO_TOPIC_ID
    except (ValueError, TypeError, binascii.Error) as error:
        raise MalformedZnode(f"{path} has the topic id {text!r}") from error


def _integer(path: str, value: Any) -> int:
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise MalformedZnode(f"{path} has {value!r:.300} where a number should be") from error

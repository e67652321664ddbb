"""API → operation × resource: what each request needs, and what who lacks it is answered.

The requests are those of `test_every_version`: about topic t, group g (FindCoordinator also h), transactional id x.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from broker.protocol.schema import Message
from broker.security.operations import AclOperation
from tests.broker.server.authorization.allowed import Right, on_cluster, on_group, on_topic, on_transaction
from tests.broker.server.test_every_version import REQUESTS, TOPIC_IDS

TOPIC, GROUP = ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED
CLUSTER, TRANSACTION = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
REFUSALS = {TOPIC, GROUP, CLUSTER, TRANSACTION}

#: As `shape` of tests/broker/server/authorization/test_table.py has it: what differs from the declared defaults.
Shape = dict[str, Any]


class Needs(NamedTuple):
    """All of `rights`, each with the first version in which its lack is told, or else all of one of `instead`."""

    rights: dict[Right, int]
    #: (version) -> what is answered without any right.
    refusal: Callable[[int], Shape]
    instead: tuple[frozenset[Right], ...] = ()


def _all(*rights: Right) -> dict[Right, int]:
    return dict.fromkeys(rights, 0)


def _instead(*rights: Right) -> tuple[frozenset[Right], ...]:
    return tuple(frozenset({right}) for right in rights)


def _at_top(code: ErrorCode, **others: Any) -> Callable[[int], Shape]:
    return lambda version: {"error_code": code, **others}


def _partitions(
    code: ErrorCode, field: str = "topics", index: str = "partitions", name: str = "name", **others: Any
) -> Callable[[int], Shape]:
    """The first partition of topic t has the error."""
    return lambda version: {field: [{name: "t", index: [{"error_code": code, **others}]}]}


def _offsets_committed(version: int) -> Shape:
    topic = {"name": "t"} if version < 10 else {"topic_id": TOPIC_IDS["t"]}
    return {"topics": [{**topic, "partitions": [{"error_code": GROUP}]}]}


def _with_message(code: ErrorCode) -> Shape:
    return {"error_code": code, "error_message": code.meaning}


def _fetched(version: int) -> Shape:
    topic = {"topic": "t"} if version < 13 else {"topic_id": TOPIC_IDS["t"]}
    unread = {"error_code": TOPIC, "high_watermark": -1, "records": None}
    return {"responses": [{**topic, "partitions": [unread]}]}


def _offsets_fetched(version: int) -> Shape:
    if version >= 8:
        return {"groups": [{"group_id": "g", "error_code": GROUP}]}
    nothing = {"committed_offset": -1, "error_code": GROUP}
    return {"error_code": GROUP} if version >= 2 else {"topics": [{"name": "t", "partitions": [nothing]}]}


def _coordinators(version: int) -> Shape:
    if version >= 4:
        refused = {"node_id": -1, "port": -1, **_with_message(GROUP)}
        return {"coordinators": [{"key": "g", **refused}, {"key": "h", **refused}]}
    message = {"error_message": GROUP.meaning} if version else {}
    return {"error_code": GROUP, "node_id": -1, "port": -1, **message}


def _created(version: int) -> Shape:
    message = {"error_message": "Authorization failed."} if version >= 1 else {}
    return {"topics": [{"name": "new", "error_code": TOPIC, **message}]}


def _deleted(version: int) -> Shape:
    message = {"error_message": TOPIC.meaning} if version >= 5 else {}
    return {"responses": [{"name": "t", "error_code": TOPIC, **message}]}


def _config(code: ErrorCode, kind: int, name: str) -> Shape:
    return {"resource_type": kind, "resource_name": name, **_with_message(code)}


def _elections(version: int) -> Shape:
    top = {"error_code": CLUSTER} if version >= 1 else {}
    return top | {"replica_election_results": [{"topic": "t", "partition_result": [_with_message(CLUSTER)]}]}


def _in_transaction(version: int) -> Shape:
    return {
        "results_by_topic_v3_and_below": [
            {"name": "t", "results_by_partition": [{"partition_error_code": TRANSACTION}]}
        ]
    }


def _moves(version: int) -> Shape:
    return _with_message(CLUSTER) | {"responses": [{"name": "t", "partitions": [_with_message(CLUSTER)]}]}


def _markers(version: int) -> Shape:
    return {"markers": [{"producer_id": 7, "topics": [{"name": "t", "partitions": [{"error_code": CLUSTER}]}]}]}


def _produced(version: int) -> Shape:
    message = {"error_message": TOPIC.meaning} if version >= 8 else {}
    refused = {"error_code": TOPIC, "base_offset": -1, **message}
    topic = {"name": "t"} if version < 13 else {"topic_id": TOPIC_IDS["t"]}
    return {"responses": [{**topic, "partition_responses": [refused]}]}


def _committed_in_transaction(version: int) -> Shape:
    topic = {"name": "t"} if version < 6 else {"topic_id": TOPIC_IDS["t"]}
    return {"topics": [{**topic, "partitions": [{"error_code": TRANSACTION}]}]}


def _quotas(version: int) -> Shape:
    entity = [{"entity_type": "user", "entity_name": "u"}]
    return {"entries": [{**_with_message(CLUSTER), "entity": entity}]}


#: Everybody may ask these; what they tell of each thing, `test_lists` and `test_operations` look at.
FREE = {
    ApiKey.API_VERSIONS,
    ApiKey.SASL_HANDSHAKE,
    ApiKey.SASL_AUTHENTICATE,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.LIST_GROUPS,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    ApiKey.PUSH_TELEMETRY,
    ApiKey.LIST_TRANSACTIONS,
    # For oneself; of others' tokens test_delegation_tokens has tables of its own.
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
}
#: No right opens these, and none the versions of AddPartitionsToTxn that leaders ask.
MEMBERS_ONLY = {ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN}

#: The last versions in which topics have names, where later ones have ids instead.
LAST_BY_NAME = {
    ApiKey.OFFSET_COMMIT: 9,
    ApiKey.OFFSET_FETCH: 9,
    ApiKey.FETCH: 12,
    ApiKey.PRODUCE: 12,
    ApiKey.TXN_OFFSET_COMMIT: 5,
}

_READ_GROUP = Needs(_all(on_group(AclOperation.READ)), _at_top(GROUP))

NEEDS: dict[ApiKey, Needs] = {
    ApiKey.PRODUCE: Needs(_all(on_topic(AclOperation.WRITE)), _produced),
    ApiKey.FETCH: Needs(_all(on_topic(AclOperation.READ)), _fetched),
    ApiKey.LIST_OFFSETS: Needs(_all(on_topic(AclOperation.DESCRIBE)), _partitions(TOPIC)),
    ApiKey.METADATA: Needs(
        _all(on_topic(AclOperation.DESCRIBE)), lambda version: {"topics": [{"error_code": TOPIC, "name": "t"}]}
    ),
    ApiKey.OFFSET_COMMIT: Needs(_all(on_group(AclOperation.READ), on_topic(AclOperation.READ)), _offsets_committed),
    ApiKey.OFFSET_FETCH: Needs(
        _all(on_group(AclOperation.DESCRIBE), on_topic(AclOperation.DESCRIBE)), _offsets_fetched
    ),
    ApiKey.FIND_COORDINATOR: Needs(
        {on_group(AclOperation.DESCRIBE): 0, on_group(AclOperation.DESCRIBE, "h"): 4}, _coordinators
    ),
    ApiKey.JOIN_GROUP: Needs(
        _all(on_group(AclOperation.READ)),
        lambda version: {"error_code": GROUP, **({"protocol_name": None} if version >= 7 else {})},
    ),
    ApiKey.HEARTBEAT: _READ_GROUP,
    ApiKey.LEAVE_GROUP: _READ_GROUP,
    ApiKey.SYNC_GROUP: _READ_GROUP,
    ApiKey.DESCRIBE_GROUPS: Needs(
        _all(on_group(AclOperation.DESCRIBE)),
        lambda version: {
            "groups": [{**(_with_message(GROUP) if version >= 6 else {"error_code": GROUP}), "group_id": "g"}]
        },
    ),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Needs(
        _all(on_group(AclOperation.READ), on_topic(AclOperation.DESCRIBE)), lambda version: _with_message(GROUP)
    ),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Needs(
        _all(on_group(AclOperation.DESCRIBE)),
        lambda version: {"groups": [{**_with_message(GROUP), "group_id": "g"}]},
    ),
    ApiKey.CREATE_TOPICS: Needs(
        {on_topic(AclOperation.CREATE, "new"): 0, on_topic(AclOperation.DESCRIBE_CONFIGS, "new"): 5},
        _created,
        (frozenset({on_cluster(AclOperation.CREATE), on_topic(AclOperation.DESCRIBE_CONFIGS, "new")}),),
    ),
    ApiKey.DELETE_TOPICS: Needs(_all(on_topic(AclOperation.DELETE)), _deleted),
    ApiKey.DELETE_RECORDS: Needs(_all(on_topic(AclOperation.DELETE)), _partitions(TOPIC, low_watermark=-1)),
    ApiKey.INIT_PRODUCER_ID: Needs(
        _all(on_cluster(AclOperation.IDEMPOTENT_WRITE)),
        _at_top(CLUSTER, producer_epoch=-1),
        _instead(on_topic(AclOperation.WRITE, "any")),
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Needs(
        _all(on_topic(AclOperation.DESCRIBE)),
        _partitions(TOPIC, name="topic"),
        _instead(on_cluster(AclOperation.CLUSTER_ACTION)),
    ),
    ApiKey.ADD_PARTITIONS_TO_TXN: Needs(
        _all(on_transaction(AclOperation.WRITE), on_topic(AclOperation.WRITE)), _in_transaction
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: Needs(
        _all(on_transaction(AclOperation.WRITE), on_group(AclOperation.READ)), _at_top(TRANSACTION)
    ),
    ApiKey.END_TXN: Needs(_all(on_transaction(AclOperation.WRITE)), _at_top(TRANSACTION)),
    ApiKey.WRITE_TXN_MARKERS: Needs(
        _all(on_cluster(AclOperation.ALTER)), _markers, _instead(on_cluster(AclOperation.CLUSTER_ACTION))
    ),
    ApiKey.TXN_OFFSET_COMMIT: Needs(
        _all(on_transaction(AclOperation.WRITE), on_group(AclOperation.READ), on_topic(AclOperation.READ)),
        _committed_in_transaction,
    ),
    ApiKey.DESCRIBE_ACLS: Needs(
        _all(on_cluster(AclOperation.DESCRIBE)), _at_top(CLUSTER, error_message=CLUSTER.meaning)
    ),
    ApiKey.CREATE_ACLS: Needs(
        _all(on_cluster(AclOperation.ALTER)), lambda version: {"results": [_with_message(CLUSTER)]}
    ),
    ApiKey.DELETE_ACLS: Needs(
        _all(on_cluster(AclOperation.ALTER)), lambda version: {"filter_results": [_with_message(CLUSTER)]}
    ),
    ApiKey.DESCRIBE_CONFIGS: Needs(
        _all(on_topic(AclOperation.DESCRIBE_CONFIGS), on_cluster(AclOperation.DESCRIBE_CONFIGS)),
        lambda version: {"results": [_config(TOPIC, 2, "t"), _config(CLUSTER, 4, "1")]},
    ),
    ApiKey.LIST_CONFIG_RESOURCES: Needs(_all(on_cluster(AclOperation.DESCRIBE_CONFIGS)), _at_top(CLUSTER)),
    ApiKey.ALTER_CONFIGS: Needs(
        _all(on_topic(AclOperation.ALTER_CONFIGS)), lambda version: {"responses": [_config(TOPIC, 2, "t")]}
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Needs(
        _all(on_topic(AclOperation.ALTER_CONFIGS)), lambda version: {"responses": [_config(TOPIC, 2, "t")]}
    ),
    ApiKey.ALTER_REPLICA_LOG_DIRS: Needs(
        _all(on_cluster(AclOperation.ALTER)), _partitions(CLUSTER, field="results", name="topic_name")
    ),
    ApiKey.DESCRIBE_LOG_DIRS: Needs(
        {on_cluster(AclOperation.DESCRIBE): 3}, lambda version: {"error_code": CLUSTER} if version >= 3 else {}
    ),
    ApiKey.CREATE_PARTITIONS: Needs(
        _all(on_topic(AclOperation.ALTER)), lambda version: {"results": [{"name": "t", **_with_message(TOPIC)}]}
    ),
    ApiKey.DELETE_GROUPS: Needs(
        _all(on_group(AclOperation.DELETE)),
        lambda version: {
            "results": [{"group_id": "g", **(_with_message(GROUP) if version >= 3 else {"error_code": GROUP})}]
        },
    ),
    ApiKey.ELECT_LEADERS: Needs(_all(on_cluster(AclOperation.ALTER)), _elections),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Needs(_all(on_cluster(AclOperation.ALTER)), _moves),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Needs(
        _all(on_cluster(AclOperation.DESCRIBE)),
        _at_top(CLUSTER, error_message=CLUSTER.meaning, topics=[{"name": "t", "partitions": [{}]}]),
    ),
    ApiKey.OFFSET_DELETE: Needs(_all(on_group(AclOperation.DELETE), on_topic(AclOperation.READ)), _at_top(GROUP)),
    ApiKey.DESCRIBE_PRODUCERS: Needs(
        _all(on_topic(AclOperation.READ)), _partitions(TOPIC, error_message=TOPIC.meaning)
    ),
    ApiKey.DESCRIBE_TRANSACTIONS: Needs(
        _all(on_transaction(AclOperation.DESCRIBE)),
        lambda version: {"transaction_states": [{"error_code": TRANSACTION, "transactional_id": "x"}]},
    ),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Needs(
        _all(on_topic(AclOperation.DESCRIBE)), lambda version: {"topics": [{"error_code": TOPIC, "name": "t"}]}
    ),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: Needs(
        _all(on_cluster(AclOperation.DESCRIBE_CONFIGS)), lambda version: {**_with_message(CLUSTER), "entries": None}
    ),
    ApiKey.ALTER_CLIENT_QUOTAS: Needs(_all(on_cluster(AclOperation.ALTER_CONFIGS)), _quotas),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Needs(
        _all(on_cluster(AclOperation.DESCRIBE)), lambda version: _with_message(CLUSTER)
    ),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Needs(
        _all(on_cluster(AclOperation.ALTER)),
        lambda version: {"results": [{"user": "u", **_with_message(CLUSTER)}]},
    ),
    ApiKey.LIST_CONFIG_RESOURCES: Needs(_all(on_cluster(AclOperation.DESCRIBE_CONFIGS)), _at_top(CLUSTER)),
    ApiKey.UNREGISTER_BROKER: Needs(_all(on_cluster(AclOperation.ALTER)), lambda version: _with_message(CLUSTER)),
    ApiKey.UPDATE_FEATURES: Needs(
        _all(on_cluster(AclOperation.ALTER)),
        lambda version: (
            _with_message(CLUSTER) | ({"results": [{"feature": "f", **_with_message(CLUSTER)}]} if version < 2 else {})
        ),
    ),
    ApiKey.DESCRIBE_REQUESTS: Needs(_all(on_cluster(AclOperation.DESCRIBE)), _at_top(CLUSTER)),
    ApiKey.DESCRIBE_CLIENT_TRAFFIC: Needs(_all(on_cluster(AclOperation.DESCRIBE)), _at_top(CLUSTER)),
    ApiKey.PREVIEW_RETENTION: Needs(
        _all(on_topic(AclOperation.ALTER_CONFIGS)),
        lambda version: {"topics": [{"name": "t", **_with_message(CLUSTER)}]},
    ),
}


def request_of(api: ApiKey, version: int, topic: str = "t") -> Message:
    if api is ApiKey.ALTER_REPLICA_LOG_DIRS:
        named = AlterReplicaLogDirTopic(name=topic, partitions=[0])
        return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/nowhere", topics=[named])])
    return REQUESTS[api](version, topic)

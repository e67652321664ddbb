"""Every message declared, by API: what the header reader, the handlers, the clients and the tests look into.

A command asks two or three APIs, and all declarations together take a tenth of a second to make. So each is imported
when it is asked for; the module and the names follow from the API (ARCHITECTURE: one guess).
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message


class MessagePair(NamedTuple):
    """The request of an API and its response, declared over the same versions."""

    request: type[Message]
    response: type[Message]


_DECLARED = (
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.ALTER_PARTITION,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.ALTER_REPLICA_LOG_DIRS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.API_VERSIONS,
    ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.CREATE_ACLS,
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_ACLS,
    ApiKey.DELETE_GROUPS,
    ApiKey.DELETE_RECORDS,
    ApiKey.DELETE_TOPICS,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_CONFIGS,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.DESCRIBE_LOG_DIRS,
    ApiKey.DESCRIBE_PRODUCERS,
    ApiKey.DESCRIBE_REQUESTS,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ApiKey.DESCRIBE_TRANSACTIONS,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    ApiKey.ELECT_LEADERS,
    ApiKey.END_TXN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.FETCH,
    ApiKey.FIND_COORDINATOR,
    ApiKey.HEARTBEAT,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.JOIN_GROUP,
    ApiKey.LEADER_AND_ISR,
    ApiKey.LEAVE_GROUP,
    ApiKey.LIST_GROUPS,
    ApiKey.LIST_OFFSETS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_TRANSACTIONS,
    ApiKey.METADATA,
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_DELETE,
    ApiKey.OFFSET_FETCH,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.PREVIEW_RETENTION,
    ApiKey.PRODUCE,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.SASL_AUTHENTICATE,
    ApiKey.SASL_HANDSHAKE,
    ApiKey.STOP_REPLICA,
    ApiKey.SYNC_GROUP,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.UPDATE_FEATURES,
    ApiKey.UPDATE_METADATA,
    ApiKey.WRITE_TXN_MARKERS,
)


class _Messages(Mapping[ApiKey, MessagePair]):
    def __init__(self) -> None:
        self._imported: dict[int, MessagePair] = {}

    def __getitem__(self, api: ApiKey) -> MessagePair:
        pair = self._imported.get(api)
        if pair is None:
            if api not in _DECLARED:
                raise KeyError(api)
            pair = self._imported[api] = _import(ApiKey(api))
        return pair

    def __iter__(self) -> Iterator[ApiKey]:
        return iter(_DECLARED)

    def __len__(self) -> int:
        return len(_DECLARED)


def _import(api: ApiKey) -> MessagePair:
    module = importlib.import_module(f"{__name__}.{api.name.lower()}")
    name = "".join(word.capitalize() for word in api.name.split("_"))
    return MessagePair(getattr(module, f"{name}Request"), getattr(module, f"{name}Response"))


MESSAGES: Mapping[ApiKey, MessagePair] = _Messages()

"""Steps of dialogues, drawn."""

from random import Random
from typing import Any

from broker.handlers.registry import HANDLERS

#: Lowest and highest versions of APIs that Kafka 4.4 serves to clients; those of its newest features are left out, and
#: InitProducerId 6, which it does not call stable.
_OF_KAFKA = {
    "PRODUCE": (3, 13), "FETCH": (4, 18), "LIST_OFFSETS": (1, 11), "METADATA": (0, 13), "OFFSET_COMMIT": (2, 10),
    "OFFSET_FETCH": (1, 10), "FIND_COORDINATOR": (0, 6), "JOIN_GROUP": (2, 9), "HEARTBEAT": (0, 4),
    "LEAVE_GROUP": (0, 5), "SYNC_GROUP": (0, 5), "DESCRIBE_GROUPS": (0, 6), "LIST_GROUPS": (0, 5),
    "SASL_HANDSHAKE": (0, 1), "API_VERSIONS": (0, 5), "CREATE_TOPICS": (2, 7), "DELETE_TOPICS": (1, 6),
    "DELETE_RECORDS": (0, 2), "INIT_PRODUCER_ID": (0, 5), "OFFSET_FOR_LEADER_EPOCH": (2, 4),
    "ADD_PARTITIONS_TO_TXN": (0, 5), "ADD_OFFSETS_TO_TXN": (0, 4), "END_TXN": (0, 5), "WRITE_TXN_MARKERS": (1, 2),
    "TXN_OFFSET_COMMIT": (0, 6), "DESCRIBE_ACLS": (1, 3), "CREATE_ACLS": (1, 3), "DELETE_ACLS": (1, 3),
    "DESCRIBE_CONFIGS": (1, 4), "ALTER_CONFIGS": (0, 2), "ALTER_REPLICA_LOG_DIRS": (1, 2), "DESCRIBE_LOG_DIRS": (1, 5),
    "CREATE_PARTITIONS": (0, 3), "CREATE_DELEGATION_TOKEN": (1, 3), "RENEW_DELEGATION_TOKEN": (1, 2),
    "EXPIRE_DELEGATION_TOKEN": (1, 2), "DESCRIBE_DELEGATION_TOKEN": (1, 3), "DELETE_GROUPS": (0, 2),
    "ELECT_LEADERS": (0, 2), "INCREMENTAL_ALTER_CONFIGS": (0, 1), "ALTER_PARTITION_REASSIGNMENTS": (0, 1),
    "LIST_PARTITION_REASSIGNMENTS": (0, 0), "OFFSET_DELETE": (0, 0), "DESCRIBE_CLIENT_QUOTAS": (0, 1),
    "ALTER_CLIENT_QUOTAS": (0, 1), "DESCRIBE_USER_SCRAM_CREDENTIALS": (0, 0), "ALTER_USER_SCRAM_CREDENTIALS": (0, 0),
    "DESCRIBE_CLUSTER": (0, 2), "DESCRIBE_PRODUCERS": (0, 0), "DESCRIBE_TRANSACTIONS": (0, 0),
    "LIST_TRANSACTIONS": (0, 2), "DESCRIBE_TOPIC_PARTITIONS": (0, 0), "UPDATE_FEATURES": (0, 2),
}  # fmt: skip
_OURS = {handler.api.name: handler.advertised or handler.served for handler in HANDLERS}


def versions(api: str) -> tuple[int, int]:
    """Return the lowest and the highest version that both sides serve."""
    (ours_first, ours_last), (first, last) = _OURS[api], _OF_KAFKA[api]
    return max(ours_first, first), min(ours_last, last)


def step(drawn: Random, api: str, *, since: int = 0, until: int = 99, **body: Any) -> dict:
    """Return a step of a version that both serve, mostly the newest."""
    first, last = versions(api)
    first, last = max(first, since), min(last, until)
    return {"api": api, "version": last if drawn.random() < 0.6 else drawn.randint(first, last), "body": body}


def named(made: dict, name: str) -> dict:
    """Return the step under a name by which later steps speak of its response."""
    return {**made, "as": name}


def of(path: str, **more: Any) -> dict:
    """Return what stands for a value of an earlier response."""
    return {"$": path, **more}


def mostly(drawn: Random, usual: Any, *odd: Any, chance: float = 0.25) -> Any:
    """Return the usual value, or now and then an odd one."""
    return drawn.choice(odd) if drawn.random() < chance else usual


def some(drawn: Random, values: list, least: int = 1, most: int = 3) -> list:
    """Return so many of the values, each at most once unless it is drawn twice on purpose."""
    picked = drawn.sample(values, min(len(values), drawn.randint(least, most)))
    return [*picked, picked[0]] if picked and drawn.random() < 0.08 else picked

"""What a dialogue has left behind is taken away, so that the next one finds a broker as new."""

from typing import TYPE_CHECKING, Any

from tests.reference.dialogues.messages import request_of
from tests.reference.dialogues.wire import PlainConnection

if TYPE_CHECKING:
    from tests.reference.dialogues.speaker import Speaker

_INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
_ANY, _UNKNOWN_PATTERN = 1, 1
_BROKERS = ("", "1")
_DELETE = 1


def clean(speaker: "Speaker", apis: set[str]) -> None:
    """Take away topics, and what else these APIs make."""
    with speaker.connected() as connection:
        is_changed = _topics(connection)
        if "CREATE_ACLS" in apis:
            _acls(connection)
            is_changed = True
        if "ALTER_CLIENT_QUOTAS" in apis:
            _quotas(connection)
        if "ALTER_USER_SCRAM_CREDENTIALS" in apis:
            _credentials(connection)
            is_changed = True
        if "OFFSET_COMMIT" in apis:
            # The one group whose id is not the dialogue's own.
            _ask(connection, "DELETE_GROUPS", 1, groups_names=[""])
        if apis & {"ALTER_CONFIGS", "INCREMENTAL_ALTER_CONFIGS"}:
            _broker_configs(connection)
            is_changed = True
    if is_changed:
        speaker.settle()


def _ask(connection: PlainConnection, api: str, version: int, **body: Any) -> Any:
    return connection.exchange(request_of(api, version, body), version)


def _topics(connection: PlainConnection) -> bool:
    known = _ask(connection, "METADATA", 9, topics=None, allow_auto_topic_creation=False)
    names = [topic.name for topic in known.topics if topic.name not in _INTERNAL]
    if names:
        _ask(connection, "DELETE_TOPICS", 5, topic_names=names, timeout_ms=10_000)
    return bool(names)


def _acls(connection: PlainConnection) -> None:
    every = {
        "resource_type_filter": _ANY,
        "resource_name_filter": None,
        "pattern_type_filter": _UNKNOWN_PATTERN,
        "principal_filter": None,
        "host_filter": None,
        "operation": _ANY,
        "permission_type": _ANY,
    }
    _ask(connection, "DELETE_ACLS", 2, filters=[every])


def _quotas(connection: PlainConnection) -> None:
    known = _ask(connection, "DESCRIBE_CLIENT_QUOTAS", 0, components=[], strict=False)
    entries = [
        {
            "entity": [{"entity_type": part.entity_type, "entity_name": part.entity_name} for part in entry.entity],
            "ops": [{"key": value.key, "value": 0.0, "remove": True} for value in entry.values],
        }
        for entry in known.entries or ()
    ]
    if entries:
        _ask(connection, "ALTER_CLIENT_QUOTAS", 0, entries=entries)


def _credentials(connection: PlainConnection) -> None:
    """Take away one of a user's credentials at a time: Kafka changes no user twice in a request."""
    known = _ask(connection, "DESCRIBE_USER_SCRAM_CREDENTIALS", 0, users=None)
    for result in known.results:
        for info in result.credential_infos:
            deletion = {"name": result.user, "mechanism": info.mechanism}
            _ask(connection, "ALTER_USER_SCRAM_CREDENTIALS", 0, deletions=[deletion], upsertions=[])


def _broker_configs(connection: PlainConnection) -> None:
    resources = [{"resource_type": 4, "resource_name": name, "configuration_keys": None} for name in _BROKERS]
    known = _ask(connection, "DESCRIBE_CONFIGS", 2, resources=resources)
    dynamic = {"": 3, "1": 2}
    for result in known.results:
        names = [config.name for config in result.configs if config.config_source == dynamic[result.resource_name]]
        # One at a time: Kafka refuses to take away the cluster's min.insync.replicas, and with it all of a request.
        for name in names:
            configs = [{"name": name, "config_operation": _DELETE, "value": None}]
            resource = {"resource_type": 4, "resource_name": result.resource_name, "configs": configs}
            _ask(connection, "INCREMENTAL_ALTER_CONFIGS", 0, resources=[resource])

"""What a `server.properties` of Kafka without ZooKeeper says otherwise, and what of it counts here. Pure."""

from collections.abc import Mapping

from broker.config.definition import ConfigError, parse_list

_ROLES, _NODE_ID, _CONTROLLER_LISTENERS = "process.roles", "node.id", "controller.listener.names"


def without_kraft(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts with `node.id` as `broker.id`, and without the listeners that controllers have.

    Raises ConfigError for a file that leaves no place for the cluster's metadata, or whose two ids differ.
    """
    roles = parse_list(texts.get(_ROLES, ""))
    if roles and "broker" not in roles:
        raise ConfigError(
            f"{_ROLES}={','.join(roles)} is for a controller of KRaft, which is not here: brokers keep the cluster's "
            "metadata in ZooKeeper (zookeeper.connect)"
        )
    if roles and not texts.get("zookeeper.connect"):
        raise ConfigError(
            f"zookeeper.connect must be set: {_ROLES}={','.join(roles)} is for KRaft, and this broker keeps the "
            "cluster's metadata in ZooKeeper"
        )
    return _with_own_listeners(_with_broker_id(texts))


def _with_broker_id(texts: Mapping[str, str]) -> dict[str, str]:
    broker_id, node_id = texts.get("broker.id"), texts.get(_NODE_ID)
    if node_id is None or broker_id == node_id:
        return dict(texts)
    if broker_id is not None:
        raise ConfigError(f"broker.id={broker_id} and {_NODE_ID}={node_id} are the same number: remove one of them")
    return {**texts, "broker.id": node_id}


def _with_own_listeners(texts: dict[str, str]) -> dict[str, str]:
    names = {name.upper() for name in parse_list(texts.get(_CONTROLLER_LISTENERS, ""))}
    for key in ("listeners", "advertised.listeners") if names else ():
        if key in texts:
            own = [part for part in parse_list(texts[key]) if part.partition(":")[0].strip().upper() not in names]
            texts[key] = ",".join(own)
    return texts

"""What a `server.properties` of Kafka without ZooKeeper says otherwise, and what of it counts here. Pure."""

from collections.abc import Mapping

from broker.config.definition import ConfigError, parse_list

_ROLES, _CONTROLLER_LISTENERS = "process.roles", "controller.listener.names"


def without_kraft(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts with the broker's number by both its names, without the listeners that controllers have.

    Raises ConfigError for a file that leaves no place for the cluster's metadata, or whose two numbers differ.
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
    return _with_own_listeners(_with_both_ids(texts))


def _with_both_ids(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts with each of `broker.id` and `node.id` where one is missing, as Kafka has it."""
    named = {name: texts[name] for name in ("broker.id", "node.id") if name in texts}
    if len({text.strip() for text in named.values()}) > 1:
        raise ConfigError(f"broker.id={named['broker.id']} and node.id={named['node.id']} must be the same number")
    number = next(iter(named.values()), None)
    return dict(texts) if number is None else {**texts, "broker.id": number, "node.id": number}


def _with_own_listeners(texts: dict[str, str]) -> dict[str, str]:
    names = {name.upper() for name in parse_list(texts.get(_CONTROLLER_LISTENERS, ""))}
    for key in ("listeners", "advertised.listeners") if names else ():
        if key in texts:
            own = [part for part in parse_list(texts[key]) if part.partition(":")[0].strip().upper() not in names]
            texts[key] = ",".join(own)
    return texts

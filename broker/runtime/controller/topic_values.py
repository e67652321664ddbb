"""Values of topics' settings that the controller reads when it needs them; it holds no configuration.

The topic's own value counts first, then what was set for this broker and for all brokers while they run, then this
broker's file. A value that cannot be read is no permission, and asks for one replica in sync.
"""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from broker.common.logs import logger
from broker.config.definition import ConfigError, Key
from broker.config.topic import BY_NAME
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_UNCLEAN_ELECTION = BY_NAME["unclean.leader.election.enable"]
MIN_ISR = BY_NAME["min.insync.replicas"]
#: Kafka's name for the configuration that all brokers share.
ALL_BROKERS = "<default>"


class TopicDefaults(NamedTuple):
    """What a broker's file says of topics for which nothing else is set."""

    unclean_election: bool = False
    min_isr: int = 1


async def topics_with_unclean_election(
    store: ClusterStore, topics: Collection[str], broker_id: int, *, by_file: bool
) -> frozenset[str]:
    """Return those of `topics` that allow unclean elections; `by_file` is the configuration file's value of broker
    `broker_id`.
    """
    values = await _values(store, _UNCLEAN_ELECTION, topics, broker_id, by_file, unreadable=False)
    return frozenset(name for name, is_allowed in values.items() if is_allowed)


async def min_isr_of_topics(
    store: ClusterStore, topics: Collection[str], broker_id: int, *, by_file: int
) -> dict[str, int]:
    """Return min.insync.replicas of each of `topics`; `by_file` as above."""
    return await _values(store, MIN_ISR, topics, broker_id, by_file, unreadable=1)


async def _values(
    store: ClusterStore, key: Key, topics: Collection[str], broker_id: int, by_file: Any, *, unreadable: Any
) -> dict[str, Any]:
    names = sorted(topics)
    *of_topics, of_broker, of_all = await asyncio.gather(
        *(_config(store, key, "topics", name) for name in names),
        _config(store, key, "brokers", str(broker_id)),
        _config(store, key, "brokers", ALL_BROKERS),
    )

    def value(config: Mapping[str, str], default: Any) -> Any:
        try:
            return key.read(config[key.name]) if key.name in config else default
        except ConfigError as error:
            _log.warning("setting cannot be read", key=key.name, counts_as=str(unreadable), reason=error.message)
            return unreadable

    default = value(of_broker, value(of_all, by_file))
    return {name: value(config, default) for name, config in zip(names, of_topics, strict=True)}


async def _config(store: ClusterStore, key: Key, entity_type: str, name: str) -> Mapping[str, str]:
    try:
        return await store.config(entity_type, name)
    except MalformedZnode as error:
        return {key.name: str(error)}

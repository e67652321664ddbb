"""Values of topics' settings that the controller reads when it needs them; it holds no configuration.

The topic's own value counts first, then what was set for this broker and for all brokers while they run, then this
broker's file. A value that cannot be read is no permission, and asks for one replica in sync.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from broker.common.eligible_leaders import MinIsrSettings
from broker.common.logs import logger
from broker.config.definition import ConfigError, Key
from broker.config.topic import BY_NAME
from broker.zookeeper.ask_each import ask_each
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
    default, own = await _values(store, _UNCLEAN_ELECTION, topics, broker_id, by_file, unreadable=False)
    return frozenset(name for name in topics if own.get(name, default))


async def min_isr_of_topics(
    store: ClusterStore, topics: Collection[str], broker_id: int, *, by_file: int
) -> MinIsrSettings:
    """Return min.insync.replicas of those of `topics` that have their own, and the default; `by_file` as above."""
    return MinIsrSettings(*await _values(store, MIN_ISR, topics, broker_id, by_file, unreadable=1))


async def _values(
    store: ClusterStore, key: Key, topics: Collection[str], broker_id: int, by_file: Any, *, unreadable: Any
) -> tuple[Any, dict[str, Any]]:
    """Return the default, and the values of the topics that have their own."""

    async def value(entity: tuple[str, str]) -> Any:
        try:
            config = await store.config(*entity)
            return key.read(config[key.name]) if key.name in config else None
        except (ConfigError, MalformedZnode) as error:
            _log.warning("setting cannot be read", key=key.name, counts_as=str(unreadable), reason=str(error))
            return unreadable

    names = sorted(topics)
    entities = [("brokers", str(broker_id)), ("brokers", ALL_BROKERS), *(("topics", name) for name in names)]
    of_broker, of_all, *of_topics = await ask_each(value, entities)
    default = next(item for item in (of_broker, of_all, by_file) if item is not None)
    return default, {name: item for name, item in zip(names, of_topics, strict=True) if item is not None}

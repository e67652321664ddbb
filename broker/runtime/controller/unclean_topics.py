"""Which topics let a replica lead that was not in sync: `unclean.leader.election.enable`, read when it is needed.

The topic's own value counts first, then what was set for this broker and for all brokers while they run, then this
broker's file. A value that cannot be read is no permission.
"""

import asyncio
from collections.abc import Collection, Mapping

from broker.common.logs import logger
from broker.config.definition import ConfigError
from broker.config.topic import BY_NAME
from broker.zookeeper.errors import MalformedZnode
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_KEY = BY_NAME["unclean.leader.election.enable"]
#: Kafka's name for the configuration that all brokers share.
ALL_BROKERS = "<default>"


async def topics_with_unclean_election(
    store: ClusterStore, topics: Collection[str], broker_id: int, *, by_file: bool
) -> frozenset[str]:
    """Return those of `topics` that allow unclean elections; `by_file` is the configuration file's value of broker
    `broker_id`.
    """
    names = sorted(topics)
    *of_topics, of_broker, of_all = await asyncio.gather(
        *(_config(store, "topics", name) for name in names),
        _config(store, "brokers", str(broker_id)),
        _config(store, "brokers", ALL_BROKERS),
    )
    default = _value(of_broker, _value(of_all, by_file))
    return frozenset(name for name, config in zip(names, of_topics, strict=True) if _value(config, default))


async def _config(store: ClusterStore, entity_type: str, name: str) -> Mapping[str, str]:
    try:
        return await store.config(entity_type, name)
    except MalformedZnode as error:
        return {_KEY.name: str(error)}


def _value(config: Mapping[str, str], default: bool) -> bool:
    try:
        return _KEY.read(config[_KEY.name]) if _KEY.name in config else default
    except ConfigError as error:
        _log.warning("no unclean election", reason=error.message)
        return False

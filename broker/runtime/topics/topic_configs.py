"""The configuration of topics while the broker runs: read from ZooKeeper, applied to logs, changed for clients.

A change written by any broker or tool to `/config/topics/T` with a notification reaches every broker, and the logs it
hosts of that topic work by it from the next append on. What a topic does not say itself, the broker's configuration
says, which may change too.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.topic_names import is_topic_name
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError
from broker.config.resolution import topic_values
from broker.config.topic import BY_NAME, check_topic_configs
from broker.log.config import LogConfig
from broker.runtime.idle_keys import IdleKeys
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.topics.internal_topics import compacted, require_compacted
from broker.zookeeper.errors import ConnectionInterrupted, MalformedZnode, SessionLost, ZooKeeperError, answer_of
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)
ENTITY = "topics"
#: From the overrides there are to those there shall be; may be asked more than once.
ConfigChange = Callable[[dict[str, str]], dict[str, str]]


class TopicConfigs:
    """Reads, applies and replaces the overrides of topics."""

    def __init__(self, store: ClusterStore, replicas: ReplicaManager, broker_config: BrokerConfig):
        self._store = store
        self._replicas = replicas
        self._broker_config = broker_config
        self._idle_keys = IdleKeys("topic", BY_NAME.get)
        #: Counts what may have made a configuration that was read a moment ago an old one.
        self._changes = 0

    async def overrides(self, topic: str) -> dict[str, str]:
        """Return the topic's own overrides; raises ApiError while ZooKeeper is away."""
        try:
            return await self._store.config(ENTITY, topic)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error

    async def log_configs(self, topics: Iterable[str]) -> dict[str, LogConfig]:
        """Return the log configurations of `topics` before they are hosted, without invalid ones.

        Waits while ZooKeeper is out of reach: under the defaults a log could be acknowledged by too few replicas, or
        let go of what its topic keeps.
        """
        names = [name for name in topics if is_topic_name(name)]
        changes_before = -1
        while changes_before != self._changes:
            changes_before = self._changes
            configs = await asyncio.gather(*(self._log_config(name) for name in names))
        return {name: config for name, config in zip(names, configs, strict=True) if config is not None}

    async def _log_config(self, topic: str) -> LogConfig | None:
        while True:
            try:
                return self._log_config_by(topic, await self._store.config(ENTITY, topic))
            except (ConnectionInterrupted, SessionLost):
                await self._store.session.wait_connected()
            except (ZooKeeperError, MalformedZnode, ConfigError) as error:
                _log.error("topic configuration not applied", topic=topic, reason=str(error))
                return None

    def _log_config_by(self, topic: str, overrides: Mapping[str, str]) -> LogConfig:
        return log_config(compacted(topic, overrides), self._broker_config)

    @staticmethod
    def check(topic: str, present: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """Raise ConfigError unless `wanted` may be set for the topic in the place of `present`."""
        check_topic_configs(wanted)
        require_compacted(topic, present, wanted)

    async def change(self, topic: str, change: ConfigChange) -> None:
        """Set what `change` makes of the overrides, and tell every broker; raises ApiError when a value cannot be."""

        def checked(present: dict[str, str]) -> dict[str, str]:
            wanted = change(present)
            self.check(topic, present, wanted)
            return wanted

        try:
            overrides = await self._store.change_config(ENTITY, topic, checked)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error
        self._idle_keys.tell(overrides)
        _log.info("topic configuration changed", topic=topic, overrides=",".join(sorted(overrides)))

    async def apply(self, topic: str) -> None:
        """Apply the topic's current configuration to its logs here; raises ZooKeeperError."""
        self._changes += 1
        if topic not in self._hosted_topics():
            return
        try:
            config = self._log_config_by(topic, await self._store.config(ENTITY, topic))
        except (MalformedZnode, ConfigError) as error:
            _log.error("topic configuration not applied", topic=topic, reason=str(error))
            return
        for hosted in self._replicas:
            if hosted.partition.topic_partition.topic == topic:
                self._replicas.configure(hosted, config)

    async def apply_all(self) -> None:
        """Apply the broker's changed configuration to every topic hosted here."""
        self._changes += 1
        await asyncio.gather(*(self.apply(topic) for topic in self._hosted_topics()))

    def _hosted_topics(self) -> set[str]:
        return {hosted.partition.topic_partition.topic for hosted in self._replicas}


def log_config(overrides: Mapping[str, str], broker_config: BrokerConfig) -> LogConfig:
    """Return the topic's log configuration; raises ConfigError for overrides that were written without validation."""
    values = topic_values(overrides, broker_config)
    return LogConfig(**{field.name: values[field.name] for field in fields(LogConfig)})

"""The configuration of topics while the broker runs: read from ZooKeeper, applied to logs, changed for clients.

A change written by any broker or tool to `/config/topics/T` with a notification reaches every broker, and the logs it
hosts of that topic work by it from the next append on.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import fields

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError
from broker.config.resolution import topic_values
from broker.config.topic import check_topic_configs
from broker.log.config import LogConfig
from broker.runtime.replica_manager import ReplicaManager
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.watches import ConfigChanges

_log = logger(__name__)
_ENTITY = "topics"


class TopicConfigs:
    """Reads, applies and replaces the overrides of topics."""

    def __init__(self, store: ClusterStore, replicas: ReplicaManager, broker_config: BrokerConfig):
        self._store = store
        self._replicas = replicas
        self._broker_config = broker_config
        self._changes: ConfigChanges | None = None
        self._applying: set[asyncio.Task] = set()

    def start(self) -> None:
        """From now on every notified change is applied."""
        self._changes = ConfigChanges(self._store.session, self._on_change)

    def stop(self) -> None:
        if self._changes:
            self._changes.close()
        for task in self._applying:
            task.cancel()

    async def overrides(self, topic: str) -> dict[str, str]:
        """What is set for the topic itself; raises ApiError while ZooKeeper is away."""
        try:
            return await self._store.config(_ENTITY, topic)
        except ZooKeeperError as error:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {error}") from error

    async def log_configs(self, topics: Iterable[str]) -> dict[str, LogConfig]:
        """What the logs of `topics` go by, to be known before they are hosted; without those that cannot be had now."""
        names = list(topics)
        found = await asyncio.gather(*(self._log_config(name) for name in names))
        return {name: config for name, config in zip(names, found, strict=True) if config is not None}

    async def _log_config(self, topic: str) -> LogConfig | None:
        try:
            return log_config(await self.overrides(topic), self._broker_config)
        except (ApiError, ConfigError) as error:
            _log.error("topic configuration not applied", topic=topic, reason=str(error))
            return None

    async def replace(self, topic: str, overrides: Mapping[str, str]) -> None:
        """Set exactly `overrides`, and tell every broker; raises ApiError when a value is not possible."""
        check_topic_configs(overrides)
        try:
            await self._store.set_config(_ENTITY, topic, dict(overrides))
        except ZooKeeperError as error:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT, f"ZooKeeper: {error}") from error
        _log.info("topic configuration changed", topic=topic, overrides=",".join(sorted(overrides)))

    def _on_change(self, entity_path: str) -> None:
        entity_type, _, name = entity_path.partition("/")
        if entity_type == _ENTITY:
            self._apply_soon(name)

    def _apply_soon(self, topic: str) -> None:
        task = asyncio.get_running_loop().create_task(self._apply(topic))
        self._applying.add(task)
        task.add_done_callback(self._applying.discard)

    async def _apply(self, topic: str) -> None:
        config = await self._log_config(topic)
        if config is None:
            return
        for hosted in self._replicas:
            if hosted.partition.topic_partition.topic == topic:
                hosted.log.config = config


def log_config(overrides: Mapping[str, str], broker_config: BrokerConfig) -> LogConfig:
    """What a topic's logs go by; raises ConfigError for overrides that were written past every check."""
    values = topic_values(overrides, broker_config)
    return LogConfig(**{field.name: values[field.name] for field in fields(LogConfig)})

"""The configuration of this broker while it runs: read from ZooKeeper, resolved, changed for clients (KIP-226).

`/config/brokers/<id>` is for one broker, `/config/brokers/<default>` for all; a change written by any broker or tool,
with a notification, counts at once. What cannot count (a key that is read at the start only, a value out of range,
written past every check) is left out and logged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.config.broker import BrokerConfig, key_of
from broker.config.definition import ConfigError, ConfigSource
from broker.config.dynamic import PER_BROKER, check_broker_change, read_broker_change
from broker.config.listener_changes import check_listener_change
from broker.runtime.controller.eligible_leader_settings import check_min_isr_change
from broker.runtime.idle_keys import IdleKeys
from broker.runtime.topics.topic_configs import ConfigChange
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError, answer_of
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

ENTITY = "brokers"
#: The znode of what is set for all brokers.
FOR_ALL = "<default>"


class BrokerConfigs:
    """Loads, applies and replaces what is set for this broker and for all."""

    def __init__(self, store: ClusterStore, config: BrokerConfig):
        self._store = store
        self._config = config
        self._own = str(config.broker_id)
        self._applying = asyncio.Lock()
        self._idle_keys = IdleKeys("broker", key_of)
        #: Whether somebody has not heard of the last change.
        self._is_telling = False
        #: Whether the cluster keeps eligible leader replicas (KIP-966).
        self.keeps_eligible: Callable[[], bool] = lambda: False
        #: Asked before listeners change; ConfigError says why it cannot be so.
        self.before_change: list[Callable[[BrokerConfig], None]] = []
        #: Awaited, in order, after `config` has other values than before.
        self.on_changed: list[Callable[[], Awaitable[None] | None]] = []

    async def apply(self, name: str = FOR_ALL) -> None:
        """Look what is set, and let it count; raises ZooKeeperError. `name` may be another broker's."""
        if name not in (self._own, FOR_ALL):
            return
        async with self._applying:
            own, cluster_wide = await asyncio.gather(self._read(self._own), self._read(FOR_ALL))
            self._idle_keys.tell({*own, *cluster_wide})
            self._leave_out_impossible_listeners(own, cluster_wide)
            if self._config.set_dynamic(own, cluster_wide):
                self._is_telling = True
                _log.info("configuration changed", own=",".join(sorted(own)), for_all=",".join(sorted(cluster_wide)))
            if self._is_telling:
                await self._notify_listeners()

    def _leave_out_impossible_listeners(self, own: dict[str, Any], cluster_wide: dict[str, Any]) -> None:
        """Leave out impossible listeners, which were written without validation."""
        try:
            self._config.with_dynamic(own, cluster_wide).check_listeners()
        except ConfigError as error:
            _log.error("configuration left out", entity=self._own, reason=error.message)
            for name in PER_BROKER & own.keys():
                del own[name]

    def check(self, broker_id: str, present: Mapping[str, str], texts: Mapping[str, str]) -> None:
        """ConfigError if this cannot be all that is set, in place of what is at `present`."""
        name = broker_id or FOR_ALL
        if self.keeps_eligible():
            check_min_isr_change(broker_id, present, texts)
        check_broker_change(texts, is_for_all=name == FOR_ALL)
        if name == self._own:
            own = {key: read_broker_change(key, text, is_for_all=False) for key, text in texts.items()}
            then = self._config.with_dynamic(own, self._config.layers[ConfigSource.CLUSTER])
            check_listener_change(self._config, then)
            for check in self.before_change:
                check(then)

    async def _notify_listeners(self) -> None:
        for listener in self.on_changed:
            waiting = listener()
            if waiting is not None:
                await waiting
        self._is_telling = False

    async def _read(self, name: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        try:
            overrides = await self._store.config(ENTITY, name)
        except MalformedZnode as error:
            _log.error("configuration left out", entity=name, reason=str(error))
            return values
        for key, text in overrides.items():
            try:
                values[key] = read_broker_change(key, text, is_for_all=name == FOR_ALL)
            except ConfigError as error:
                _log.error("configuration left out", entity=name, reason=error.message)
        return values

    async def overrides(self, broker_id: str) -> dict[str, str]:
        """Return the dynamic configuration of this broker, or of the cluster with the empty name; ApiError while
        ZooKeeper is away.
        """
        try:
            return await self._store.config(ENTITY, broker_id or FOR_ALL)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error

    async def change(self, broker_id: str, change: ConfigChange) -> None:
        """Set what `change` makes of the overrides and tell every broker; they count here when this returns.

        Raises ApiError when a value cannot be.
        """
        name = broker_id or FOR_ALL

        def checked(present: dict[str, str]) -> dict[str, str]:
            wanted = change(present)
            self.check(broker_id, present, wanted)
            return wanted

        try:
            overrides = await self._store.change_config(ENTITY, name, checked)
            await self.apply(name)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error
        _log.info("broker configuration set", entity=name, overrides=",".join(sorted(overrides)))

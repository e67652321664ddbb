"""The configuration of groups while the broker runs: read from ZooKeeper, changed for clients, known to coordinators.

Kafka keeps it in the metadata log, and has no place for it in ZooKeeper. Here it is the znode `/config/groups/<group>`:
Kafka's name for the type, beside those of the other types, with the same notifications. The group's name is written as
those of users are.
"""

import asyncio
from collections.abc import Mapping

from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import GROUP_NAME_LENGTH_MAX
from broker.common.logs import logger
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigError
from broker.config.group import bounds_of, check_group_configs, read_group_config
from broker.runtime.topics.topic_configs import ConfigChange
from broker.security.sanitized_names import desanitized, sanitized
from broker.zookeeper.entity_configs import EntityConfigs
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError, answer_of

_log = logger(__name__)

ENTITY = "groups"


class GroupConfigs:
    def __init__(self, configs: EntityConfigs, broker: BrokerConfig):
        self._configs = configs
        self._broker = broker
        self._applying = asyncio.Lock()
        self._values: dict[str, Mapping[str, int]] = {}

    @property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """By group, the values by key that count for it, within the broker's bounds; it changes as they do."""
        return self._values

    async def load(self) -> None:
        """Read what is set for every group; raises ZooKeeperError."""
        for name in await self._configs.names(ENTITY):
            await self.apply(name)

    async def apply(self, name: str) -> None:
        """Read what is set for the group, whose name is that of a znode; raises ZooKeeperError."""
        async with self._applying:
            group_id, config = desanitized(name), await self._configs.of(f"{ENTITY}/{name}")
            if values := self._read(group_id, config):
                self._values[group_id] = values
            else:
                self._values.pop(group_id, None)

    def _read(self, group_id: str, config: Mapping[str, str]) -> dict[str, int]:
        values = {}
        for name, text in config.items():
            try:
                value = read_group_config(name, text)
            except ConfigError as error:
                _log.error("configuration left out", entity=group_id, reason=error.message)
                continue
            least, greatest = bounds_of(name, self._broker)
            values[name] = max(least, min(value, greatest))
            if values[name] != value:
                _log.warning("configuration capped", entity=group_id, key=name, value=value, counts=values[name])
        return values

    def names(self) -> list[str]:
        """Return the groups that anything is set for."""
        return sorted(self._values)

    async def overrides(self, group_id: str) -> dict[str, str]:
        """Return what is set for the group; ApiError while ZooKeeper is away."""
        _check_name(group_id)
        try:
            return await self._configs.of(f"{ENTITY}/{sanitized(group_id)}")
        except ZooKeeperError as error:
            raise answer_of(error) from error

    def check(self, wanted: Mapping[str, str]) -> None:
        """Raises ConfigError unless this may be all that is set for a group."""
        check_group_configs(wanted, self._broker)

    async def change(self, group_id: str, change: ConfigChange) -> None:
        """Set what `change` makes of what is set, and announce it; it counts here when this returns.

        Raises ApiError when a value cannot be.
        """
        _check_name(group_id)

        def checked(present: dict[str, str]) -> dict[str, str]:
            wanted = change(present)
            self.check(wanted)
            return wanted

        name = sanitized(group_id)
        try:
            overrides = await self._configs.change(f"{ENTITY}/{name}", checked)
            await self.apply(name)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error
        _log.info("group configuration set", entity=group_id, overrides=",".join(sorted(overrides)))


def _check_name(group_id: str) -> None:
    if not group_id:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Group name can't be empty.")
    if len(group_id) > GROUP_NAME_LENGTH_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Names of groups may have {GROUP_NAME_LENGTH_MAX} letters.")

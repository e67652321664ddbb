"""The subscriptions to client metrics in ZooKeeper, `/config/client-metrics/NAME`, as this broker has them."""

from collections.abc import Mapping

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.telemetry_limits import METRICS_SUBSCRIPTIONS_MAX
from broker.config.client_metrics import MetricsSubscription, read_subscription
from broker.config.definition import ConfigError
from broker.runtime.topics.topic_configs import ConfigChange
from broker.zookeeper.entity_configs import EntityConfigs
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError, answer_of

_log = logger(__name__)

ENTITY = "client-metrics"


class MetricsSubscriptions:
    """Reads, applies and changes subscriptions; a change counts on each broker at once."""

    def __init__(self, configs: EntityConfigs):
        self._configs = configs
        self.by_name: dict[str, MetricsSubscription] = {}
        #: Another one whenever a subscription came, went or changed.
        self.version = 0

    async def load(self) -> None:
        """Read all. Raises ZooKeeperError."""
        for name in await self._configs.names(ENTITY):
            await self.apply(name)

    async def apply(self, name: str) -> None:
        """Take the subscription as it is in ZooKeeper, none if it cannot be read. Raises ZooKeeperError."""
        texts = await self._configs.of(_path(name))
        try:
            subscription = read_subscription(name, texts) if texts else None
        except (ApiError, ConfigError) as error:
            _log.error("subscription to client metrics left out", subscription=name, reason=error.message)
            subscription = None
        if subscription is None:
            self.by_name.pop(name, None)
        else:
            self.by_name[name] = subscription
        self.version += 1

    async def overrides(self, name: str) -> dict[str, str]:
        """Return the settings of the subscription. Raises ApiError while ZooKeeper is away."""
        try:
            return await self._configs.of(_path(name))
        except ZooKeeperError as error:
            raise answer_of(error) from error

    def check(self, name: str, texts: Mapping[str, str]) -> None:
        """Raise ApiError or ConfigError if these cannot be the settings of the subscription."""
        read_subscription(name, texts)
        if name not in self.by_name and len(self.by_name) >= METRICS_SUBSCRIPTIONS_MAX:
            full = f"there are {METRICS_SUBSCRIPTIONS_MAX} subscriptions; delete one first"
            raise ApiError(ErrorCode.POLICY_VIOLATION, full)

    async def change(self, name: str, change: ConfigChange) -> None:
        """Set what `change` makes of the settings; without any the subscription is gone. Raises ApiError."""

        def checked(present: dict[str, str]) -> dict[str, str]:
            wanted = change(present)
            self.check(name, wanted)
            return wanted

        try:
            await self._configs.change(_path(name), checked)
            await self.apply(name)
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error


def _path(name: str) -> str:
    return f"{ENTITY}/{name}"

"""min.insync.replicas while eligible leader replicas are kept (KIP-966): one value for all brokers, as in Kafka 4.1."""

from collections.abc import Mapping

from broker.common.logs import logger
from broker.config.definition import ConfigError
from broker.runtime.controller.topic_values import ALL_BROKERS, MIN_ISR
from broker.zookeeper.errors import MalformedZnode, OperationRefused, QuotaExceeded
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)

_BROKERS = "brokers"


async def unify_min_isr(store: ClusterStore, by_file: int) -> None:
    """Set the value of all brokers to that of this broker's file if there is none, and remove those of single brokers.

    Idempotent. Raises ZooKeeperError; what cannot be read, or has no room, is left out and logged.
    """
    try:
        for name in await store.session.children_if_present(f"/config/{_BROKERS}"):
            if name != ALL_BROKERS and MIN_ISR.name in await store.config(_BROKERS, name):
                await store.change_config(_BROKERS, name, _without_min_isr)
                _log.info("setting of one broker removed: it is the same for all", key=MIN_ISR.name, broker=name)
        if MIN_ISR.name not in await store.config(_BROKERS, ALL_BROKERS):
            await store.change_config(_BROKERS, ALL_BROKERS, lambda present: {MIN_ISR.name: str(by_file), **present})
            _log.info("setting of all brokers added", key=MIN_ISR.name, value=by_file)
    except (MalformedZnode, OperationRefused, QuotaExceeded) as error:
        _log.error("min.insync.replicas is not the same for all brokers", reason=str(error))


def _without_min_isr(present: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in present.items() if name != MIN_ISR.name}


def check_min_isr_change(broker_id: str, present: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Raise ConfigError, in Kafka's words, for a change that eligible leader replicas forbid.

    `broker_id` is empty for the value of all brokers.
    """
    if broker_id and present.get(MIN_ISR.name) != wanted.get(MIN_ISR.name):
        raise ConfigError(f"Broker-level {MIN_ISR.name} cannot be altered while ELR is enabled.")
    if not broker_id and MIN_ISR.name in present and MIN_ISR.name not in wanted:
        raise ConfigError(f"Cluster-level {MIN_ISR.name} cannot be removed while ELR is enabled.")

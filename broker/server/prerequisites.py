"""What a broker stands on: what is there before its parts are made."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.log.manager import LogManager
from broker.net.turns import Turns
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.cluster_features import ClusterFeatures
from broker.runtime.log_dir_room import LogDirRoom
from broker.runtime.metadata_cache import MetadataCache
from broker.security.membership import ClusterMembership
from broker.server.listeners import Listeners
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore


@dataclass(frozen=True, slots=True)
class Ground:
    """What is there before: the ports, the loaded logs, ZooKeeper and what it says of the cluster."""

    config: BrokerConfig
    configs: BrokerConfigs
    clock: Clock
    session: ZooKeeperSession
    store: ClusterStore
    cluster_id: str
    membership: ClusterMembership
    metadata: MetadataCache
    listeners: Listeners
    turns: Turns
    descriptor_limit: int
    logs: LogManager
    room: LogDirRoom
    registry: CollectorRegistry
    features: ClusterFeatures

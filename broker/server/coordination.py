"""One broker's coordinators of groups and transactions, and its lines to those of other brokers."""

from collections.abc import Callable, Mapping
from functools import partial

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.coordinator.consumer_group.config import ConsumerGroupConfig, MigrationPolicy
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.memory import GroupMemory
from broker.coordinator.transaction.config import TransactionConfig
from broker.handlers.write_txn_markers import handle_write_txn_markers
from broker.net.dialer import Dialer
from broker.runtime.cluster_features import ClusterFeatures, raises_epochs
from broker.runtime.coordinators.group_coordinators import forget_partitions, group_coordinators
from broker.runtime.coordinators.known_topics import KnownTopics
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.coordinators.transaction_verifier import TransactionVerifier
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.transactional_appends import TransactionalAppends
from broker.runtime.requests.context import RequestContext, Services
from broker.security.membership import MEMBER
from broker.security.session import Session
from broker.zookeeper.store import ClusterStore

_WRITE_TXN_MARKERS_VERSION = 2


class Coordination:
    """Made before `Services`, of which it is a part; `serve` connects it to them."""

    def __init__(
        self,
        config: BrokerConfig,
        replicas: ReplicaManager,
        metadata: MetadataCache,
        store: ClusterStore,
        address_of: Callable[[int], tuple[str, int] | None],
        dialer: Dialer,
        clock: Clock,
        steady: Clock,
        features: ClusterFeatures,
        of_groups: Mapping[str, Mapping[str, int]],
    ):
        """steady: by which committed offsets are too old. of_groups: what is set for groups, see `GroupConfigs`."""
        self.group_memory = GroupMemory()
        deleted = DeletedPartitions()
        self.groups = group_coordinators(
            replicas,
            _group_config(config),
            clock,
            self.group_memory,
            deleted,
            metadata.topic_id_of,
            steady.now_ms,
            _consumer_group_config(config, of_groups),
            KnownTopics(metadata),
        )
        self.markers = MarkerSender(config.broker_id, metadata, address_of, dialer, store.partition_exists)
        self.transactions = TransactionCoordinators(
            replicas, metadata, _transaction_config(config), self.markers, clock
        )
        self._verifier = TransactionVerifier(metadata, config.broker_id, address_of, dialer, self.transactions.verify)
        self.appends = TransactionalAppends(
            replicas,
            self._verifier.verify,
            is_enabled=lambda: config.transaction_partition_verification_enable,
            may_add=partial(raises_epochs, features),
        )
        metadata.on_deleted.append(partial(forget_partitions, self.groups, deleted, clock))

    def serve(self, services: Services, listener_name: str) -> None:
        """Serve markers: those for this broker's own partitions take the same way as others, without the socket."""
        session = Session("", listener_name, MEMBER, is_member=True)
        context = RequestContext(services, _WRITE_TXN_MARKERS_VERSION, "", session)
        self.markers.write_here = lambda request: handle_write_txn_markers(request, context)

    def stop(self) -> None:
        self.groups.stop()
        self.transactions.stop()
        self._verifier.close()


def _group_config(config: BrokerConfig) -> GroupConfig:
    return GroupConfig(
        group_min_session_timeout_ms=config.group_min_session_timeout_ms,
        group_max_session_timeout_ms=config.group_max_session_timeout_ms,
        group_initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
        group_max_size=config.group_max_size,
        offset_metadata_max_bytes=config.offset_metadata_max_bytes,
        offsets_commit_timeout_ms=config.offsets_commit_timeout_ms,
        offsets_retention_minutes=config.offsets_retention_minutes,
        offsets_retention_check_interval_ms=config.offsets_retention_check_interval_ms,
    )


def _consumer_group_config(config: BrokerConfig, of_groups: Mapping[str, Mapping[str, int]]) -> ConsumerGroupConfig:
    return ConsumerGroupConfig(
        group_consumer_session_timeout_ms=config.group_consumer_session_timeout_ms,
        group_consumer_heartbeat_interval_ms=config.group_consumer_heartbeat_interval_ms,
        group_consumer_max_size=config.group_consumer_max_size,
        group_consumer_assignors=config.group_consumer_assignors,
        group_consumer_assignment_interval_ms=config.group_consumer_assignment_interval_ms,
        group_consumer_regex_refresh_interval_ms=config.group_consumer_regex_refresh_interval_ms,
        group_consumer_migration_policy=MigrationPolicy(config.group_consumer_migration_policy),
        group_max_size=config.group_max_size,
        of_groups=of_groups,
    )


def _transaction_config(config: BrokerConfig) -> TransactionConfig:
    return TransactionConfig(
        transaction_max_timeout_ms=config.transaction_max_timeout_ms,
        transaction_two_phase_commit_enable=config.transaction_two_phase_commit_enable,
        transactional_id_expiration_ms=config.transactional_id_expiration_ms,
        request_timeout_ms=config.request_timeout_ms,
    )

"""What every request is handled with: the rooms of this broker, and who asks in which version.

Nothing else of `broker.runtime` imports this package (pyproject.toml): it is the floor right below the handlers.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import NamedTuple

from broker.common.clock import Clock
from broker.config.broker import BrokerConfig
from broker.coordinator.group.memory import GroupMemory
from broker.net.turns import Turns
from broker.protocol.schema import Message
from broker.replication.fetch_session import FetchSessions
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.cluster_features import ClusterFeatures
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.controller_epochs import ControllerEpochs
from broker.runtime.coordinators.group_coordinators import GroupCoordinators
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.coordinators.transaction_coordinators import TransactionCoordinators
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.group_configs import GroupConfigs
from broker.runtime.in_turns import InOrder
from broker.runtime.log_dirs import LogDirs
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.replication.delayed_produces import DelayedProduces
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.log_dir_moves import LogDirMoves
from broker.runtime.replication.record_deletions import RecordDeletions
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.transactional_appends import TransactionalAppends
from broker.runtime.request_times import RequestTimes
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.security.authorizer import Authorizer, RightsOf, unlimited_rights
from broker.runtime.security.credentials import UserCredentials
from broker.runtime.security.delegation_tokens import DelegationTokens
from broker.runtime.security.quotas import Quotas
from broker.runtime.telemetry.client_telemetry import ClientTelemetry
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs
from broker.security.client_traffic import TrafficCounters, TrafficOfClient
from broker.security.session import Session


@dataclass(frozen=True, slots=True)
class Services:
    """The rooms of one broker that handlers may ask."""

    config: BrokerConfig
    cluster_id: str
    metadata: MetadataCache
    features: ClusterFeatures
    replicas: ReplicaManager
    delayed_fetches: DelayedFetches
    fetch_sessions: FetchSessions
    feeds: FollowerFeeds
    delayed_produces: DelayedProduces
    deletions: RecordDeletions
    repacking: Repacking
    transactional_appends: TransactionalAppends
    groups: GroupCoordinators
    group_memory: GroupMemory
    transactions: TransactionCoordinators
    topics: TopicAdmin
    topic_configs: TopicConfigs
    broker_configs: BrokerConfigs
    group_configs: GroupConfigs
    log_dirs: LogDirs
    log_dir_moves: LogDirMoves
    retention_previews: RetentionPreviews
    request_times: RequestTimes
    quotas: Quotas
    client_traffic: TrafficCounters
    telemetry: ClientTelemetry
    producer_ids: ProducerIds
    delegation_tokens: DelegationTokens
    controller: ControllerRuntime
    controller_epochs: ControllerEpochs
    credentials: UserCredentials
    turns: Turns
    clock: Clock
    #: None: everybody may do everything.
    authorizer: Authorizer | None = None
    #: Of a principal, from a host: asked by whoever has found out who speaks on a connection.
    rights_of: RightsOf = unlimited_rights


class RequestContext(NamedTuple):
    """One request's surroundings: version and client."""

    services: Services
    api_version: int
    client_id: str
    session: Session


def traffic_of(context: RequestContext) -> TrafficOfClient:
    """Return what the client's request is added to; its next one is sampled. The counters are kept with the session."""
    session = context.session
    traffic = session.traffic
    if traffic.client_id != context.client_id:
        session.traffic = traffic = context.services.client_traffic.of(session.identity(context.client_id))
    traffic.is_due = False
    return traffic


#: A response now, perhaps encoded already, a response later, or None when the request has no response (acks=0).
Reply = Message | bytes | Awaitable[Message | bytes | None] | InOrder | None

"""The components of one broker and their connections: made at once when its logs are loaded, started by others."""

from functools import partial
from pathlib import Path

from broker.common.cluster import MemberListeners
from broker.common.steady_clock import SteadyClock
from broker.config.broker import BrokerConfig
from broker.controller.leader_rebalance import RebalanceSettings
from broker.net.connection import Connection
from broker.net.dialer import Dialer
from broker.replication.fetch_session import FetchSessions
from broker.runtime import broker_configs, group_configs
from broker.runtime.audit.append_audit import AppendAudit
from broker.runtime.audit.audit_topic import AuditTopic
from broker.runtime.audit.auditor import Auditor
from broker.runtime.audit.group_audit import GroupAudit
from broker.runtime.audit.peers import Peers
from broker.runtime.audit.positions import Positions
from broker.runtime.cluster_features import keeps_eligible
from broker.runtime.config_changes import ConfigKeepers
from broker.runtime.controlled_shutdown import ControlledShutdown
from broker.runtime.controller.cached_metadata import CachedMetadata
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.controller.eligible_leader_settings import unify_min_isr
from broker.runtime.controller.topic_values import TopicDefaults
from broker.runtime.controller_epochs import ControllerEpochs
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.delayed_fetches import DelayedFetches
from broker.runtime.group_configs import GroupConfigs
from broker.runtime.housekeeping import Housekeeping
from broker.runtime.log_dir_room import LogDirRoom
from broker.runtime.log_dirs import LogDirs
from broker.runtime.replication.log_dir_moves import LogDirMoves
from broker.runtime.replication.log_reconciliation import LogReconciliation
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.stray_logs import StrayLogs
from broker.runtime.request_times import RequestTimes
from broker.runtime.requests.context import Services
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.telemetry import subscriptions
from broker.runtime.telemetry.client_telemetry import ClientTelemetry
from broker.runtime.telemetry.subscriptions import MetricsSubscriptions
from broker.runtime.topics import topic_configs
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs
from broker.runtime.traffic_sweep import TrafficSweep
from broker.security.client_traffic import TrafficCounters
from broker.server.addresses import BrokerAddresses
from broker.server.coordination import Coordination
from broker.server.coordinator_metrics import CoordinatorMetrics
from broker.server.dispatcher import Dispatcher
from broker.server.log_metrics import LogMetrics
from broker.server.metrics import ControllerMetrics, ErrorMetrics, RequestMetrics, StateMetrics
from broker.server.prerequisites import Ground
from broker.server.registration import Registration
from broker.server.replication import Replication, random_session_id
from broker.server.security import Security
from broker.server.security_metrics import has_names
from broker.server.telemetry_metrics import TelemetryMetrics
from broker.zookeeper.earlier_session import SessionNote
from broker.zookeeper.entity_configs import EntityConfigs


class BrokerComponents:
    """The components that start and stop, and `services`, which handlers use."""

    def __init__(self, ground: Ground):
        self._ground = ground
        config, store, logs, clock, metadata = ground.config, ground.store, ground.logs, ground.clock, ground.metadata
        self.addresses = BrokerAddresses(config, ground.listeners, metadata, ground.features.supported)
        dialer, delayed_fetches = Dialer(ground.membership, ground.listeners.tls), DelayedFetches(clock)
        self.replicas = ReplicaManager(config.broker_id, logs, delayed_fetches, clock)
        steady = SteadyClock(clock)
        self.group_configs = GroupConfigs(EntityConfigs(ground.session), config)
        self.coordination = self._coordination(dialer, steady)
        self.registration = self._registration()
        self.stray_logs = StrayLogs(config.broker_id, self.replicas, logs, store)
        configs_of_topics = TopicConfigs(store, self.replicas, config)
        self.replication = self._replication(dialer)
        self.security = Security(ground, self.addresses, lambda: self.controller.is_controller)
        self.telemetry = ClientTelemetry(MetricsSubscriptions(EntityConfigs(ground.session)))
        self.keepers = self._keepers(configs_of_topics)
        self.housekeeping = Housekeeping(self.replicas, logs, config, steady, self.replicas.high_watermarks)
        self.log_dir_moves = LogDirMoves(self.replicas, logs, config, clock)
        self.room = self._room()
        self.previews = RetentionPreviews(self.replicas, configs_of_topics, config, steady)
        self._follow_configs(configs_of_topics)
        self.controller = self._controller(dialer)
        self.controlled_shutdown = ControlledShutdown(store, metadata, self.replicas, dialer, config)
        self.services = self._services(delayed_fetches, configs_of_topics)
        self.coordination.serve(self.services, config.inter_broker_listener)
        self.auditor = self._auditor(dialer)
        self.dispatcher = Dispatcher(self.services, RequestMetrics(ground.registry))
        self._register_metrics()

    def _follow_configs(self, configs_of_topics: TopicConfigs) -> None:
        ground = self._ground
        limit_connections = partial(ground.listeners.limit, ground.descriptor_limit)
        limit_connections()
        ground.configs.before_change.append(ground.listeners.check)
        ground.configs.on_changed += [
            configs_of_topics.apply_all,
            self._follow_listeners,
            limit_connections,
            lambda: ground.listeners.tls.reconfigure(ground.config),
            self.housekeeping.reconfigure,
            self.log_dir_moves.reconfigure,
        ]

    def _keepers(self, configs_of_topics: TopicConfigs) -> ConfigKeepers:
        ground = self._ground
        return ConfigKeepers(
            ground.session,
            [
                (topic_configs.ENTITY, configs_of_topics.apply),
                (broker_configs.ENTITY, ground.configs.apply),
                (group_configs.ENTITY, self.group_configs.apply),
                (subscriptions.ENTITY, self.telemetry.subscriptions.apply),
                *self.security.keepers,
            ],
        )

    def _follow_features(self) -> None:
        ground, features = self._ground, self._ground.features
        min_isr = _topic_defaults(ground.config).min_isr
        features.before_eligible_leaders = partial(unify_min_isr, ground.store, min_isr)
        features.on_changed.append(lambda: self.controller.note_eligible_leaders(keeps_eligible(features)))
        ground.configs.keeps_eligible = partial(keeps_eligible, features)

    async def _follow_listeners(self) -> None:
        """Announce listeners only while they are open."""
        listeners = self._ground.listeners
        listeners.open_new()
        await self.registration.update_registration()
        listeners.close_old()

    def on_closed(self, connection: Connection) -> None:
        self.security.on_closed(connection)
        self.dispatcher.on_closed(connection)

    def _registration(self) -> Registration:
        config, store, logs = self._ground.config, self._ground.store, self._ground.logs
        return Registration(
            store,
            self.addresses.registration,
            self.replicas,
            SessionNote(lambda: logs.online_directories),
            LogReconciliation(store, config.broker_id, logs, partial(keeps_eligible, self._ground.features)),
        )

    def _room(self) -> LogDirRoom:
        """Return the watch on full directories, after which followers and log moves wait for room."""
        room = self._ground.room
        room.on_writable, self.log_dir_moves.on_moved = self.replicas.logs.writable_again, room.moved
        return room

    def _replication(self, dialer: Dialer) -> Replication:
        ground, addresses = self._ground, self.addresses.of
        return Replication(
            ground.config,
            ground.configs,
            self.replicas,
            ground.metadata,
            ground.store,
            addresses,
            dialer,
            ground.clock,
            partial(keeps_eligible, ground.features),
        )

    def _controller(self, dialer: Dialer) -> ControllerRuntime:
        ground = self._ground
        self._follow_features()
        return ControllerRuntime(
            ground.store,
            ground.config.broker_id,
            ground.clock,
            dialer,
            defaults=_topic_defaults(ground.config),
            keeps_eligible=partial(keeps_eligible, ground.features),
            rebalance=_rebalance_settings(ground.config),
            listeners=_member_listeners(ground.config),
            cached=CachedMetadata(ground.metadata.topic_ids, lambda: ground.metadata.controller_epoch),
        )

    def _auditor(self, dialer: Dialer) -> Auditor:
        ground, services = self._ground, self.services
        clock, metadata = ground.clock, ground.metadata
        peers = Peers(ground.config.broker_id, metadata, self.addresses.of, dialer)
        return Auditor(
            peers,
            AuditTopic(peers, metadata, services.topics),
            AppendAudit(self.replicas, Positions(peers, services.topics), clock),
            GroupAudit(services.groups, services.topic_configs, clock),
            ground.config,
            clock,
        )

    def _coordination(self, dialer: Dialer, steady: SteadyClock) -> Coordination:
        ground = self._ground
        return Coordination(
            ground.config,
            self.replicas,
            ground.metadata,
            ground.store,
            self.addresses.of,
            dialer,
            ground.clock,
            steady,
            ground.features,
            self.group_configs.values,
        )

    def _services(self, delayed_fetches: DelayedFetches, configs_of_topics: TopicConfigs) -> Services:
        ground, config = self._ground, self._ground.config
        self.traffic_sweep = TrafficSweep(TrafficCounters(ground.clock.monotonic_ms), ground.turns)
        return Services(
            config=config,
            cluster_id=ground.cluster_id,
            metadata=ground.metadata,
            features=ground.features,
            replicas=self.replicas,
            delayed_fetches=delayed_fetches,
            fetch_sessions=FetchSessions(random_session_id),
            feeds=self.replication.feeds,
            delayed_produces=self.replication.delayed_produces,
            deletions=self.replication.deletions,
            repacking=Repacking(self.replicas),
            transactional_appends=self.coordination.appends,
            groups=self.coordination.groups,
            group_memory=self.coordination.group_memory,
            transactions=self.coordination.transactions,
            topics=TopicAdmin(ground.store, ground.metadata, config),
            topic_configs=configs_of_topics,
            broker_configs=ground.configs,
            group_configs=self.group_configs,
            log_dirs=LogDirs([Path(path) for path in config.log_dirs], self.replicas, ground.logs),
            log_dir_moves=self.log_dir_moves,
            retention_previews=self.previews,
            request_times=RequestTimes(),
            quotas=self.security.quotas,
            client_traffic=self.traffic_sweep.traffic,
            telemetry=self.telemetry,
            producer_ids=ProducerIds(ground.store, config.broker_id),
            delegation_tokens=self.security.tokens.delegation,
            controller=self.controller,
            controller_epochs=ControllerEpochs(config.broker_id, self.replicas, ground.store),
            credentials=self.security.credentials,
            turns=ground.turns,
            clock=ground.clock,
            authorizer=self.security.authorizer,
            rights_of=self.security.rights_of,
        )

    def _register_metrics(self) -> None:
        ground, services = self._ground, self.services
        for metrics in (
            self.replication.metrics,
            CoordinatorMetrics(self.coordination),
            TelemetryMetrics(services.telemetry, ground.clock, has_names=has_names(ground.config)),
            ControllerMetrics(self.controller),
            ErrorMetrics(services.request_times),
            LogMetrics(ground.logs, ground.config),
            StateMetrics(
                self.replicas,
                ground.metadata,
                services.delayed_fetches,
                services.fetch_sessions,
                ground.listeners,
                ground.config,
            ),
        ):
            ground.registry.register(metrics)
        self.security.register_metrics(ground.registry)


def _member_listeners(config: BrokerConfig) -> MemberListeners:
    of_brokers = config.inter_broker_listener
    return MemberListeners(of_brokers, config.control_plane_listener_name or of_brokers)


def _topic_defaults(config: BrokerConfig) -> TopicDefaults:
    at_start = config.at_start
    return TopicDefaults(at_start["unclean_leader_election_enable"], at_start["min_insync_replicas"])


def _rebalance_settings(config: BrokerConfig) -> RebalanceSettings:
    return RebalanceSettings(
        is_enabled=config.auto_leader_rebalance_enable,
        check_interval_ms=1000 * config.leader_imbalance_check_interval_seconds,
        imbalance_percentage=config.leader_imbalance_per_broker_percentage,
    )

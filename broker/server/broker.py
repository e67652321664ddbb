"""One broker: what it is made of, and the order in which it starts and stops.

Start: take the port, take the log directories, answer on the metrics port, reach ZooKeeper, load the logs, accept
clients, register, stand for controller. Nothing is registered before it can be served; whatever cannot be had ends the
start with one sentence.
Stop: have the controller move the leaderships away, then the reverse of the start; the logs are flushed and marked
clean last.
"""

import asyncio
import os
import random
from functools import partial
from pathlib import Path

from broker.common.clock import Clock, SystemClock
from broker.common.errors import NotNowError, StartupError
from broker.common.logs import logger
from broker.config.broker import BrokerConfig, Endpoint
from broker.controller.cluster import BrokerEndpoint, BrokerRegistration
from broker.controller.leader_rebalance import RebalanceSettings
from broker.handlers.handler import Services
from broker.log.manager import LogManager
from broker.net.dialer import Dialer
from broker.net.listener import ConnectionLimits, Listener, SocketBuffers
from broker.net.memory import ConnectionMemory
from broker.net.turns import Turns
from broker.replication.fetch_session import FetchSessions
from broker.runtime import broker_configs
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.config_changes import ConfigKeepers
from broker.runtime.controlled_shutdown import ControlledShutdown
from broker.runtime.controller.controller_runtime import ControllerRuntime
from broker.runtime.controller_epochs import ControllerEpochs
from broker.runtime.coordinators.producer_ids import ProducerIds
from broker.runtime.housekeeping import Housekeeping
from broker.runtime.log_dir_failures import LogDirFailures
from broker.runtime.log_dirs import LogDirs
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.purgatory import Purgatory
from broker.runtime.replication.fetch_requests import FetchSettings
from broker.runtime.replication.follower_feeds import FollowerFeeds
from broker.runtime.replication.isr_updater import IsrUpdater
from broker.runtime.replication.lost_logs import LostLogs
from broker.runtime.replication.produce_acks import ProduceAcks
from broker.runtime.replication.record_deletions import RecordDeletions
from broker.runtime.replication.repacking import Repacking
from broker.runtime.replication.replica_fetchers import ReplicaFetchers
from broker.runtime.replication.replica_manager import ReplicaManager
from broker.runtime.replication.replication_quotas import ReplicationQuotas
from broker.runtime.replication.stray_logs import StrayLogs
from broker.runtime.request_times import RequestTimes
from broker.runtime.retention_previews import RetentionPreviews
from broker.runtime.topics import topic_configs
from broker.runtime.topics.topic_admin import TopicAdmin
from broker.runtime.topics.topic_configs import TopicConfigs, log_config
from broker.security.membership import NONCE_BYTES, Membership
from broker.server.controller_metrics import ControllerMetrics
from broker.server.coordination import Coordination
from broker.server.coordinator_metrics import CoordinatorMetrics
from broker.server.descriptors import connections_within, raise_descriptor_limit
from broker.server.dispatcher import Dispatcher
from broker.server.metrics import ErrorMetrics, RequestMetrics, StateMetrics, new_registry
from broker.server.metrics_endpoint import MetricsEndpoint
from broker.server.registration import Registration
from broker.server.replication_metrics import ReplicationMetrics
from broker.zookeeper.acl_migration import protect_cluster
from broker.zookeeper.digest_file import read_digest
from broker.zookeeper.earlier_session import SessionNote
from broker.zookeeper.ensemble_hosts import EnsembleHosts
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore

_log = logger(__name__)
#: What ZooKeeper may take to note that we leave; without it the session's end says so.
_LEAVE_TIMEOUT_S = 2.0
_CLOSING_THREADS = 4


class Broker:
    """A broker process's one broker. Time and ZooKeeper may be given, as the simulation does."""

    def __init__(self, config: BrokerConfig, clock: Clock | None = None, session: ZooKeeperSession | None = None):
        self.config = config
        self._clock = clock or SystemClock()
        self._session = session or _zookeeper_session(config)
        #: A session that was given has no servers to follow.
        self._ensemble_hosts = None if session else EnsembleHosts(self._session, config.zookeeper_connect)
        self._store = ClusterStore(self._session, self._clock)
        self._metadata = MetadataCache()
        self._purgatory = Purgatory(self._clock)
        self._registry = new_registry()
        #: The rooms handlers ask, once they are there.
        self.services: Services | None = None
        self._descriptor_limit = raise_descriptor_limit()
        self._connection_memory = ConnectionMemory(config.queued_max_request_bytes)
        self._turns = Turns()
        #: The last log directory has failed: nothing can be served any more.
        self.failed = asyncio.Event()
        self._endpoint = MetricsEndpoint(self._registry, self._health)
        self._is_loaded = False
        self._is_stopping = False
        self._loading: asyncio.Future | None = None

    async def start(self) -> None:
        """Returns when clients are served; raises StartupError. Undo with `stop` in either case."""
        config = self.config
        if config.unused:
            _log.warning("configuration keys that nothing reads", keys=",".join(config.unused))
        self._listener = self._bind()
        self._logs = LogManager([Path(path) for path in config.log_dirs], log_config({}, config), config.broker_id)
        self._log_dir_failures = LogDirFailures(self._store, config.broker_id, self.failed)
        self._logs.on_directory_failed = self._log_dir_failures.report
        if config.metrics_listener[0]:
            await self._endpoint.start(*config.metrics_listener)
        await self._session.connect(config.zookeeper_connection_timeout_ms)
        if self._ensemble_hosts is not None:
            self._ensemble_hosts.start()
        try:
            await self._store.ensure_persistent_paths()
            cluster_id = await self._store.cluster_id()
            self._logs.set_cluster_id(cluster_id)
            self._membership = Membership(await self._store.cluster_secret(), _new_nonce)
            self._dialer = Dialer(self._membership)
            self._broker_configs = BrokerConfigs(self._store, config)
            await self._broker_configs.apply()
            await self._load_logs()
            self._build(cluster_id)
            await self._keepers.start()
            await self._broker_configs.apply()
            await self._registration.start()
            if config.zookeeper_set_acl:
                await protect_cluster(self._session)
            # Not before: what is still being sent to an earlier life of this broker is known by its broker epoch only.
            self._listener.start(asyncio.get_running_loop())
            self._housekeeping.start()
            self._isr.start()
            self._stray_logs.start()
            await self._controller.start()
        except MalformedZnode as error:
            raise StartupError(f"{error}; correct or remove that znode") from error
        except ZooKeeperError as error:
            raise NotNowError(f"ZooKeeper failed during the start: {error}; start the broker again") from error
        _log.info("broker started", clients_are_told=",".join(map(str, self.advertised)))

    def _bind(self) -> Listener:
        if len(self.config.listeners) != 1:
            raise StartupError("listeners: this release serves one listener; name one")
        return Listener(
            self.config.listeners[0],
            lambda connection, frame: self._dispatcher.on_frame(connection, frame),
            lambda connection: self._dispatcher.on_closed(connection),
            frame_bytes_max=self.config.socket_request_max_bytes,
            idle_ms_max=self.config.connections_max_idle_ms,
            memory=self._connection_memory,
            turns=self._turns,
            buffers=SocketBuffers(self.config.socket_send_buffer_bytes, self.config.socket_receive_buffer_bytes),
        )

    def _limit_connections(self) -> None:
        config = self.config
        self._listener.limits = ConnectionLimits(
            connections_within(self._descriptor_limit, config.max_connections),
            config.max_connections_per_ip,
            dict(config.max_connections_per_ip_overrides),
        )

    async def _load_logs(self) -> None:
        began_ms = self._clock.monotonic_ms()
        self._loading = asyncio.ensure_future(asyncio.to_thread(self._logs.load_all, self._after_each_log))
        await asyncio.shield(self._loading)
        _log.info("logs loaded", partitions=len(self._logs.logs), took_ms=self._clock.monotonic_ms() - began_ms)
        self._is_loaded = True

    def _after_each_log(self, _loaded: int, _total: int) -> None:
        """On the loading thread."""
        if self._is_stopping:
            raise NotNowError("told to stop while the logs were being loaded")

    def _build(self, cluster_id: str) -> None:
        config = self.config
        replicas = ReplicaManager(config.broker_id, self._logs, self._purgatory, self._clock)
        self._coordination = Coordination(
            config, replicas, self._metadata, self._store, self._address_of, self._dialer, self._clock
        )
        self._registration = Registration(
            self._store,
            self._broker_registration(),
            replicas,
            SessionNote(lambda: self._logs.online_directories),
            LostLogs(self._store, config.broker_id, self._logs),
        )
        self._stray_logs = StrayLogs(config.broker_id, replicas, self._logs, self._store)
        self._topic_configs = TopicConfigs(self._store, replicas, config)
        self._build_replication(replicas)
        self._keepers = ConfigKeepers(
            self._session,
            {topic_configs.ENTITY: self._topic_configs.apply, broker_configs.ENTITY: self._broker_configs.apply},
        )
        self._housekeeping = Housekeeping(replicas, self._logs, config, self._clock, replicas.high_watermarks)
        self._previews = RetentionPreviews(replicas, self._topic_configs, config, self._clock)
        self._limit_connections()
        self._broker_configs.on_changed += [
            self._topic_configs.apply_all,
            self._limit_connections,
            self._housekeeping.reconfigure,
        ]
        self._controller = self._new_controller()
        self._controlled_shutdown = ControlledShutdown(self._store, self._metadata, replicas, self._dialer, config)
        fetch_sessions = FetchSessions(_random_session_id)
        self.services = self._services(cluster_id, replicas, fetch_sessions)
        self._coordination.serve(self.services, self._listener.name)
        self._dispatcher = Dispatcher(self.services, RequestMetrics(self._registry))
        for metrics in (
            ReplicationMetrics(replicas, self._feeds, self._fetchers, self._acks, self._isr),
            CoordinatorMetrics(self._coordination),
            ControllerMetrics(self._controller),
            ErrorMetrics(self.services.request_times),
            StateMetrics(replicas, self._metadata, self._purgatory, fetch_sessions, self._listener, config),
        ):
            self._registry.register(metrics)

    def _new_controller(self) -> ControllerRuntime:
        return ControllerRuntime(
            self._store,
            self.config.broker_id,
            self._clock,
            self._dialer,
            unclean_election=self.config.at_start["unclean_leader_election_enable"],
            rebalance=_rebalance_settings(self.config),
        )

    def _services(self, cluster_id: str, replicas: ReplicaManager, fetch_sessions: FetchSessions) -> Services:
        config = self.config
        return Services(
            config=config,
            cluster_id=cluster_id,
            metadata=self._metadata,
            replicas=replicas,
            purgatory=self._purgatory,
            fetch_sessions=fetch_sessions,
            feeds=self._feeds,
            acks=self._acks,
            deletions=self._deletions,
            repacking=Repacking(replicas),
            transactional_appends=self._coordination.appends,
            groups=self._coordination.groups,
            transactions=self._coordination.transactions,
            topics=TopicAdmin(self._store, self._metadata, config),
            topic_configs=self._topic_configs,
            broker_configs=self._broker_configs,
            log_dirs=LogDirs([Path(path) for path in config.log_dirs], replicas, self._logs),
            retention_previews=self._previews,
            request_times=RequestTimes(),
            producer_ids=ProducerIds(self._store, config.broker_id),
            controller=self._controller,
            controller_epochs=ControllerEpochs(config.broker_id, replicas, self._store),
            admit=partial(self._membership.admit, self._is_our_address),
            turns=self._turns,
            clock=self._clock,
        )

    def _build_replication(self, replicas: ReplicaManager) -> None:
        self._log_dir_failures.on_failed = replicas.resign_offline
        quotas = ReplicationQuotas(replicas, self.config, self._clock)
        self._broker_configs.on_changed.append(quotas.reconfigure)
        self._feeds = FollowerFeeds(replicas, quotas.leading, _random_session_id, self._clock)
        lag_ms_max = self.config.replica_lag_time_max_ms
        self._isr = IsrUpdater(replicas, self._store, self._metadata.is_live, lag_ms_max, self._clock)
        self._broker_configs.on_changed.append(self._set_lag)
        self._feeds.on_progress = self._isr.consider
        self._acks = ProduceAcks(replicas, self._clock)
        self._deletions = RecordDeletions(replicas, self._metadata.is_live, self._clock)
        self._feeds.on_log_start = self._deletions.on_news
        settings = _fetch_settings(self.config)
        self._fetchers = ReplicaFetchers(
            replicas, quotas.following, self._address_of, self._dialer, settings, self._clock
        )

    def _set_lag(self) -> None:
        self._isr.lag_ms_max = self.config.replica_lag_time_max_ms

    def _address_of(self, broker_id: int) -> tuple[str, int] | None:
        """Where another broker is reached, by the listener brokers share."""
        known = self._metadata.brokers.get(broker_id)
        return known.endpoints.get(self._listener.name) if known else None

    @property
    def advertised(self) -> tuple[Endpoint, ...]:
        """What clients are told; a listener's port 0 has become the port the system gave."""
        if self.config.advertised_listeners:
            return self.config.advertised_listeners
        return (Endpoint(self._listener.name, self._listener.host, self._listener.port),)

    def _is_our_address(self, address: str) -> bool:
        return any(address == f"{each.host}:{each.port}" for each in self.advertised)

    def _broker_registration(self) -> BrokerRegistration:
        endpoints = tuple(BrokerEndpoint(each.listener, each.host, each.port) for each in self.advertised)
        return BrokerRegistration(self.config.broker_id, endpoints, self.config.broker_rack or None)

    def _health(self) -> str:
        if not self._is_loaded:
            return "starting: the logs are not loaded yet"
        if not self._registration.is_registered:
            return "not registered in ZooKeeper"
        return "" if self._metadata.is_known else "no controller has spoken yet"

    async def stop(self) -> None:
        """Stop what was started, in reverse; whatever one step meets, the logs end clean."""
        self._is_stopping = True
        for step in (self._hand_over, self._leave_cluster, self._close_clients, self._session.close, self._close_logs):
            try:
                await step()
            except Exception:
                _log.exception("stopping goes on", failed=step.__name__)
        _log.info("broker stopped")

    async def _hand_over(self) -> None:
        if hasattr(self, "_registration") and self._registration.is_registered:
            await self._controlled_shutdown.hand_over()

    async def _leave_cluster(self) -> None:
        try:
            async with asyncio.timeout(_LEAVE_TIMEOUT_S):
                for name in ("_controller", "_registration"):
                    if hasattr(self, name):
                        await getattr(self, name).stop()
        except (ZooKeeperError, TimeoutError) as error:
            _log.warning("not signed off; that ends with the session", reason=str(error))

    async def _close_clients(self) -> None:
        if hasattr(self, "_keepers"):
            self._keepers.stop()
        if hasattr(self, "_coordination"):
            self._coordination.stop()
        if hasattr(self, "_log_dir_failures"):
            self._log_dir_failures.stop()
        if hasattr(self, "_fetchers"):
            await self._isr.stop()
            await self._stray_logs.stop()
            for part in (self._fetchers, self._feeds, self._acks, self._deletions):
                part.close()
        if hasattr(self, "_listener"):
            self._listener.stop()
        await self._endpoint.stop()

    async def _close_logs(self) -> None:
        if hasattr(self, "_housekeeping"):
            await self._housekeeping.stop()
            await asyncio.to_thread(self._previews.close)
        if self._loading:
            await asyncio.gather(self._loading, return_exceptions=True)
        if self.services is not None:
            await self.services.replicas.taking_roles.close()
            await self.services.replicas.logs.idle()
        if hasattr(self, "_logs"):
            # Most of it is waiting for the disk, which takes several at a time.
            await asyncio.gather(*(asyncio.to_thread(self._logs.close_logs) for _ in range(_CLOSING_THREADS)))
            await asyncio.to_thread(self._logs.shutdown)


def _new_nonce() -> str:
    return os.urandom(NONCE_BYTES).hex()


def _zookeeper_session(config: BrokerConfig) -> ZooKeeperSession:
    digest = read_digest(Path(config.zookeeper_digest_file)) if config.zookeeper_digest_file else None
    return ZooKeeperSession(
        config.zookeeper_connect, config.zookeeper_session_timeout_ms, digest, sets_acls=config.zookeeper_set_acl
    )


def _random_session_id() -> int:
    return random.randint(1, 2**31 - 1)


def _rebalance_settings(config: BrokerConfig) -> RebalanceSettings:
    return RebalanceSettings(
        is_enabled=config.auto_leader_rebalance_enable,
        check_interval_ms=1000 * config.leader_imbalance_check_interval_seconds,
        imbalance_percentage=config.leader_imbalance_per_broker_percentage,
    )


def _fetch_settings(config: BrokerConfig) -> FetchSettings:
    return FetchSettings(
        broker_id=config.broker_id,
        max_wait_ms=config.replica_fetch_wait_max_ms,
        max_bytes=config.replica_fetch_response_max_bytes,
        max_bytes_per_partition=config.replica_fetch_max_bytes,
        back_off_ms=config.replica_fetch_backoff_ms,
        silence_ms_max=max(config.replica_socket_timeout_ms, 2 * config.replica_fetch_wait_max_ms),
        frame_bytes_max=config.replica_fetch_response_max_bytes + config.socket_request_max_bytes,
    )

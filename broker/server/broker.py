"""One broker: the order in which it starts and stops.

Start: take the ports, take the log directories, answer on the metrics port, reach ZooKeeper, load the logs, begin the
chores and replication, register, accept clients, stand for controller. Nothing is registered before it can be served;
whatever cannot be had ends the start with one sentence.
Stop: have the controller move the leaderships away, then the reverse of the start; the logs are flushed and marked
clean when nothing else uses them.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from broker.common.clock import Clock, SystemClock
from broker.common.errors import NotNowError, StartupError
from broker.common.features import SUPPORTED_FEATURES, SupportedFeature, highest_levels
from broker.common.logs import logger
from broker.common.own_names import OwnNames
from broker.config.broker import BrokerConfig
from broker.config.zookeeper import zookeeper_tls
from broker.log.manager import LogManager
from broker.net.turns import Turns
from broker.runtime.broker_configs import BrokerConfigs
from broker.runtime.cluster_features import ClusterFeatures
from broker.runtime.log_dir_failures import LogDirFailures
from broker.runtime.log_dir_room import LogDirRoom
from broker.runtime.metadata_cache import MetadataCache
from broker.runtime.requests.context import Services
from broker.runtime.topics.topic_configs import log_config
from broker.security.membership import NONCE_BYTES, ClusterMembership
from broker.server.components import BrokerComponents
from broker.server.descriptors import raise_descriptor_limit
from broker.server.exit_stack import LoggingExitStack
from broker.server.listeners import Listeners
from broker.server.metrics import new_registry
from broker.server.metrics_endpoint import MetricsEndpoint
from broker.server.prerequisites import Ground
from broker.zookeeper.acl_migration import protect_cluster
from broker.zookeeper.digest_file import read_digest
from broker.zookeeper.ensemble_hosts import EnsembleHosts
from broker.zookeeper.errors import MalformedZnode, ZooKeeperError
from broker.zookeeper.foreign_cluster import refuse_foreign_cluster
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.tls import tls_settings

_log = logger(__name__)
#: What ZooKeeper may take to note that we leave; without it the session's end says so.
_LEAVE_TIMEOUT_S = 2.0
_CLOSING_THREADS = 4


class Broker:
    """A broker process's one broker. Time and ZooKeeper may be given, as the simulation does."""

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock | None = None,
        session: ZooKeeperSession | None = None,
        supported_features: Sequence[SupportedFeature] = SUPPORTED_FEATURES,
    ):
        self.config = config
        self._clock = clock or SystemClock()
        self._session = session or _zookeeper_session(config)
        #: A session that was given has no servers to follow.
        self._ensemble_hosts = None if session else EnsembleHosts(self._session, config.zookeeper_connect)
        self._store = ClusterStore(self._session, self._clock)
        self._metadata = MetadataCache()
        self._features = ClusterFeatures(self._store, supported_features, self._is_controller)
        self._features.on_unsupported = self._fail
        self._registry = new_registry()
        self._descriptor_limit = raise_descriptor_limit()
        self._turns = Turns()
        #: Nothing can be served any more: the last log directory has failed, or the cluster has gone on without us.
        self.failed = asyncio.Event()
        self._endpoint = MetricsEndpoint(self._registry, self._health, _names(config))
        self._exits = LoggingExitStack()
        self._parts: BrokerComponents | None = None
        self._is_stopping = False

    @property
    def services(self) -> Services | None:
        """What handlers use, once the logs are loaded."""
        return self._parts.services if self._parts else None

    async def start(self) -> None:
        """Returns when clients are served. Raises StartupError; then, or cancelled, it has stopped what it began."""
        if self.config.unused:
            _log.warning("configuration keys that nothing reads", keys=",".join(self.config.unused))
        for key, versions in self.config.old_tls_versions.items():
            _log.warning("versions of TLS that are not offered: they are not safe", key=key, versions=versions)
        try:
            await self._start()
        except (Exception, asyncio.CancelledError):
            await self._leave()
            raise

    async def _start(self) -> None:
        config, exits = self.config, self._exits
        listeners = Listeners(config, self._turns)
        exits.add(listeners.stop)
        logs = LogManager([Path(path) for path in config.log_dirs], log_config({}, config), config.broker_id)
        exits.add(partial(_close_logs, logs))
        exits.add(self._endpoint.stop)
        if config.metrics_listener[0]:
            await self._endpoint.start(*config.metrics_listener)
        exits.add(self._session.close)
        await self._session.connect(config.zookeeper_connection_timeout_ms)
        if self._ensemble_hosts is not None:
            exits.add(self._ensemble_hosts.close)
            self._ensemble_hosts.start()
        try:
            await self._serve(await self._load(listeners, logs), listeners)
        except MalformedZnode as error:
            raise StartupError(f"{error}; correct or remove that znode") from error
        except ZooKeeperError as error:
            raise NotNowError(f"ZooKeeper failed during the start: {error}; start the broker again") from error

    async def _load(self, listeners: Listeners, logs: LogManager) -> BrokerComponents:
        """Build the components that need loaded logs; none of them is started yet."""
        failures = LogDirFailures(self._store, self.config.broker_id, self.failed)
        self._exits.add(failures.stop)
        logs.on_directory_failed = failures.report
        config = self.config
        connect, may_join = config.zookeeper_connect, config.kafka_cluster_join
        findings = await refuse_foreign_cluster(self._session, connect, may_join=may_join)
        # The secret comes first: by it another broker of ours, which starts now, knows whose all the rest is.
        levels = highest_levels(self._features.supported) if findings.is_empty else None
        membership = ClusterMembership(await self._store.cluster_secret(levels), _new_nonce)
        await self._features.load()
        await self._store.ensure_persistent_paths()
        cluster_id = await self._store.cluster_id()
        logs.set_cluster_id(cluster_id)
        configs = BrokerConfigs(self._store, self.config)
        await configs.apply()
        listeners.open_new()
        listeners.close_old()
        await self._load_logs(logs)
        ground = Ground(
            config=self.config,
            configs=configs,
            clock=self._clock,
            session=self._session,
            store=self._store,
            cluster_id=cluster_id,
            membership=membership,
            metadata=self._metadata,
            listeners=listeners,
            turns=self._turns,
            descriptor_limit=self._descriptor_limit,
            logs=logs,
            room=LogDirRoom(logs, self._clock, failures.announce),
            registry=self._registry,
            features=self._features,
        )
        parts = self._parts = BrokerComponents(ground)
        failures.on_failed = parts.replicas.resign_offline
        return parts

    async def _load_logs(self, logs: LogManager) -> None:
        began_ms = self._clock.monotonic_ms()
        loading = asyncio.ensure_future(asyncio.to_thread(logs.load_all, self._after_each_log))
        self._exits.add(partial(asyncio.gather, loading, return_exceptions=True))
        await asyncio.shield(loading)
        _log.info("logs loaded", partitions=len(logs.logs), took_ms=self._clock.monotonic_ms() - began_ms)

    def _after_each_log(self, _loaded: int, _total: int) -> None:
        """Report progress, called on the loading thread."""
        if self._is_stopping:
            raise NotNowError("stopped while the logs were being loaded")

    async def _serve(self, parts: BrokerComponents, listeners: Listeners) -> None:
        exits = self._exits
        exits.add(
            parts.replicas.logs.idle,
            parts.replicas.taking_roles.close,
            self._metadata.changes.close,
            partial(asyncio.to_thread, parts.previews.close),
        )
        exits.add(parts.housekeeping.stop)
        parts.housekeeping.start()
        exits.add(parts.traffic_sweep.stop)
        parts.traffic_sweep.start()
        exits.add(parts.log_dir_moves.stop)
        parts.log_dir_moves.start()
        exits.add(parts.coordination.stop, parts.replication.stop)
        parts.replication.start()
        exits.add(parts.room.stop)
        parts.room.start()
        exits.add(parts.keepers.stop)
        await parts.keepers.start()
        exits.add(self._features.stop)
        self._features.start()
        await parts.services.broker_configs.apply()
        await parts.services.group_configs.load()
        await parts.security.start(exits)
        await parts.telemetry.subscriptions.load()
        exits.add(partial(_sign_off, parts.registration.stop))
        await parts.registration.start()
        if self.config.zookeeper_set_acl:
            await protect_cluster(self._session)
        # Not before: what is still being sent to an earlier life of this broker is known by its broker epoch only.
        exits.add(listeners.stop)
        listeners.start(asyncio.get_running_loop(), parts.dispatcher.on_frame, parts.on_closed)
        exits.add(parts.stray_logs.stop)
        parts.stray_logs.start()
        exits.add(partial(_sign_off, parts.controller.stop))
        await parts.controller.start()
        exits.add(parts.auditor.stop)
        parts.auditor.start()
        exits.add(partial(_hand_over, parts))
        _log.info("broker started", clients_are_told=",".join(map(str, parts.addresses.advertised)))

    def _is_controller(self) -> bool:
        return self._parts is not None and self._parts.controller.is_controller

    def _fail(self, reason: str) -> None:
        _log.error("broker ends", reason=reason)
        self.failed.set()

    def _health(self) -> str:
        if self._parts is None:
            return "starting: the logs are not loaded yet"
        if not self._parts.registration.is_registered:
            return "not registered in ZooKeeper"
        return "" if self._metadata.is_known else "no controller has spoken yet"

    async def stop(self) -> None:
        """Stop what was started, in reverse; whatever one step meets, the logs end clean."""
        await self._leave()
        _log.info("broker stopped")

    async def _leave(self) -> None:
        self._is_stopping = True
        await self._exits.leave()


async def _hand_over(parts: BrokerComponents) -> None:
    if parts.registration.is_registered:
        await parts.controlled_shutdown.hand_over()


async def _sign_off(stop: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(_LEAVE_TIMEOUT_S):
            await stop()
    except (ZooKeeperError, TimeoutError) as error:
        _log.warning("not signed off; that ends with the session", reason=str(error))


async def _close_logs(logs: LogManager) -> None:
    # Most of it is waiting for the disk, which takes several at a time.
    await asyncio.gather(*(asyncio.to_thread(logs.close_logs) for _ in range(_CLOSING_THREADS)))
    await asyncio.to_thread(logs.shutdown)


def _new_nonce() -> str:
    return os.urandom(NONCE_BYTES).hex()


def _names(config: BrokerConfig) -> OwnNames:
    """Return the host names for metrics."""
    listeners = (*config.listeners, *(config.advertised_listeners or ()))
    hosts = (config.metrics_listener.host, *(listener.host for listener in listeners))
    return OwnNames("metrics.allowed.hosts", config.metrics_allowed_hosts, hosts)


def _zookeeper_session(config: BrokerConfig) -> ZooKeeperSession:
    digest = read_digest(Path(config.zookeeper_digest_file)) if config.zookeeper_digest_file else None
    return ZooKeeperSession(
        config.zookeeper_connect,
        config.zookeeper_session_timeout_ms,
        digest,
        sets_acls=config.zookeeper_set_acl,
        tls=tls_settings(zookeeper_tls(config.values)),
    )

"""The probe as a process: a lane to each broker, who keeps the topic spread, and a step of the watch twice a second."""

import uuid
from threading import Event, Thread
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.process_collector import ProcessCollector

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.security.file import read_own_security
from broker.common.clock import Clock
from broker.common.errors import ApiError, StartupError
from broker.common.logs import logger
from broker.common.own_names import OwnNames
from broker.probe.config import ProbeConfig
from broker.probe.endpoint import ProbeEndpoint
from broker.probe.followed_partitions import FollowedPartitions
from broker.probe.keeper import Keeper
from broker.probe.lane import ProbeLane
from broker.probe.metrics import ProbeMetrics
from broker.probe.mirror import MirrorReader
from broker.probe.shared_state import ProbeSharedState

TICK_S = 0.25
#: Brokers with a lane; of a larger cluster those with the smallest ids.
LANES_MAX = 200
_ADMIN_TIMEOUT_S = 5.0

if TYPE_CHECKING:
    from broker.client.security.properties import ClientSecurity

_log = logger("broker.probe")


class Probe:
    def __init__(self, config: ProbeConfig, clock: Clock):
        """Raises StartupError, ClientConfigError."""
        self._config = config
        self._security = read_own_security(config.client_config)
        has_mirror = bool(config.mirror_bootstrap_servers)
        self.desk = ProbeSharedState(FollowedPartitions(uuid.uuid4().hex, has_mirror=has_mirror), config, clock)
        self._cluster = _cluster(config.bootstrap_servers, config.client_id, self._security)
        self._mirror = None
        if has_mirror:
            there = _cluster(
                config.mirror_bootstrap_servers, config.client_id, read_own_security(config.mirror_client_config)
            )
            self._mirror = MirrorReader(self.desk, there, config.mirror_topic or config.topic)
        self._lanes: dict[int, ProbeLane] = {}
        self._counted_at_ms = 0
        registry = CollectorRegistry()
        registry.register(ProbeMetrics(self.desk))
        ProcessCollector(registry=registry)
        names = OwnNames("allowed.hosts", config.allowed_hosts, config.where[:1])
        self.endpoint = ProbeEndpoint(config.where, registry, self.status, self.health, names)

    def run(self, stop: Event) -> None:
        """Run the probe until `stop` is set."""
        self.endpoint.start()
        keeper = Thread(target=Keeper(self.desk, self._cluster, self._config).run, args=(stop,), name="keeper")
        keeper.start()
        if self._mirror is not None:
            interval_s = self._config.record_interval_ms / 1000
            Thread(target=self._mirror.run, args=(stop, interval_s), name="mirror", daemon=True).start()
        _log.info("probe started", run=self.desk.book.run, topic=self._config.topic)
        while not stop.wait(TICK_S):
            self.tick()
        for lane in self._lanes.values():
            lane.stop.set()
        keeper.join(timeout=_ADMIN_TIMEOUT_S)
        self.endpoint.stop()
        _log.info("probe stopped")

    def tick(self) -> None:
        desk = self.desk
        with desk.lock:
            at_ms, now_ms = desk.at_ms(), desk.now_ms()
            for broker in desk.book.tick(at_ms, now_ms):
                why = desk.book.watch.brokers[broker].why
                _log.warning("a broker does not answer", broker=broker, reason=why)
            if at_ms - self._counted_at_ms >= self._config.record_interval_ms:
                self._counted_at_ms = at_ms
                desk.book.count_leaderless(at_ms)
            followed = dict(sorted(desk.book.addresses.items())[:LANES_MAX])
        self._follow(set(followed))

    def _follow(self, brokers: set[int]) -> None:
        for broker in self._lanes.keys() - brokers:
            self._lanes.pop(broker).stop.set()
        for broker in brokers - self._lanes.keys():
            self._lanes[broker] = ProbeLane(broker, self.desk, self._config.request_timeout_ms, self._security)
            run, interval_s = self._lanes[broker].run, self._config.record_interval_ms / 1000
            Thread(target=run, args=(interval_s,), name=f"broker-{broker}", daemon=True).start()

    def status(self, since_ms: int) -> dict[str, object]:
        desk = self.desk
        with desk.lock:
            status = desk.book.status(desk.at_ms(), desk.now_ms(), since_ms)
        return status | {"topic": desk.topic, "is_connected": desk.learned_at_ms is not None}

    def health(self) -> str:
        """Return the health of the probe itself, not of the cluster."""
        return "" if self.desk.learned_at_ms is not None else "no broker has been reached yet"


def _cluster(servers: str, client_id: str, security: "ClientSecurity") -> ClusterConnections:
    """Raises StartupError."""
    try:
        parsed = parse_bootstrap_servers(servers)
    except ApiError as error:
        raise StartupError(f"{error}: bootstrap servers are host:port, comma separated.") from None
    return ClusterConnections(parsed, timeout_s=_ADMIN_TIMEOUT_S, client_id=client_id, security=security)

"""The KRaft quorum and features of the cluster in memory: none, as of Barnabas brokers, until a test gives it some."""

from typing import Protocol

from broker.common.errors import ErrorCode
from console.kit.gateway.errors import refusal
from console.kit.gateway.quorum.interface import EligibleLeaders, FeatureView, QuorumView
from console.kit.gateway.quorum.kafka import NO_QUORUM


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeQuorum:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self.view: QuorumView | None = None
        self.known: tuple[FeatureView, ...] = ()
        #: Name and level of each that was done.
        self.upgrades: list[tuple[str, int]] = []
        self.eligible: dict[str, tuple[EligibleLeaders, ...]] = {}

    def describe(self) -> QuorumView:
        self._cluster.alive_brokers()
        if self.view is None:
            raise refusal(ErrorCode.UNSUPPORTED_VERSION, NO_QUORUM)
        return self.view

    def features(self) -> tuple[FeatureView, ...]:
        self._cluster.alive_brokers()
        return self.known

    def check_upgrade(self, name: str, level: int) -> None:
        self._cluster.alive_brokers()
        feature = next((known for known in self.known if known.name == name), None)
        if feature is None or not feature.supported_min <= level <= feature.supported_max:
            raise refusal(ErrorCode.INVALID_UPDATE_VERSION)

    def upgrade(self, name: str, level: int) -> None:
        self.check_upgrade(name, level)
        self.upgrades.append((name, level))

    def eligible_leaders(self, topic: str) -> tuple[EligibleLeaders, ...]:
        self._cluster.alive_brokers()
        if topic not in self.eligible:
            raise refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return self.eligible[topic]

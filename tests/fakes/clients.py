"""Clients of the cluster in memory: they write and read what a test says."""

from collections.abc import Mapping
from typing import Protocol

from console.kit.gateway.clients.interface import TrafficView


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeClients:
    """`views_by_broker`: what a broker tells, None if it does not tell; brokers that it lacks tell of no client."""

    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self.views_by_broker: dict[int, tuple[TrafficView, ...] | None] = {}

    def traffic(self) -> Mapping[int, tuple[TrafficView, ...] | None]:
        return {broker_id: self.views_by_broker.get(broker_id, ()) for broker_id in self._cluster.alive_brokers()}

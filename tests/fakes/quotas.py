"""Quotas of the cluster in memory, refused as brokers refuse them."""

from collections.abc import Mapping
from typing import Protocol

from broker.common.errors import ApiError
from broker.security.quotas.values import key_of
from console.kit.gateway.errors import GatewayError, refusal
from console.kit.gateway.quotas.interface import QuotaEntity, Quotas, value_text


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeQuotas:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._quotas: dict[QuotaEntity, dict[str, float]] = {}
        #: What every question is refused with; a test says so.
        self.refused: GatewayError | None = None

    def describe(self) -> Quotas:
        self._check()
        return {entity: dict(self._quotas[entity]) for entity in sorted(self._quotas, key=lambda quota: quota.path)}

    def change(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        self._check()
        values = self._quotas.get(entity, {})
        try:
            wanted = {key_of(entity, key): value for key, value in changes.items()}
            texts = {key: value_text(key, value) for key, value in wanted.items() if value is not None}
        except ApiError as error:
            raise refusal(error.code, error.message) from error
        kept = {key: value for key, value in values.items() if key not in wanted}
        self._quotas[entity] = kept | {str(key): float(text) for key, text in texts.items()}
        if not self._quotas[entity]:
            del self._quotas[entity]

    def _check(self) -> None:
        self._cluster.alive_brokers()
        if self.refused is not None:
            raise self.refused

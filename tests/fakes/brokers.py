"""Brokers of the cluster in memory: their settings, their log directories, and no requests."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from broker.common.errors import ErrorCode
from broker.config.broker import BY_NAME
from broker.config.definition import ConfigError, UpdateMode, render_value
from broker.config.dynamic import read_broker_change, update_mode
from console.kit.gateway.brokers.interface import (
    ApiRequestTimes,
    BrokerSetting,
    BudgetUse,
    LogDirView,
    NotLoaded,
    ReplicaSizes,
    Software,
    UncleanableLog,
)
from console.kit.gateway.errors import ClusterUnreachableError, refusal
from console.kit.gateway.quotas.interface import QuotaUse
from console.kit.gateway.topics.setting_rules import choices_of

VOLUME_BYTES = 1_000_000_000


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...

    def replica_sizes(self) -> ReplicaSizes: ...


class FakeBrokers:
    """Tests write `files`, `failed_dirs`, `full_dirs`, `strays`, `usable_bytes`, `times`, `unloaded`, `budgets`,
    `foreign`; the console reads them back.
    """

    def __init__(self, cluster: FakeCluster, broker_ids: Iterable[int]):
        self._cluster = cluster
        #: Broker → key → text, as in its server.properties.
        self.files = {
            broker_id: {"broker.id": str(broker_id), "log.dirs": f"/data/{broker_id}"} for broker_id in broker_ids
        }
        self.failed_dirs: set[int] = set()
        #: (broker, place) → directory, of replicas that were moved; the first directory has the others.
        self._lies_in: dict[tuple[int, tuple[str, int]], str] = {}
        self._arriving: dict[tuple[int, tuple[str, int]], str] = {}
        self.usable_bytes: dict[int, int] = {}
        self.times: dict[int, tuple[ApiRequestTimes, ...] | None] = {}
        self.unloaded: dict[int, NotLoaded] = {}
        self.foreign: dict[int, tuple[int, ...]] = {}
        #: Brokers whose log directory is full.
        self.full_dirs: set[int] = set()
        #: Broker → how many logs were set aside in its first directory, and their bytes.
        self.strays: dict[int, tuple[int, int]] = {}
        #: Broker → the partitions that it compacts no more.
        self.damaged: dict[int, tuple[UncleanableLog, ...]] = {}
        self.budgets: dict[int, tuple[BudgetUse, ...]] = {}
        self.used: dict[int, tuple[QuotaUse, ...]] = {}
        self._own: dict[int, dict[str, str]] = {}
        self._of_all: dict[str, str] = {}

    def settings(self) -> Mapping[int, tuple[BrokerSetting, ...]]:
        return {broker: self._settings_of(broker) for broker in self._cluster.alive_brokers()}

    def change_settings(self, broker_id: int | None, changes: Mapping[str, str | None]) -> None:
        if broker_id not in (None, *self._cluster.alive_brokers()):
            raise ClusterUnreachableError(f"Broker {broker_id} is not registered, so it cannot answer.")
        layer = self._of_all if broker_id is None else self._own.setdefault(broker_id, {})
        try:
            for name, value in changes.items():
                if value is not None:
                    read_broker_change(name, value, is_for_all=broker_id is None)
        except ConfigError as error:
            raise refusal(ErrorCode.INVALID_CONFIG, error.message or "") from error
        for name, value in changes.items():
            if value is None:
                layer.pop(name, None)
            else:
                layer[name] = value

    def log_dirs(self, places: Collection[tuple[str, int]] | None = None) -> Mapping[int, tuple[LogDirView, ...]]:
        alive = self._cluster.alive_brokers()
        held: dict[int, list[tuple[str, int, int]]] = {item: [] for item in alive}
        for (topic, partition), sizes in sorted(self._cluster.replica_sizes().items()):
            if places is None or (topic, partition) in places:
                for broker_id, size in sizes.items():
                    held[broker_id].append((topic, partition, size))
        return {broker_id: tuple(self._dir_views(broker_id, held[broker_id])) for broker_id in alive}

    def move_replicas(self, broker_id: int, wanted: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], str]:
        if broker_id not in self._cluster.alive_brokers():
            raise ClusterUnreachableError(f"Broker {broker_id} is not registered, so it cannot answer.")
        sizes, refused = self._cluster.replica_sizes(), {}
        for place, path in wanted.items():
            if path not in self._dirs(broker_id):
                refused[place] = str(refusal(ErrorCode.LOG_DIR_NOT_FOUND))
            elif broker_id not in sizes.get(place, {}):
                refused[place] = str(refusal(ErrorCode.REPLICA_NOT_AVAILABLE))
            elif path != self._dir_of(broker_id, place):
                self._arriving[broker_id, place] = path
        return refused

    def arrive(self) -> None:
        """As if every copy between directories had caught up."""
        self._lies_in |= self._arriving
        self._arriving.clear()

    def _dirs(self, broker_id: int) -> list[str]:
        return self.files[broker_id]["log.dirs"].split(",")

    def _dir_of(self, broker_id: int, place: tuple[str, int]) -> str:
        return self._lies_in.get((broker_id, place), self._dirs(broker_id)[0])

    def _dir_views(self, broker_id: int, held: list[tuple[str, int, int]]) -> Iterator[LogDirView]:
        usable = self.usable_bytes.get(broker_id, VOLUME_BYTES)
        for number, path in enumerate(self._dirs(broker_id)):
            if broker_id in self.failed_dirs:
                yield LogDirView(path, "the disk could not be read or written")
                continue
            here = tuple(item for item in held if self._dir_of(broker_id, item[:2]) == path)
            coming = tuple((*item[:2], 0) for item in held if self._arriving.get((broker_id, item[:2])) == path)
            strays = self.strays.get(broker_id, (0, 0)) if number == 0 else (0, 0)
            yield LogDirView(path, "", VOLUME_BYTES, usable, here, coming, broker_id in self.full_dirs, *strays)

    def software(self) -> Mapping[int, Software]:
        return {broker: Software("Barnabas", "3.9", 44) for broker in self._cluster.alive_brokers()}

    def request_times(self) -> Mapping[int, tuple[ApiRequestTimes, ...] | None]:
        return {broker: self.times.get(broker) for broker in self._cluster.alive_brokers()}

    def not_loaded(self) -> Mapping[int, NotLoaded]:
        return {broker: self.unloaded.get(broker, NotLoaded()) for broker in self._cluster.alive_brokers()}

    def foreign_brokers(self) -> Mapping[int, tuple[int, ...]]:
        return {broker: self.foreign.get(broker, ()) for broker in self._cluster.alive_brokers()}

    def uncleanable(self) -> Mapping[int, tuple[UncleanableLog, ...]]:
        return {broker: self.damaged.get(broker, ()) for broker in self._cluster.alive_brokers()}

    def budget_uses(self) -> Mapping[int, tuple[BudgetUse, ...]]:
        return {broker: self.budgets.get(broker, ()) for broker in self._cluster.alive_brokers()}

    def quota_uses(self) -> Mapping[int, tuple[QuotaUse, ...]]:
        return {broker: self.used.get(broker, ()) for broker in self._cluster.alive_brokers()}

    def _settings_of(self, broker_id: int) -> tuple[BrokerSetting, ...]:
        layers = {"broker": self._own.get(broker_id, {}), "cluster": self._of_all, "file": self.files[broker_id]}
        return tuple(_setting(name, layers) for name in sorted(BY_NAME))


def _setting(name: str, layers: Mapping[str, Mapping[str, str]]) -> BrokerSetting:
    key = BY_NAME[name]
    values_by_source: dict[str, str | None] = {
        source: values[name] for source, values in layers.items() if name in values
    }
    values_by_source = {source: render_value(key.read(text or "")) for source, text in values_by_source.items()}
    values_by_source["default"] = key.default_text
    source, value = next(iter(values_by_source.items()))
    is_read_only = update_mode(name) is UpdateMode.READ_ONLY
    known = (name, value, source, key.default_text, key.meaning, choices_of(key))
    return BrokerSetting(*known, is_read_only=is_read_only, values_by_source=values_by_source)

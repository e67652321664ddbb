"""Partitions on the move in the cluster in memory: they arrive when a test says so."""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from broker.common.errors import ErrorCode
from console.kit.gateway.brokers.interface import ReplicaSizes
from console.kit.gateway.errors import GatewayError, refusal
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import TopicView
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS, MoveView, Throttles
from console.kit.gateway.retention.interface import SettingView


class FakeCluster(Protocol):
    """What moves need of the rest of the cluster in memory."""

    def alive_brokers(self) -> list[int]: ...

    def describe_topics(self) -> list[TopicView]: ...

    def replica_sizes(self) -> ReplicaSizes: ...

    def place_replicas(self, name: str, partition: int, replicas: tuple[int, ...]) -> None: ...

    def topic_settings(self, topic: str) -> tuple[SettingView, ...]: ...

    def change_topic_settings(self, topic: str, changes: Mapping[str, str | None]) -> None: ...


class FakeMoves:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._moves: dict[TopicPartition, MoveView] = {}
        self._copied: dict[tuple[TopicPartition, int], int] = {}
        self._rates: dict[int, dict[str, str]] = {}

    # What the console asks -------------------------------------------------------------------------------------------

    def assignments(self, topics: Iterable[str]) -> dict[TopicPartition, tuple[int, ...]]:
        wanted = set(topics)
        return {
            (topic.name, partition.partition): partition.replicas
            for topic in self._cluster.describe_topics()
            if topic.name in wanted
            for partition in topic.partitions
        }

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        wanted = set(topics)
        return {topic.name: topic.topic_id for topic in self._cluster.describe_topics() if topic.name in wanted}

    def under_way(self) -> dict[TopicPartition, MoveView]:
        self._cluster.alive_brokers()
        return dict(self._moves)

    def alter(self, targets: Mapping[TopicPartition, tuple[int, ...] | None]) -> dict[TopicPartition, str]:
        known = self.assignments(topic for topic, _ in targets)
        alive, refused = self._cluster.alive_brokers(), {}
        for place, target in targets.items():
            if place not in known:
                refused[place] = str(refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            elif target is None and place not in self._moves:
                refused[place] = str(refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS))
            elif target is None:
                self._settle(place, self._moves[place].origin)
            elif not target or len(set(target)) < len(target) or not set(target) <= {*alive, *known[place]}:
                refused[place] = str(refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT))
            else:
                self._begin(place, known[place], target)
        return refused

    def bytes_held(self, places: Collection[TopicPartition]) -> ReplicaSizes:
        held = self._cluster.replica_sizes()
        return {place: dict(held[place]) for place in places if place in held}

    def throttles(self, brokers: Iterable[int], topics: Iterable[str]) -> Throttles:
        brokers = self._reached(brokers)
        return Throttles(
            {
                broker: {key: self._rates.get(broker, {}).get(key) for key in RATE_KEYS}
                for broker in sorted(set(brokers))
            },
            {topic: self._throttled_replicas(topic) for topic in sorted(set(topics))},
        )

    def set_throttles(self, throttles: Throttles) -> None:
        self._reached(throttles.brokers)
        for broker_id, values in throttles.brokers.items():
            kept = {**self._rates.get(broker_id, {}), **values}
            self._rates[broker_id] = {key: value for key, value in kept.items() if value is not None}
        for topic, values in throttles.topics.items():
            self._cluster.change_topic_settings(topic, values)

    # What the cluster in memory and its tests do ---------------------------------------------------------------------

    def is_copying(self, place: TopicPartition, broker_id: int) -> bool:
        return place in self._moves and broker_id in self._moves[place].adding

    def copied_bytes(self, place: TopicPartition, broker_id: int) -> int:
        return self._copied.get((place, broker_id), 0)

    def copy(self, topic: str, partition: int, broker_id: int, byte_count: int) -> None:
        """As if the new replica had fetched so much by now."""
        self._copied[(topic, partition), broker_id] = byte_count

    def arrive(self, *places: TopicPartition) -> None:
        """As if these, or everything on the move, were in sync on the target."""
        for place in places or tuple(self._moves):
            self._settle(place, self._moves[place].target)

    def forget(self, topic: str) -> None:
        for place in [move for move in self._moves if move[0] == topic]:
            del self._moves[place]

    def _begin(self, place: TopicPartition, replicas: tuple[int, ...], target: tuple[int, ...]) -> None:
        under_way = self._moves.get(place)
        origin = under_way.origin if under_way else replicas
        involved = tuple(dict.fromkeys((*target, *replicas)))
        adding = tuple(item for item in involved if item not in origin)
        removing = tuple(item for item in involved if item not in target)
        if set(target) <= set(origin):
            self._settle(place, target)
        else:
            self._moves[place] = MoveView(involved, adding, removing)
            self._cluster.place_replicas(*place, involved)

    def _settle(self, place: TopicPartition, replicas: tuple[int, ...]) -> None:
        self._moves.pop(place, None)
        self._copied = {key: count for key, count in self._copied.items() if key[0] != place}
        self._cluster.place_replicas(*place, replicas)

    def _reached(self, brokers: Iterable[int]) -> set[int]:
        """Each broker is told, and tells, its settings itself. Raises GatewayError if one is away."""
        brokers, alive = set(brokers), self._cluster.alive_brokers()
        if away := sorted(brokers - set(alive)):
            raise GatewayError(f"Broker {away[0]} does not answer.")
        return brokers

    def _throttled_replicas(self, topic: str) -> dict[str, str | None]:
        settings = {setting.name: setting for setting in self._cluster.topic_settings(topic)}
        return {key: settings[key].value if settings[key].source == "topic" else None for key in REPLICA_KEYS}

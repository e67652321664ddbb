"""What is remembered of a topic and its settings, a group, a broker, and how it is packed. Pure.

Offsets, rates and lags are not part of it: they change all the time, and charts have them.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from console.kit.common.stored_fields import from_stored
from console.state.clusters.broker_rows import BrokerRow
from console.state.clusters.topic_rows import TopicRow
from console.state.consumers.rows import GroupRow

Packed = bytes


@dataclass(frozen=True, slots=True)
class PartitionThen:
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]

    @property
    def is_out_of_sync(self) -> bool:
        return not {*self.replicas} <= {*self.isr}

    @property
    def replica_states(self) -> list[dict[str, object]]:
        """The replicas as `components/replicas.html` draws them."""
        return [
            {
                "broker_id": replica,
                "is_leader": replica == self.leader,
                "is_in_sync": replica in self.isr,
                "is_copying": False,
            }
            for replica in self.replicas
        ]


@dataclass(frozen=True, slots=True)
class TopicThen:
    partitions: tuple[PartitionThen, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The columns of `Was`."""
        return {
            "partition_count": len(self.partitions),
            "out_of_sync_count": sum(partition.is_out_of_sync for partition in self.partitions),
            "leaderless_count": sum(partition.leader is None for partition in self.partitions),
        }

    def pack(self) -> Packed:
        return _pack(
            [
                [partition.partition, partition.leader, partition.replicas, partition.isr]
                for partition in self.partitions
            ]
        )

    @classmethod
    def unpack(cls, packed: Packed) -> "TopicThen":
        partitions = (
            PartitionThen(index, leader, tuple(replicas), tuple(isr))
            for index, leader, replicas, isr in _unpack(packed)
        )
        return cls(tuple(partitions))


@dataclass(frozen=True, slots=True)
class GroupThen:
    state: str
    coordinator: int
    #: None: the group could not be described.
    member_count: int | None
    topics: tuple[str, ...]

    def pack(self) -> Packed:
        return _pack(asdict(self))

    @classmethod
    def unpack(cls, packed: Packed) -> "GroupThen":
        body = _unpack(packed)
        return from_stored(cls, {**body, "topics": tuple(body["topics"])})


@dataclass(frozen=True, slots=True)
class BrokerThen:
    """`is_registered` False: it was missed."""

    host: str
    port: int | None
    rack: str
    is_registered: bool

    def pack(self) -> Packed:
        return _pack(asdict(self))

    @classmethod
    def unpack(cls, packed: Packed) -> "BrokerThen":
        return from_stored(cls, _unpack(packed))


def topic_then(row: TopicRow) -> TopicThen:
    """Return the topic then, without replicas that a move was still adding."""
    partitions = (
        PartitionThen(
            partition.partition,
            partition.leader,
            tuple(broker for broker in partition.replicas if broker not in partition.copying),
            tuple(sorted(partition.isr)),
        )
        for partition in row.partitions
    )
    return TopicThen(tuple(partitions))


def pack_settings(own: Sequence[tuple[str, str]]) -> Packed:
    return _pack(dict(own))


def unpack_settings(packed: Packed) -> dict[str, str]:
    return dict(_unpack(packed))


def group_then(row: GroupRow) -> GroupThen:
    return GroupThen(row.state, row.coordinator, row.member_count, tuple(row.topics))


def broker_then(row: BrokerRow) -> BrokerThen:
    return BrokerThen(row.host, row.port, row.rack, row.is_registered)


def _pack(body: Any) -> Packed:
    return zlib.compress(json.dumps(body, sort_keys=True, separators=(",", ":")).encode(), 1)


def _unpack(packed: Packed) -> Any:
    return json.loads(zlib.decompress(packed))

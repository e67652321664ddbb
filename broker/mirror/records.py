"""The records of a mirror's own topic: how far a partition is copied, where its records went, whose producer is whose.

Topic `barnabas-mirror.internal`, in each cluster that is a target: one partition, compacted. Keys and values are JSON.

    ["position", flow, topic, partition]       next source offset, its leader epoch, topic id, target, newest runs
    ["history", flow, topic, partition, slot]  runs of some time ago
    ["producer", id]                           clusters in which its records have been, who writes with it
    ["settings", flow, topic]                  what the topic and its copy were set to when the mirror looked last

A flow is `SOURCE->TARGET` by the clusters' aliases: whoever mirrors it, a connector or a command, goes on where the
other one stopped. What cannot be understood is left out: it was not written by a mirror.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from broker.common.types import TopicPartition
from broker.mirror.batches import CopiedRun
from broker.mirror.settings import SeenValue

TOPIC = "barnabas-mirror.internal"
#: Of one record; the newest.
RUNS_PER_RECORD = 256
#: Of one partition: every HISTORY_EVERY_S seconds one, in a ring of so many: some three hours by ten seconds, and some
#: three weeks by half an hour.
RINGS = ((10.0, 1_000), (1_800.0, 1_000))
_CLUSTERS_MAX = 100


class MirrorPosition(NamedTuple):
    """`next_offset` in the source is the first that has not been copied, or the first there is. `topic_id` is the
    source's, `copy_id` that of the copy in the target."""

    next_offset: int
    leader_epoch: int
    topic_id: UUID | None
    target: str
    copy_id: UUID | None = None

    @property
    def life(self) -> str | None:
        """The topic and copy ids for which these offsets correspond; with others they mean nothing."""
        return f"{self.topic_id}/{self.copy_id}" if self.copy_id else None


class PositionRecord(NamedTuple):
    flow: str
    partition: TopicPartition
    position: MirrorPosition
    runs: tuple[CopiedRun, ...]


class HistoryRecord(NamedTuple):
    flow: str
    partition: TopicPartition
    slot: str
    runs: tuple[CopiedRun, ...]
    #: Of the position it belongs to.
    life: str | None = None


class ProducerRecord(NamedTuple):
    """`clusters` by their ids, the first one first; `writer` is the transactional id, or None."""

    producer_id: int
    clusters: tuple[str, ...]
    writer: str | None


class SettingsRecord(NamedTuple):
    flow: str
    topic: str
    copy: str
    source: Mapping[str, SeenValue]
    target: Mapping[str, SeenValue]


Said = PositionRecord | HistoryRecord | ProducerRecord | SettingsRecord


def written(record: Said) -> tuple[bytes, bytes]:
    """Return key and value as they are written."""
    if isinstance(record, SettingsRecord):
        seen = {"source": record.source, "target": record.target}
        sides = {side: {name: list(item) for name, item in producers.items()} for side, producers in seen.items()}
        return orjson.dumps(["settings", record.flow, record.topic]), orjson.dumps({"copy": record.copy, **sides})
    if isinstance(record, ProducerRecord):
        return orjson.dumps(["producer", record.producer_id]), orjson.dumps(
            {"clusters": record.clusters, "writer": record.writer}
        )
    runs = [list(run) for run in record.runs[-RUNS_PER_RECORD:]]
    if isinstance(record, HistoryRecord):
        return orjson.dumps(["history", record.flow, *record.partition, record.slot]), orjson.dumps(
            {"runs": runs, "life": record.life}
        )
    position = record.position
    return orjson.dumps(["position", record.flow, *record.partition]), orjson.dumps(
        {
            "next": position.next_offset,
            "leader_epoch": position.leader_epoch,
            "topic_id": str(position.topic_id) if position.topic_id else None,
            "target": position.target,
            "copy_id": str(position.copy_id) if position.copy_id else None,
            "runs": runs,
        }
    )


def understood(key: bytes | None, value: bytes | None) -> Said | None:
    try:
        named, document = orjson.loads(key or b""), orjson.loads(value or b"")
        match named:
            case ["producer", int(producer_id)]:
                clusters = tuple(_text(cluster) for cluster in document["clusters"][:_CLUSTERS_MAX])
                return ProducerRecord(producer_id, clusters, document.get("writer"))
            case ["settings", str(flow), str(topic)]:
                return SettingsRecord(
                    flow, topic, _text(document["copy"]), _seen(document["source"]), _seen(document["target"])
                )
            case ["history", str(flow), str(topic), int(partition), str(slot)]:
                return HistoryRecord(
                    flow, TopicPartition(topic, partition), slot, _runs(document["runs"]), document.get("life")
                )
            case ["position", str(flow), str(topic), int(partition)]:
                return PositionRecord(
                    flow, TopicPartition(topic, partition), _position(document), _runs(document["runs"])
                )
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    return None


def _position(document: dict[str, Any]) -> MirrorPosition:
    topic_id, copy_id = (UUID(text) if (text := document.get(name)) else None for name in ("topic_id", "copy_id"))
    return MirrorPosition(
        _offset(document["next"]), _integer(document["leader_epoch"]), topic_id, _text(document["target"]), copy_id
    )


def _seen(document: Mapping[str, Sequence[Any]]) -> dict[str, SeenValue]:
    return {
        _text(name): SeenValue(None if value is None else _text(value), _offset(since))
        for name, (value, since) in document.items()
    }


def _runs(runs: Sequence[Sequence[Any]]) -> tuple[CopiedRun, ...]:
    return tuple(CopiedRun(*(_offset(number) for number in sequence)) for sequence in runs[-RUNS_PER_RECORD:])


def _offset(value: Any) -> int:
    number = _integer(value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{number} is no offset")
    return number


def _integer(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value

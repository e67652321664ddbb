"""What happened between two looks at the cluster, as events. Pure.

A broker that goes takes thousands of partitions along: what many partitions of one topic have in common becomes one
event, and what many topics have in common too, so that a look never writes more than a person could read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.state.clusters.broker_rows import BrokerRow
from console.state.clusters.topic_rows import PartitionRow, TopicChanges, TopicRow

#: Of one topic and kind; with more at once they are told as one.
PARTITIONS_TOLD_MAX = 6
#: Events of one look; what is beyond is told as one for each kind.
EVENTS_PER_LOOK_MAX = 200


#: By name, the value before and after.
Values = Mapping[str, tuple[str | None, str | None]]


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """`kind` is one of models.Kind, `tone` the colour beside its words; `object_name` is what it happened to.

    `topic` is a topic that the sentence names besides. `values`: by name, the old and the new value; None is no value.
    """

    kind: str
    object_name: str
    sentence: str
    tone: str = "plain"
    partition: int | None = None
    topic: str = ""
    values: Values | None = None


def broker_events(before: Mapping[int, BrokerRow], after: Mapping[int, BrokerRow]) -> list[HistoryEvent]:
    events = []
    for broker_id, row in sorted(after.items()):
        known = before.get(broker_id)
        was_registered = known is not None and known.is_registered
        if row.is_registered and not was_registered:
            again = "again " if known is not None else ""
            events.append(_broker(broker_id, f"registered {again}at {row.host}:{row.port}", "ok"))
        elif was_registered and not row.is_registered:
            events.append(_broker(broker_id, "left the cluster", "critical"))
        elif known is not None and row.is_registered and (row.host, row.port) != (known.host, known.port):
            events.append(_broker(broker_id, f"moved from {known.host}:{known.port} to {row.host}:{row.port}"))
    for broker_id in sorted(before.keys() - after.keys()):
        if before[broker_id].is_registered:
            events.append(_broker(broker_id, "left the cluster, as planned: it holds no replica and was removed"))
    return events


def controller_events(before: int | None, after: int | None) -> list[HistoryEvent]:
    if before == after:
        return []
    if after is None:
        return [
            HistoryEvent(
                "controller", "controller", f"Broker {before} is the controller no more; there is none", "critical"
            )
        ]
    since = "there was none" if before is None else f"was broker {before}"
    return [HistoryEvent("controller", "controller", f"Broker {after} is the controller; {since}", "ok")]


def topic_events(before: Mapping[str, TopicRow], changes: TopicChanges) -> list[HistoryEvent]:
    created = {row.name: row for row in changes.created}
    events = []
    for name in changes.deleted:
        events.append(HistoryEvent("topic", name, f"{name} was deleted", "warning"))
    for name, row in created.items():
        count = _count(len(row.partitions), "partition")
        events.append(
            HistoryEvent("topic", name, f"{name} was created with {count}, replication factor {row.replication_factor}")
        )
    for row, _ in changes.changed:
        events += _changed_topic(before[row.name], row)
    return shortened(events)


def shortened(events: list[HistoryEvent]) -> list[HistoryEvent]:
    """Return at most EVENTS_PER_LOOK_MAX, and one more for each kind that had more."""
    if len(events) <= EVENTS_PER_LOOK_MAX:
        return events
    beyond: dict[str, list[HistoryEvent]] = defaultdict(list)
    for event in events[EVENTS_PER_LOOK_MAX:]:
        beyond[event.kind].append(event)
    history_events = [
        HistoryEvent(
            kind, "many topics", f"{_count(len(rest), 'more change')} of this kind at the same time", _worst(rest)
        )
        for kind, rest in beyond.items()
    ]
    return [*events[:EVENTS_PER_LOOK_MAX], *history_events]


def _changed_topic(before: TopicRow, after: TopicRow) -> list[HistoryEvent]:
    known = {partition.partition: partition for partition in before.partitions}
    added = len(after.partitions) - len(before.partitions)
    events = []
    if added > 0:
        events.append(HistoryEvent("topic", after.name, f"{after.name} has {_count(added, 'partition')} more"))
    by_kind: dict[str, list[HistoryEvent]] = defaultdict(list)
    for partition in after.partitions:
        if partition.partition in known:
            for event in _changed_partition(after.name, known[partition.partition], partition):
                by_kind[event.kind].append(event)
    for kind, of_kind in by_kind.items():
        events += of_kind if len(of_kind) <= PARTITIONS_TOLD_MAX else [_together(after.name, kind, of_kind)]
    return events


def _changed_partition(topic: str, before: PartitionRow, after: PartitionRow) -> Iterable[HistoryEvent]:
    name = f"{topic}-{after.partition}"
    if before.leader != after.leader:
        if after.leader is None:
            sentence, tone = f"{name} has no leader; it was broker {before.leader}", "critical"
        elif before.leader is None:
            sentence, tone = f"{name} is led by broker {after.leader} again", "ok"
        else:
            sentence, tone = f"{name} is led by broker {after.leader}, previously by broker {before.leader}", "plain"
        yield HistoryEvent("leader", topic, sentence, tone, after.partition)
    if set(before.isr) != set(after.isr):
        gone, come = sorted(set(before.isr) - set(after.isr)), sorted(set(after.isr) - set(before.isr))
        words = [f"{_ids(gone)} fell out of sync"] if gone else []
        words += [f"{_ids(come)} came in sync"] if come else []
        tone = "warning" if gone and len(after.isr) < len(after.replicas) else "ok"
        yield HistoryEvent(
            "isr", topic, f"{name}: {', '.join(words)}; in sync: {sorted(after.isr)}", tone, after.partition
        )
    if before.replicas != after.replicas:
        sentence = f"{name} has its replicas on {_ids(after.replicas)}, previously on {_ids(before.replicas)}"
        yield HistoryEvent("replicas", topic, sentence, "plain", after.partition)


def _together(topic: str, kind: str, events: list[HistoryEvent]) -> HistoryEvent:
    """Merge changes of many partitions of one topic into one event, with the first few named."""
    what = {"leader": "changed leaders", "isr": "changed in-sync replicas", "replicas": "changed replicas"}[kind]
    named = "; ".join(event.sentence.removeprefix(f"{topic}-") for event in events[:2])
    return HistoryEvent(
        kind, topic, f"{topic}: {_count(len(events), 'partition')} {what}, such as {named}", _worst(events)
    )


def _worst(events: Iterable[HistoryEvent]) -> str:
    order = ("plain", "ok", "warning", "critical")
    return max((event.tone for event in events), key=order.index)


def _broker(broker_id: int, words: str, tone: str = "plain") -> HistoryEvent:
    return HistoryEvent("broker", f"broker-{broker_id}", f"Broker {broker_id} {words}", tone)


def _ids(broker_ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(broker_ids))) or "none"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")

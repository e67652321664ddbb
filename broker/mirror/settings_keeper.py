"""Lets settings of copies follow, and writes down what was seen of both sides: `settings` says why."""

import time
from collections.abc import Callable, Mapping

from confluent_kafka import Producer

from broker.client.cluster import ClusterConnections
from broker.mirror.ledger import MirrorLedger
from broker.mirror.mirror_state import MirrorState
from broker.mirror.naming import TopicNaming
from broker.mirror.records import TOPIC, SettingsRecord, written
from broker.mirror.settings import SettingChanges, SettingSides, follow
from broker.mirror.topic_keeper import TopicKeeper

_FLUSH_S = 30.0


class SettingsKeeper:
    """Settings keeper of one flow, on one thread, over connections that it keeps until `close`."""

    def __init__(
        self,
        source: Callable[[], ClusterConnections],
        target: Callable[[], ClusterConnections],
        producer: Producer,
        keeper: TopicKeeper,
        naming: TopicNaming,
        is_excluded: Callable[[str], object],
    ):
        self._clusters = source(), target()
        self._there, self._here = (MirrorLedger(cluster) for cluster in self._clusters)
        self._producer, self._keeper, self._naming, self._is_excluded = producer, keeper, naming, is_excluded

    def close(self) -> None:
        for cluster in self._clusters:
            cluster.close()

    def look(self, names: Mapping[str, str], own: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        """Return failures by topic. `names`: topic → its copy, of existing copies; `own`: topic → its settings, where
        they can be read.

        Copy → why its settings do not follow. Raises KafkaException, ApiError, BrokerUnreachable, LedgerUnread.
        """
        there = self._keeper.settings(names.values(), of_source=False)
        for ledger in (self._there, self._here):
            ledger.read_to_end(waits_for_open=False)
        now_ms = int(time.time() * 1000)
        both = {topic: copy for topic, copy in names.items() if topic in own and copy in there}
        sides = sides_of(self._naming, self._there, self._here, {name: (own[name], there[both[name]]) for name in both})
        changes = {topic: follow(item, self._is_excluded, now_ms) for topic, item in sides.items()}
        refused = self._keeper.change_settings({both[topic]: item.changes for topic, item in changes.items()})
        for topic, item in changes.items():
            if both[topic] not in refused:
                self._write_down(topic, item)
        self._producer.flush(_FLUSH_S)
        return refused | {copy: "they cannot be read" for topic, copy in names.items() if topic not in both}

    def _write_down(self, topic: str, changes: SettingChanges) -> None:
        flow = self._naming.flow
        record = SettingsRecord(flow, topic, self._naming.copy_of(topic), changes.source, changes.target)
        if self._here.settings.get((flow, topic)) != record:
            key, value = written(record)
            self._producer.produce(TOPIC, value, key)


def sides_of(
    naming: TopicNaming,
    there: MirrorState,
    here: MirrorState,
    topics: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]],
) -> dict[str, SettingSides]:
    """Return both sides of each setting. `topics`: topic → its settings and those of its copy. Of each what both
    clusters' mirrors have seen. Pure.
    """
    into_source, into_target = _by_copy(there), _by_copy(here)
    sides = {}
    for topic, (source, target) in topics.items():
        copy = naming.copy_of(topic)
        above, beside = into_source.get(topic, []), into_target.get(copy, [])
        mine = [item.source for item in beside if (item.flow, item.topic) == (naming.flow, topic)]
        back = [item.source for item in above if (item.flow, item.topic) == (naming.reverse_flow, copy)]
        sides[topic] = SettingSides(
            source,
            target,
            (*mine, *(line.target for line in above)),
            (*(line.target for line in beside), *back),
            is_only_way=not above and len(beside) == len(mine),
        )
    return sides


def _by_copy(book: MirrorState) -> dict[str, list[SettingsRecord]]:
    records: dict[str, list[SettingsRecord]] = {}
    for setting in book.settings.values():
        records.setdefault(setting.copy, []).append(setting)
    return records

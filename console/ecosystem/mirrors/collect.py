"""The collector's look at what mirrors say: their status topic, read on from where the last look ended."""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from console.ecosystem.mirrors.feature import LIVE_GROUP
from console.ecosystem.mirrors.figures import SILENT_AFTER_MS, MirrorPartition, partition_of, total
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.gateway.connect import mirror_gateways
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.processes.mirror import STATUS_TOPIC, understood
from console.kit.gateway.records.interface import RecordStream
from console.kit.live.push import push_partial
from console.state.consumers.tiers import TierContext, TierLook

logger = logging.getLogger(__name__)

#: Rows of topics nobody has spoken of for so long are forgotten: their mirror was taken away.
KEPT_MS = 7 * 24 * 3_600_000
_AT_ONCE = 2_000
#: Of a topic, as it is kept.
NAME_LENGTH_MAX = 249
_WAIT_S = 0.3
_ROUNDS_MAX = 50
#: (flow, topic of the source)
_Key = tuple[str, str]


class MirrorCollector:
    """Collects from one cluster, ours or, with its alias, another. For one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int], cluster: str = ""):
        self._gateway, self._now_ms, self._cluster = gateway, clock_ms, cluster
        self._stream: RecordStream | None = None
        self._partitions: defaultdict[_Key, dict[str, MirrorPartition]] = defaultdict(dict)
        self._targets: dict[_Key, str] = {}

    def look(self, topics: Collection[str] | None = None) -> bool:
        """Return whether a mirror has trouble. `topics`: all there are, where that is known. Raises GatewayError."""
        rows = MirroredTopic.objects.filter(cluster=self._cluster)
        if topics is not None and STATUS_TOPIC not in topics:
            self._close()
            if rows.delete()[0]:
                self._push_changes()
            return False
        try:
            changed = self._read()
        except GatewayError:
            self._close()
            raise
        for key in changed:
            self._keep(key)
        if rows.filter(at_ms__lt=self._now_ms() - KEPT_MS).delete()[0] or changed:
            self._push_changes()
        return rows.filter(failing__gt=0, at_ms__gt=self._now_ms() - SILENT_AFTER_MS).exists()

    def _read(self) -> set[_Key]:
        if self._stream is None:
            spans = self._gateway.record_spans(STATUS_TOPIC, False)
            if not spans:
                return set()  # it has no leader for now: nobody would ever read it
            starts = {partition: span.first for partition, span in spans.items()}
            self._stream = self._gateway.open_records(STATUS_TOPIC, starts, False)
        changed: set[_Key] = set()
        for _ in range(_ROUNDS_MAX):
            records = self._stream.read(_WAIT_S, _AT_ONCE)
            for record in records:
                record_value = understood(record.key, record.value)
                if record_value is not None:
                    flow, partition, status = record_value
                    key, number = (flow[:201], partition.topic[:NAME_LENGTH_MAX]), str(partition.partition)
                    known = self._partitions[key]
                    if status is None:
                        known.pop(number, None)
                    else:
                        known[number] = partition_of(status, known.get(number))
                        self._targets[key] = status.target[:NAME_LENGTH_MAX]
                    changed.add(key)
            if len(records) < _AT_ONCE:
                break
        return changed

    def _keep(self, key: _Key) -> None:
        partitions = self._partitions[key]
        if not partitions:
            MirroredTopic.objects.filter(cluster=self._cluster, flow=key[0], topic=key[1]).delete()
            return
        columns: dict[str, Any] = total(partitions)
        columns |= {
            "target": self._targets[key],
            "partitions": {number: list(item) for number, item in partitions.items()},
        }
        MirroredTopic.objects.update_or_create(cluster=self._cluster, flow=key[0], topic=key[1], defaults=columns)

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        self._partitions.clear()
        self._targets.clear()

    def _push_changes(self) -> None:
        push_partial(LIVE_GROUP, "mirrors/partials/version.html", {"version": self._now_ms()})


class OtherClusters:
    """What lies in clusters that mirrors copy into from here: one that does not answer keeps no other from its look."""

    def __init__(self, gateways: Mapping[str, ClusterGateway], clock_ms: Callable[[], int]):
        self._why: dict[str, str] = {}
        self._collectors = {alias: MirrorCollector(item, clock_ms, alias) for alias, item in gateways.items()}

    def look(self) -> bool:
        """Read the other clusters; return whether a mirror has trouble. Data of clusters no longer named is deleted."""
        MirroredTopic.objects.exclude(cluster__in=("", *self._collectors)).delete()
        looks = [self._look(alias, item) for alias, item in self._collectors.items()]
        return any(looks)

    def _look(self, alias: str, collector: MirrorCollector) -> bool:
        try:
            has_trouble = collector.look()
        except GatewayError as error:
            if self._why.get(alias) != str(error):
                logger.info("what mirrors to %s do is not known: %s", alias, error)
            self._why[alias] = str(error)
            return False
        self._why.pop(alias, None)
        return has_trouble


def tier(context: TierContext) -> TierLook:
    """Return the tier, which waits for the first look at the topics: those say whether there is a mirror at all."""
    collector = MirrorCollector(context.gateway, context.clock_ms)
    return TierLook(lambda: bool(context.topics_at_ms) and collector.look(context.topics))


def tier_elsewhere(context: TierContext) -> TierLook:
    return TierLook(OtherClusters(mirror_gateways(), context.clock_ms).look)

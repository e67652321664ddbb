"""The collector's look at what protects topics: a row is added for each topic and each reason."""

from collections import Counter
from collections.abc import Callable, Mapping

from console.cluster.protections.models import NAME_LENGTH_MAX, WHERE_LENGTH_MAX, TopicProtection
from console.cluster.protections.store import naming_of
from console.cluster.records.masking import ANY_TOPIC
from console.cluster.records.origins import NAMES_MAX, all_origins
from console.kit.access.internal_topics import InternalTopicSource, configured_names
from console.state.consumers.tiers import TierContext, TierLook

_EVERY_MS = 5_000


class ProtectionWatch:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int]):
        self._now_ms = clock_ms
        self._looked_at_ms: int | None = None
        self._configured: dict[str, InternalTopicSource] = {}
        #: Topics that were compared with `_configured`, and those of them that are internal by it.
        self._compared: frozenset[str] = frozenset()
        self._internal: dict[str, InternalTopicSource] = {}

    def look(self, ids: Mapping[str, str]) -> None:
        """Look for topics' origins. `ids`: of all topics by name; empty where the cluster has none."""
        at_ms = self._now_ms()
        if self._looked_at_ms is not None and at_ms - self._looked_at_ms < _EVERY_MS:
            return
        self._looked_at_ms = at_ms
        self._compare(ids)
        wanted = {
            (origin.topic, origin.name): InternalTopicSource(origin.where, origin.source)
            for origin in all_origins(only_lasting=True)
        }
        wanted |= {(topic, ""): naming for topic, naming in self._internal.items()}
        _add({key: naming for key, naming in wanted.items() if key[0] in ids}, ids, at_ms)

    def _compare(self, ids: Mapping[str, str]) -> None:
        configured = configured_names()
        if configured != self._configured:
            self._configured, self._compared, self._internal = configured, frozenset(), {}
        for topic in ids.keys() - self._compared:
            if (naming := naming_of(topic, configured)) and naming.is_lasting:
                self._internal[topic] = naming
        self._compared = frozenset(ids)


def _add(wanted: Mapping[tuple[str, str], InternalTopicSource], ids: Mapping[str, str], at_ms: int) -> None:
    """Add origins; of a topic with many only that they are many: a connector's configuration can name any number."""
    if not wanted:
        return
    kept = set(TopicProtection.objects.values_list("topic", "topic_id", "origin"))
    counts = Counter((topic, topic_id) for topic, topic_id, _ in kept)
    new: dict[tuple[str, str, str], TopicProtection] = {}
    for (topic, origin), naming in wanted.items():
        is_one_more = origin and counts[topic, ids[topic]] >= NAMES_MAX
        key = (topic, ids[topic], ANY_TOPIC if is_one_more else origin[:NAME_LENGTH_MAX])
        if key in kept or key in new or (topic, ids[topic], origin[:NAME_LENGTH_MAX]) in kept:
            continue
        counts[topic, ids[topic]] += 1
        new[key] = TopicProtection(
            topic=topic,
            topic_id=ids[topic],
            origin=key[2],
            where=naming.where[:WHERE_LENGTH_MAX],
            source=naming.source[:NAME_LENGTH_MAX],
            since_ms=at_ms,
        )
    TopicProtection.objects.bulk_create(new.values(), ignore_conflicts=True)


def tier(context: TierContext) -> TierLook:
    """Return the tier, which waits for the first look at the topics."""
    watch = ProtectionWatch(context.clock_ms)

    def look() -> None:
        if context.topics_at_ms:
            watch.look({row.name: row.topic_id for row in context.topics.values()})

    return TierLook(look)

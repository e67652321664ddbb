"""Mirrors as users of topics: who deletes a topic is told that it is copied, or is a copy."""

from collections.abc import Collection, Iterator

from django.db.models import Q

from console.cluster.records.origins import Origin
from console.ecosystem.mirrors.figures import SILENT_AFTER_MS
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.common.clock import now_ms
from console.processes.topic_users import TopicUser


def origins_of_copies(topic: str) -> Iterator[Origin]:
    """Return the topics, of whichever cluster, that are copied to a topic of this name; without a topic all there
    are.
    """
    copies = MirroredTopic.objects.filter(**({"target": topic} if topic else {}))
    for copy, origin, flow in copies.values_list("target", "topic", "flow").distinct():
        yield Origin(copy, origin, f"copy by mirror {flow}", "")


def mirrors_of(topics: Collection[str]) -> Iterator[TopicUser]:
    """Return mirrors that read these topics, here or in another watched cluster; a mirror is running if it reported of
    late.
    """
    heard_ms = now_ms() - SILENT_AFTER_MS
    here = Q(cluster="", target__in=topics) | ~Q(cluster="") & Q(topic__in=topics)
    rows = MirroredTopic.objects.filter(here).values_list("flow", "cluster", "topic", "target", "at_ms")
    for flow, cluster, topic, target, at_ms in rows:
        if cluster:
            yield TopicUser(f"mirror {flow}", "", at_ms > heard_ms, reads=(topic,))
        else:
            yield TopicUser(f"mirror {flow}", "", at_ms > heard_ms, writes=(target,))

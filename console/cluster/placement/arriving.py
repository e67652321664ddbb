"""Replicas that are still being copied by a move: a plan, and no trouble.

They do not count as out of sync, as they do not in Kafka's UnderReplicatedPartitions (KIP-455).
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from console.cluster.placement.models import OPEN, OngoingMove, Reassignment
from console.cluster.placement.move import flat
from console.kit.common.kept_statements import kept_rows
from console.kit.gateway.groups.interface import TopicPartition

#: A move is seen in the cluster within a look or two; until then what was asked for stands for it, no longer.
SEEN_WITHIN = timedelta(seconds=15)


def arriving_replicas() -> Mapping[TopicPartition, frozenset[int]]:
    """Return, by partition, the brokers that running and just begun moves add."""
    arriving: dict[TopicPartition, frozenset[int]] = defaultdict(frozenset)
    for row in kept_rows(OngoingMove.objects.all):
        arriving[row.topic, row.partition] |= frozenset(row.adding)
    since = timezone.now() - SEEN_WITHIN
    for row in kept_rows(_open):
        if row.began_at <= since:
            continue
        former = flat(row.former)
        for place, target in flat(row.wanted).items():
            arriving[place] |= frozenset(target) - frozenset(former.get(place, ()))
    return dict(arriving)


def _open() -> QuerySet[Reassignment]:
    return Reassignment.objects.filter(state__in=OPEN)

"""The deletion of a topic's records with all it hangs on: brokers are asked where logs begin and end, and groups where
they are.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from console.cluster.retention.plan import UnreadLoss, losses_below
from console.cluster.retention.purge import (
    PARTITIONS_MAX,
    Doomed,
    PurgeBound,
    PurgedPartition,
    PurgePlan,
    aimed_at,
    cuts_of,
    purge_plan,
)
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.processes.topic_users import uses_of
from console.state.clusters.models import Topic


@dataclass(frozen=True, slots=True)
class PurgeWish:
    """Up to where records shall go. `at`: milliseconds, of a time; without `partitions` it is all of them."""

    to: PurgeBound
    offset: int = 0
    at: int | None = None
    partitions: Collection[int] = ()


def aimed_offsets(topic: Topic, wish: PurgeWish) -> dict[int, int]:
    """Return partition → the first offset that stays, 0 for partitions that do not answer. Raises GatewayError."""
    gateway, chosen = cluster_gateway(), wish.partitions
    spans = gateway.record_spans(topic.name, committed_only=False)
    silent = [index for index in chosen or range(topic.partition_count) if index not in spans]
    spans = {item: span for item, span in spans.items() if not chosen or item in chosen}
    if len(spans) > PARTITIONS_MAX:
        raise GatewayError(f"One plan has room for {PARTITIONS_MAX} partitions: choose some.")
    at = None
    if wish.to is PurgeBound.TIME and wish.at is not None:
        at = gateway.offsets_at(topic.name, wish.at, spans)
    return aimed_at(wish.to, spans, wish.offset, at) | dict.fromkeys(silent, 0)


def purge_of(topic: Topic, before: Mapping[int, int], reach: Reach) -> tuple[tuple[PurgedPartition, ...], PurgePlan]:
    """Return what is deleted, and the plan; partitions of `before` that do not answer are left alone. Raises
    GatewayError.
    """
    gateway = cluster_gateway()
    spans = gateway.record_spans(topic.name, committed_only=False)
    doomed = Doomed(
        topic=topic.name,
        topic_id=topic.topic_id,
        cleanup_policy=topic.cleanup_policy,
        is_internal=topic.is_internal,
        spans=spans,
        silent=tuple(sorted(number for number in before if number not in spans)),
        uses=uses_of([topic.name], reach).get(topic.name, ()),
    )
    try:
        cuts = cuts_of(doomed, before)
    except ValueError as error:
        raise GatewayError(str(error)) from error
    losses, hidden = _losses(doomed.topic, cuts, reach)
    return cuts, purge_plan(doomed, cuts, losses, here.BOOTSTRAP_SERVERS, hidden)


def _losses(topic: str, cuts: tuple[PurgedPartition, ...], reach: Reach) -> tuple[list[UnreadLoss], int]:
    """Return losses of the groups in reach, and how many others lose something."""
    starts = {cut.partition: cut.before for cut in cuts}
    firsts = {cut.partition: cut.span.first for cut in cuts}
    losses = losses_below(starts, firsts, cluster_gateway().committed_offsets(topic))
    seen = [item for item in losses if Right.VIEW in reach.rights_on(Resource.GROUP, item.group)]
    return seen, len(losses) - len(seen)

"""The collector's look at partitions on the move: how far each copy is, and the end of what was asked for here.

A move that is over has its throttle taken away before it is called over, so that no throttle stays behind; should the
cluster not answer, the next look tries again.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from django.db.models import Q, QuerySet
from django.template.loader import render_to_string

from console.cluster.placement.actions import end_throttle
from console.cluster.placement.models import KEPT, OPEN, OngoingMove, Reassignment
from console.cluster.placement.move import flat
from console.cluster.placement.queries import moves_facts
from console.cluster.placement.sentences import count_of
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import kept_rows
from console.kit.common.rates import RateWindow
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.moves.interface import MoveView
from console.kit.live import groups
from console.kit.live.audience import listened
from console.kit.live.push import send_now
from console.state.consumers.tiers import TierContext, TierLook

State = Reassignment.State
#: A move whose beginning nobody has confirmed by then is looked at like any other.
BEGINS_WITHIN_MS = 60_000
#: Looks in a row that find nothing under way before a move that did not arrive is called off: leaders and metadata
#: may be a moment apart.
QUIET_LOOKS = 2
#: A throttled copy comes in bursts.
PACE_WINDOW_MS = 60_000
_FIELDS = ["replicas", "adding", "removing", "size_bytes", "copied", "bytes_per_second"]


class MoveWatch:
    """Used from one thread."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int] = now_ms):
        self._gateway = gateway
        self._now_ms = clock_ms
        self._rates = RateWindow(PACE_WINDOW_MS)
        self._quiet: dict[int, int] = {}
        #: Whether the last look found a move, or a throttle that is to be taken back.
        self.is_anything_under_way = False

    def look(self) -> bool:
        """Look at reassignments; True if anything has changed since the last look. Raises GatewayError."""
        under_way = self._gateway.moves.under_way()
        has_moved, unfinished = self._store(under_way), self._open()
        self.is_anything_under_way = bool(under_way or unfinished)
        ended = [item for item in unfinished if self._ends(item, under_way)]
        return has_moved or bool(ended)

    def _open(self) -> list[Reassignment]:
        """Return reassignments under way, and those that ended with their throttle still set."""
        return kept_rows(_unfinished)

    def _store(self, under_way: Mapping[TopicPartition, MoveView]) -> bool:
        known = {(row.topic, row.partition): row for row in kept_rows(OngoingMove.objects.all)}
        gone = [item.pk for place, item in known.items() if place not in under_way]
        held = self._gateway.moves.bytes_held(under_way) if under_way else {}
        seen = [self._row(place, view, known.get(place), held.get(place, {})) for place, view in under_way.items()]
        changed = [
            partition for partition in seen if _is_news(partition, known.get((partition.topic, partition.partition)))
        ]
        self._rates.forget_all_but(set(under_way))
        if not gone and not changed:
            return False
        with cluster_atomic():
            OngoingMove.objects.filter(pk__in=gone).delete()
            OngoingMove.objects.bulk_create(
                changed, update_conflicts=True, unique_fields=["topic", "partition"], update_fields=_FIELDS
            )
        return True

    def _row(
        self, place: TopicPartition, view: MoveView, known: OngoingMove | None, held: Mapping[int, int]
    ) -> OngoingMove:
        before = dict(known.copied) if known else {}
        copied = [[item, held.get(item, before.get(item, 0))] for item in view.adding]
        complete = [size for broker_id, size in held.items() if broker_id not in view.adding]
        row = OngoingMove(
            topic=place[0],
            partition=place[1],
            replicas=list(view.replicas),
            adding=list(view.adding),
            removing=list(view.removing),
            size_bytes=max(complete, default=known.size_bytes if known else 0),
            copied=copied,
            since_ms=known.since_ms if known else self._now_ms(),
        )
        row.bytes_per_second = self._rates.observe(place, row.copied_bytes, self._now_ms())
        return row

    def _ends(self, reassignment: Reassignment, under_way: Mapping[TopicPartition, MoveView]) -> bool:
        """Close it if nothing of it is on the move any more."""
        wanted = flat(reassignment.wanted)
        if self._may_still_begin(reassignment) or wanted.keys() & under_way.keys():
            self._quiet.pop(reassignment.pk, None)
            return False
        present = self._gateway.moves.assignments({topic for topic, _ in wanted})
        arrived = sum(present.get(place) == target for place, target in wanted.items())
        quiet = self._quiet[reassignment.pk] = self._quiet.get(reassignment.pk, 0) + 1
        if arrived < len(wanted) and quiet < QUIET_LOOKS:
            return False
        end_throttle(self._gateway, reassignment)
        self._close(reassignment, arrived, len(wanted))
        return True

    def _may_still_begin(self, reassignment: Reassignment) -> bool:
        age_ms = now_ms() - reassignment.began_at.timestamp() * 1_000
        return reassignment.state == State.BEGINNING and age_ms < BEGINS_WITHIN_MS

    def _close(self, reassignment: Reassignment, arrived: int, wanted: int) -> None:
        self._quiet.pop(reassignment.pk, None)
        reassignment.state = State.DONE if wanted and arrived == wanted else State.CALLED_OFF
        reassignment.sentence = f"{count_of(arrived, 'partition')} of {wanted} arrived."
        reassignment.ended_at = datetime.now(UTC)
        reassignment.save(update_fields=["state", "sentence", "ended_at"])
        over = Reassignment.objects.filter(ended_at__isnull=False, throttles__isnull=True)
        oldest_kept = over.values_list("pk", flat=True)[KEPT - 1 : KEPT]
        over.filter(pk__lt=min(oldest_kept, default=0)).delete()


def _unfinished() -> QuerySet[Reassignment]:
    return Reassignment.objects.filter(Q(state__in=OPEN) | Q(throttles__isnull=False))


def _is_news(row: OngoingMove, known: OngoingMove | None) -> bool:
    return known is None or any(getattr(row, name) != getattr(known, name) for name in _FIELDS)


def tier(context: TierContext) -> TierLook:
    watch = MoveWatch(context.gateway, context.clock_ms)

    def look() -> bool:
        if watch.look() and listened([groups.PLACEMENT]):
            send_now([(groups.PLACEMENT, render_to_string("placement/partials/moves.html", moves_facts()))])
        return watch.is_anything_under_way

    return TierLook(look)

"""Reading the audit: what the page's filters choose, and whether the chain holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.kit.audit.chain import Break, ChainEnd, ChainVerdict, verify
from console.kit.audit.models import AuditEnd, AuditEvent
from console.kit.audit.record import THE_END, chain_key, has_chain_key
from console.kit.audit.sealed_end import ForgedEndError, missing_end, read_end
from console.kit.common.clock import now_ms
from console.kit.common.time_range import ANY_TIME, TimeRange

RESULTS = ("done", "refused", "failed")
TITLES = (
    "row",
    "time",
    "person",
    "action",
    "object_type",
    "object",
    "result",
    "detail",
    "before",
    "after",
    "identity",
    "cluster",
    "seal",
)


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What the page was asked for. Nonsense in the address counts as not asked."""

    search: str = ""
    result: str = ""
    object_type: str = ""
    range: TimeRange = ANY_TIME

    @classmethod
    def parse(cls, parameters: QueryDict) -> "AuditQuery":
        result = parameters.get("result", "")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            result=result if result in RESULTS else "",
            object_type=parameters.get("object", "")[:50],
            range=TimeRange.parse(parameters, now_ms()),
        )

    @property
    def is_narrow(self) -> bool:
        return self != AuditQuery()


def chosen_events(query: AuditQuery) -> QuerySet[AuditEvent]:
    """Return them, newest first."""
    chosen = Q()
    if query.search:
        for field in ("actor_name", "actor_identity", "action", "object_name", "detail", "cluster"):
            chosen |= Q(**{f"{field}__icontains": query.search})
    if query.result:
        chosen &= Q(result=query.result)
    if query.object_type:
        chosen &= Q(object_type=query.object_type)
    if query.range.start:
        chosen &= Q(at__gte=query.range.start)
    if query.range.end:
        chosen &= Q(at__lte=query.range.end)
    return AuditEvent.objects.filter(chosen)


def event_rows(events: Iterable[AuditEvent]) -> Iterator[tuple[object, ...]]:
    for event in events:
        what = (
            event.action,
            event.object_type,
            event.object_name,
            event.result,
            event.detail,
            event.before,
            event.after,
        )
        yield (event.pk, event.at, event.actor_name, *what, event.actor_identity, event.cluster, event.seal)


def verify_chain() -> ChainVerdict:
    """Follow the whole chain, oldest row first, to the end that the database names and the one that is sealed.

    The first row makes the key, and its commit the file of the sealed end: with the one there, the other has to be.
    """
    end = AuditEnd.objects.filter(pk=THE_END).first() or AuditEnd()
    if not has_chain_key() and not end.count and not AuditEvent.objects.exists():
        return ChainVerdict(0, "")
    try:
        sealed = read_end(chain_key())
    except ForgedEndError as error:
        return ChainVerdict(0, "", Break(None, str(error)))
    events = AuditEvent.objects.order_by("id").iterator(chunk_size=1_000)
    ends = [ChainEnd(end.seal, end.count), *([sealed.end] if sealed else [])]
    verdict = verify((event.link for event in events), chain_key(), *ends)
    if verdict.broken or (sealed is not None and not sealed.begun_behind):
        return verdict
    return replace(verdict, broken=Break(None, missing_end(sealed)))

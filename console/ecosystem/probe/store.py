"""The probe's minutes in the database: each once, added to its hour, and forgotten in time."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from broker.probe.tally import MINUTE_MS, WHOLE
from console.ecosystem.probe.figures import ProbeFigures, Tally, added, silent_brokers
from console.ecosystem.probe.models import HOUR, MINUTE, ProbeState, ProbeWindow
from console.ecosystem.probe.status import ProbeStatus
from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import AT_MS, kept_rows, kept_values, update_row

HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
#: A little more than is shown.
KEPT_MS = {MINUTE: DAY_MS + HOUR_MS, HOUR: 31 * DAY_MS}


def state() -> ProbeState:
    """Return the last reported state, or an empty one."""
    return next(iter(kept_rows(_states)), None) or ProbeState(pk=1)


def _states() -> QuerySet[ProbeState]:
    return ProbeState.objects.filter(pk=1)


def newest_minute_ms() -> int:
    """Return the begin of the newest stored minute; 0 without one."""
    return next((begins_ms for (begins_ms,) in kept_values(_newest_minute)), 0)


def _newest_minute() -> QuerySet[Any]:
    return ProbeWindow.objects.filter(tier=MINUTE).order_by("-begins_ms").values_list("begins_ms")[:1]


def save_present(status: ProbeStatus, at_ms: int) -> bool:
    """Return whether it reads differently."""
    kept = state()
    values = {name: getattr(status, name) for name in ("topic", "brokers", "partitions", "troubled", "mirror")}
    is_news = bool(kept.error) or not kept.at_ms or _words(kept) != _words(status)
    values |= {"at_ms": at_ms, "error": "", "error_since_ms": 0}
    if not update_row(ProbeState, "id", 1, **values):
        ProbeState.objects.update_or_create(pk=1, defaults=values)
    return is_news


def _words(state: ProbeState | ProbeStatus) -> list[object]:
    """Return what counts as a change, without a mirror's backlog, which moves all the time."""
    return [state.topic, state.brokers, state.partitions, state.troubled, state.mirror[1:]]


def save_silence(error: str, at_ms: int) -> bool:
    """Return whether that is news. What it said before stays."""
    kept = state()
    is_news = kept.error != error
    since_ms = kept.error_since_ms or at_ms
    ProbeState.objects.update_or_create(pk=1, defaults={"error": error, "error_since_ms": since_ms})
    return is_news


def forget_present() -> bool:
    """Forget the probe's current state and keep its measurements, because it is stopped; return whether there was
    any.
    """
    return bool(ProbeState.objects.filter(pk=1).delete()[0])


def save_minutes(minutes: Iterable[tuple[int, Mapping[str, Tally]]], now_ms: int) -> int:
    """Store minutes that are new, and return how many. A restarted probe has its own counts, of other minutes."""
    since_ms = now_ms - KEPT_MS[MINUTE]
    kept = {begins_ms: parts for begins_ms, parts in minutes if since_ms <= begins_ms <= now_ms}
    known = {begins_ms for (begins_ms,) in kept_values(_minutes_from, at_ms=min(kept, default=now_ms))}
    fresh = {begins_ms: parts for begins_ms, parts in kept.items() if begins_ms not in known}
    if fresh:
        _save_fresh(fresh, now_ms)
    return len(fresh)


@cluster_atomic()
def _save_fresh(minutes: Mapping[int, Mapping[str, Tally]], now_ms: int) -> None:
    for begins_ms, parts in minutes.items():
        _add_to(MINUTE, begins_ms, parts)
        _add_to(HOUR, begins_ms - begins_ms % HOUR_MS, parts)
    forget_old(now_ms)
    ProbeState.objects.filter(pk=1).update(lost=_lost(now_ms))


def _minutes_from() -> QuerySet[Any]:
    return ProbeWindow.objects.filter(tier=MINUTE, begins_ms__gte=AT_MS).order_by().values_list("begins_ms")


def forget_old(now_ms: int) -> None:
    for tier, kept_ms in KEPT_MS.items():
        ProbeWindow.objects.filter(tier=tier, begins_ms__lt=now_ms - kept_ms).delete()


def _add_to(tier: int, begins_ms: int, parts: Mapping[str, Tally]) -> None:
    row = ProbeWindow.objects.filter(tier=tier, begins_ms=begins_ms).first() or ProbeWindow(
        tier=tier, begins_ms=begins_ms
    )
    row.whole = added([row.whole, parts.get(WHOLE, {})])
    rest = {name: tally for name, tally in parts.items() if name != WHOLE}
    row.parts = row.parts | {name: added([row.parts.get(name, {}), tally]) for name, tally in rest.items()}
    row.silent = silent_brokers(row.parts)
    row.save()


def _lost(now_ms: int) -> int:
    hours = ProbeWindow.objects.filter(tier=HOUR, begins_ms__gt=now_ms - DAY_MS)
    return ProbeFigures(added(hours.values_list("whole", flat=True))).lost

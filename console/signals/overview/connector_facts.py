"""Connectors in trouble, as the health of the cluster takes them: those that failed, and sinks that do not read."""

from django.db.models import F, Q, QuerySet

from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.presenters import ShownConnector, ShownTask
from console.ecosystem.connectors.queries import shown
from console.kit.access.reach import EVERYTHING, Reach
from console.kit.common.kept_statements import kept_rows
from console.signals.overview.health import TroubledConnector

_SHOWN_MAX = 8


def troubled_connectors(reach: Reach = EVERYTHING) -> tuple[tuple[TroubledConnector, ...], int]:
    """Return failed connectors first, and the number of all; with causes that everybody who sees them may know."""
    rows = kept_rows(_first, reach)
    first = [connector for connector in shown(rows, reach) if connector.row.is_failed or connector.unassigned]
    count = len(first) if len(rows) < _SHOWN_MAX else _troubled(reach).count()
    return tuple(map(_as_connector, first)), count


def _troubled(reach: Reach) -> QuerySet[Connector]:
    in_trouble = Q(failed_since_ms__isnull=False) | Q(unassigned_since_ms__isnull=False)
    order = (F("failed_since_ms").asc(nulls_last=True), "name")
    return connectors_within(reach).filter(in_trouble).order_by(*order)


def _first(reach: Reach) -> QuerySet[Connector]:
    return _troubled(reach)[:_SHOWN_MAX]


def _as_connector(connector: ShownConnector) -> TroubledConnector:
    row, failure = connector.row, connector.failures[0] if connector.failures else None
    return TroubledConnector(
        row.name,
        row.failed_count,
        row.task_count,
        row.state == "FAILED",
        failure.error_class if failure else "",
        _where(failure) if failure else "",
        row.failed_since_ms if row.is_failed else row.unassigned_since_ms,
        () if row.is_failed else tuple(connector.unassigned),
        connector.wanted_count,
    )


def _where(failure: ShownTask) -> str:
    stage = f"its {failure.stage.words} failed" if failure.stage else ""
    return " ".join(filter(None, [stage, failure.place.sentence if failure.place else ""]))

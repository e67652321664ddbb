"""Quotas in the database: only rows that read differently are written."""

from collections.abc import Mapping
from dataclasses import dataclass

from console.cluster.quotas.models import QuotaLook, QuotaRow, digest_of_path
from console.cluster.quotas.rows import QuotaEntityRow
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.quotas.interface import QuotaEntity, entity_text, rank_of

_FIELDS = ["path", "words", "rank", "values", "uses", "use_counts", "held_since_ms"]


@dataclass(frozen=True, slots=True)
class QuotaChanges:
    """`keys`: the primary keys of rows that read differently."""

    keys: tuple[int, ...] = ()
    is_list_changed: bool = False


def ensure_look() -> QuotaLook:
    return QuotaLook.objects.get_or_create(pk=1)[0]


def save_refusal(error: str, code: str) -> bool:
    """Store why nothing new is known; return whether that is news."""
    look = ensure_look()
    if (look.error, look.code) == (error, code):
        return False
    QuotaLook.objects.filter(pk=look.pk).update(error=error, code=code)
    return True


def keep(rows: Mapping[QuotaEntity, QuotaEntityRow], at_ms: int) -> QuotaChanges:
    wanted = {digest_of_path(entity.path): _model(row) for entity, row in rows.items()}
    with cluster_atomic():
        known = {row.digest: row for row in QuotaRow.objects.all()}
        gone = known.keys() - wanted.keys()
        QuotaRow.objects.filter(digest__in=gone).delete()
        changed = [item for digest, item in wanted.items() if digest not in known or _differs(known[digest], item)]
        made = QuotaRow.objects.bulk_create(
            changed, update_conflicts=True, unique_fields=["digest"], update_fields=_FIELDS
        )
        ensure_look()
        QuotaLook.objects.update(at_ms=at_ms, error="", code="")
    return QuotaChanges(tuple(row.pk for row in made), bool(gone) or bool(wanted.keys() - known.keys()))


def save_one(entity: QuotaEntity, values: Mapping[str, float]) -> None:
    """Store an entity's new quotas; none if they were removed."""
    row = QuotaRow.objects.filter(digest=digest_of_path(entity.path)).first()
    if not values:
        QuotaRow.objects.filter(digest=digest_of_path(entity.path)).delete()
    elif row is None:
        _model(QuotaEntityRow(entity, values, (), {})).save()
    else:
        row.values = dict(values)
        row.save(update_fields=["values"])


def _model(row: QuotaEntityRow) -> QuotaRow:
    return QuotaRow(
        digest=digest_of_path(row.entity.path),
        path=row.entity.path,
        words=entity_text(row.entity),
        rank=rank_of(row.entity),
        values=dict(row.values),
        uses=[use.as_json() for use in row.uses],
        use_counts=dict(row.use_counts),
        held_since_ms=row.held_since_ms,
    )


def _differs(known: QuotaRow, row: QuotaRow) -> bool:
    return any(getattr(known, field) != getattr(row, field) for field in _FIELDS)

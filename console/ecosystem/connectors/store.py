"""Connectors in the database: only rows that read differently are written."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from console.ecosystem.connectors.answers import ConnectorView, Listing, TaskView, WorkerView
from console.ecosystem.connectors.masking import masked, secrets_in, without
from console.ecosystem.connectors.models import TOPIC_LENGTH_MAX, TOPICS_KEPT, WORD_LENGTH_MAX, ConnectLook, Connector
from console.ecosystem.connectors.places import dead_letters_in, group_of, topics_in
from console.kit.common.databases import cluster_atomic
from console.kit.common.kept_statements import kept_rows, kept_values, update_row

_ROWS_PER_STATEMENT = 200
#: Of one connector; that of others reads the same more often than not.
TRACES_KEPT = 20
_SEEN = (
    "kind", "class_name", "state", "worker", "trace", "tasks", "task_count", "running_count", "failed_count", "config",
    "topics", "dead_letters", "group",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConnectorChanges:
    """`keys`: the primary keys of rows that read differently."""

    keys: tuple[int, ...] = ()
    is_list_changed: bool = False

    def __bool__(self) -> bool:
        return bool(self.keys) or self.is_list_changed


def look() -> ConnectLook:
    return ConnectLook.objects.first() or ConnectLook()


def save_workers(workers: Mapping[str, WorkerView | str]) -> bool:
    """Return whether they read differently."""
    listed = [
        [address, "", "", worker] if isinstance(worker, str) else [address, worker.version, worker.kafka_cluster_id, ""]
        for address, worker in workers.items()
    ]
    kept = next(iter(kept_rows(_looks)), None) or ConnectLook.objects.create(pk=1)
    if kept.workers == listed:
        return False
    update_row(ConnectLook, "id", 1, workers=listed)
    return True


def _looks() -> QuerySet[ConnectLook]:
    return ConnectLook.objects.filter(pk=1)


def keep(listing: Listing, declared: Mapping[str, Collection[str]], at_ms: int) -> ConnectorChanges:
    """Store the connectors. `declared`: of each class, which of its keys are passwords."""
    wanted = {
        connector.name: row_of(connector, declared.get(connector.class_name, ())) for connector in listing.connectors
    }
    known = {row.name: row for row in kept_rows(Connector.objects.all)}
    gone = [name for name in known if name not in wanted]
    changed = [row for name, row in wanted.items() if name not in known or _differ(known[name], row)]
    for row in changed:
        row.failed_since_ms = _failed_since(known.get(row.name), row, at_ms)
    written = _write(changed, gone) if changed or gone else []
    if listing.left_out != next((row.left_out for row in kept_rows(_looks)), None):
        ConnectLook.objects.update_or_create(pk=1, defaults={"left_out": listing.left_out})
    return ConnectorChanges(
        tuple(connector.pk for connector in written), bool(gone) or bool(wanted.keys() - known.keys())
    )


@cluster_atomic()
def _write(changed: list[Connector], gone: list[str]) -> list[Connector]:
    for at in range(0, len(gone), _ROWS_PER_STATEMENT):
        Connector.objects.filter(name__in=gone[at : at + _ROWS_PER_STATEMENT]).delete()
    return Connector.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=[*_SEEN, "failed_since_ms"],
        batch_size=_ROWS_PER_STATEMENT,
    )


def keep_unassigned(since_ms: Mapping[str, int]) -> tuple[int, ...]:
    """Keep by sink since when it leaves topics unread; return the primary keys of rows that read differently."""
    changed = [row for row in kept_rows(Connector.objects.all) if row.unassigned_since_ms != since_ms.get(row.name)]
    for row in changed:
        Connector.objects.filter(pk=row.pk).update(unassigned_since_ms=since_ms.get(row.name))
    return tuple(row.pk for row in changed)


def has_failed() -> bool:
    """Return whether any connector or task has failed."""
    return bool(kept_values(_failed))


def _failed() -> QuerySet[Any]:
    return Connector.objects.filter(failed_since_ms__isnull=False).order_by().values_list("name")[:1]


def row_of(view: ConnectorView, declared: Collection[str]) -> Connector:
    """Return the unsaved row, with secrets of the configuration removed from its texts."""
    secrets = secrets_in(view.config, declared)
    tasks = [_kept(task, secrets, at < TRACES_KEPT) for at, task in enumerate(_failed_first(view.tasks))]
    return Connector(
        name=view.name,
        kind=view.kind,
        class_name=view.class_name[:WORD_LENGTH_MAX],
        state=view.state,
        worker=view.own.worker,
        trace=without(view.own.trace, secrets),
        tasks=sorted(tasks),
        task_count=len(view.tasks),
        running_count=sum(task.state == "RUNNING" for task in view.tasks),
        failed_count=sum(task.is_failed for task in view.tasks),
        config=masked(view.config, declared),
        topics=topics_in(view.config)[:TOPICS_KEPT],
        dead_letters=dead_letters_in(view.config)[:TOPIC_LENGTH_MAX] if view.kind == "sink" else "",
        group=group_of(view.name, view.config)[: 2 * WORD_LENGTH_MAX] if view.kind == "sink" else "",
    )


def _failed_first(tasks: Collection[TaskView]) -> list[TaskView]:
    return sorted(tasks, key=lambda task: (not task.is_failed, not task.trace))


def _kept(task: TaskView, secrets: list[str], has_trace: bool) -> list[object]:
    return [task.number, task.state, task.worker, without(task.trace, secrets) if has_trace else ""]


def _differ(one: Connector, other: Connector) -> bool:
    return any(getattr(one, name) != getattr(other, name) for name in _SEEN)


def _failed_since(before: Connector | None, now: Connector, at_ms: int) -> int | None:
    if not now.is_failed:
        return None
    return (before.failed_since_ms if before else None) or at_ms

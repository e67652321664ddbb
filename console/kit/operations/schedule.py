"""What beat runs for operations: each kind by itself, lest one that waits holds up the others."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps

from console.kit.common.current_cluster import in_cluster
from console.kit.common.databases import cluster_connection
from console.kit.operations.models import Operation
from console.kit.operations.tasks import advance_operations, clusters_of

ADVANCE_EVERY_S = 1.0

_KINDS = {model._meta.label_lower: model for model in apps.get_models() if issubclass(model, Operation)}

BEAT_SCHEDULE = {
    f"advance-{label}": {
        "task": advance_operations.name,
        "args": (label,),
        "schedule": ADVANCE_EVERY_S,
    }
    for label in _KINDS
}


def _is_any_open(model: type[Operation]) -> Callable[[], bool]:
    """Return a test whether any is open, asked every second: the statement is prepared once, which takes longer than
    the query.
    """

    @cache
    def statement() -> tuple[str, tuple[Any, ...]]:
        return model.to_advance().values("pk")[:1].query.sql_with_params()

    def is_open_in(cluster: str) -> bool:
        with in_cluster(cluster), cluster_connection().cursor() as cursor:
            cursor.execute(*statement())
            return cursor.fetchone() is not None

    return lambda: any(map(is_open_in, clusters_of(model)))


ONLY_IF = {f"advance-{label}": _is_any_open(model) for label, model in _KINDS.items()}

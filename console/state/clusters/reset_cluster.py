"""Forgetting a cluster, so that another one may have its name: all that was seen of it, and all that was to be done."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models import Model, QuerySet

from console.kit.common.databases import cluster_atomic

#: Not of the cluster: processes of this host, what somebody wants to be warned of, and who has to be asked. What heals
#: by itself was agreed to for the old cluster, and goes.
STAYS = frozenset(
    {"processes.managedprocess", "processes.withdrawnprocess", "alerts.keptrule", "changes.changerule"},
)
#: A change that is being carried out may be this very one.
_CHANGES, _UNDER_WAY = "changes.proposedchange", {"state": "doing"}
WHAT_GOES = (
    "Deleted is all that was seen of {old} as {name}: history, charts, notes, what takes changes back; and all that "
    "was to be done there: moves, planned deletions, proposed changes, healing. Rules of alerts and changes stay, and "
    "so do rights and the audit."
)


def start_afresh() -> int:
    """Delete what is kept of the current cluster; how many rows that were. Collectors have to be started again."""
    models = [model for model in apps.get_models() if model._meta.app_label in settings.APPS_OF_CLUSTER]
    with cluster_atomic():
        return sum(_rows(model).delete()[0] for model in models if model._meta.label_lower not in STAYS)


def _rows(model: type[Model]) -> QuerySet[Any]:
    rows = model._default_manager.all()
    return rows.exclude(**_UNDER_WAY) if model._meta.label_lower == _CHANGES else rows

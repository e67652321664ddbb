"""The beat's task. Short: whatever takes long is waited for by the next one."""

import logging
from collections.abc import Callable

from celery import shared_task
from django.apps import apps
from django.conf import settings
from django.utils.module_loading import import_string

from console.kit.common.current_cluster import MAIN, all_clusters, in_cluster
from console.kit.common.file_lock import exclusive
from console.kit.live.idle_pace import call
from console.kit.operations.models import Operation

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def advance_operations(label: str) -> None:
    """Advance each open operation of the model called `label`; nothing while another process is at it."""
    model = apps.get_model(label)
    advance = import_string(f"{model.__module__.rpartition('.')[0]}.advance.advance")
    with exclusive(settings.RUN_DIR / "locks" / f"{label}.lock", wait=False) as ours:
        for name in clusters_of(model) if ours else ():
            with in_cluster(name):
                for operation in list(model.to_advance()):
                    call()
                    _advance(advance, operation)


def _advance(advance: Callable[[Operation], None], operation: Operation) -> None:
    """Advance an operation; after an error the next beat tries again, and others of its kind go on."""
    try:
        advance(operation)
    except Exception:
        logger.exception("%s %s was not advanced", operation._meta.label, operation.pk)


def clusters_of(model: type[Operation]) -> tuple[str, ...]:
    """Return the clusters that may have such operations."""
    return all_clusters() if model.in_every_cluster else (MAIN,)

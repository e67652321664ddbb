"""Celery tasks on the queue of a process's host. Short and idempotent: lost or doubled deliveries do no harm.

A task may find its wish already carried out, because the reconcile was quicker; then it does nothing.
"""

import logging
from contextlib import suppress

from celery import Task, shared_task
from django.conf import settings

from console.kit.common.file_lock import exclusive
from console.kit.common.host_queue import host_queue
from console.processes import os_process
from console.processes.announce import push_removed
from console.processes.cluster_look import cluster_look, note_look
from console.processes.facts import recorded_identity
from console.processes.idle import REST, is_as_wanted
from console.processes.models import ManagedProcess
from console.processes.registry import HAS_LEFT, forget_process
from console.processes.step import alone_with, rests, settle, step

logger = logging.getLogger(__name__)

#: How long a task stays to see the outcome, so that the page shows it at once; the reconcile sees the rest.
SETTLE_S = 1.5
#: A wish that waited longer in the queue has long been pursued by the reconcile.
TASK_EXPIRES_S = 60


@shared_task(ignore_result=True)
def start(name: str) -> None:
    _pursue(name)


@shared_task(ignore_result=True)
def stop(name: str) -> None:
    _pursue(name)


@shared_task(ignore_result=True)
def restart(name: str) -> None:
    _pursue(name)


@shared_task(ignore_result=True)
def kill(name: str) -> None:
    _pursue(name)


def _pursue(name: str) -> None:
    with suppress(ManagedProcess.DoesNotExist):  # removed and forgotten meanwhile
        settle(name, SETTLE_S)


def enqueue(task: Task, process: ManagedProcess) -> None:
    """Have the worker of the process's host carry out a stored wish, now if it can be reached.

    Never raises: without a transport the reconcile pursues the wish as soon as there is one.
    """
    try:
        task.apply_async(args=[process.name], queue=host_queue(process.host), expires=TASK_EXPIRES_S, retry=False)
    except Exception as error:
        logger.warning("%s of %s could not be enqueued: %s", task.name, process.name, error)


@shared_task(ignore_result=True)
def reconcile() -> None:
    """Step every process of this host. Does nothing while another reconcile is at it."""
    with exclusive(settings.RUN_DIR / "locks" / "reconcile.lock", wait=False) as ours:
        if ours:
            reconcile_host(settings.HOST_NAME)


def reconcile_host(host: str) -> None:
    """Step each process of the host; a failing one does not stop the others."""
    look, stepped = cluster_look(), False
    seen: list[ManagedProcess | None] = []
    REST.ended()
    for process in ManagedProcess.objects.filter(host=host):
        try:
            if rests(process, look):
                seen.append(process)
            else:
                stepped = True
                seen.append(step(process.name, look))
        except ManagedProcess.DoesNotExist:
            continue  # removed meanwhile
        except Exception:
            logger.exception("%s could not be looked after", process.name)
            seen.append(None)
    if stepped:
        forget_leaving(host)
        rows = ManagedProcess.objects.filter(host=host, pid__isnull=False)
        living = map(recorded_identity, rows.only("pid", "create_time", "run_token"))
        os_process.forget_ended({identity for identity in living if identity is not None})
    note_look()
    if all(process is not None and is_as_wanted(process) for process in seen):
        looked_at = (recorded_identity(process) for process in seen if process is not None)
        REST.began(identity for identity in looked_at if identity is not None)


def forget_leaving(host: str) -> None:
    """Delete rows that were to be removed once stopped; not one that was started again meanwhile."""
    for row in ManagedProcess.objects.filter(HAS_LEFT, host=host):
        with alone_with(row.name):
            is_forgotten = forget_process(row)
        if is_forgotten:
            push_removed(row.name)

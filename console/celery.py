"""The Celery application: one queue per host, so that a process is started by the worker that lives beside it."""

import os
from importlib.util import find_spec

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def host_queue(host_name: str) -> str:
    """The queue that the Celery worker of `host_name` consumes (`celery -A console worker -Q host.<name>`)."""
    return f"host.{host_name}"


@app.on_after_finalize.connect
def add_schedules(sender: Celery, **_kwargs: object) -> None:
    """Beat runs what the features ask for in a `schedule` module."""
    if find_spec("console.processes") and find_spec("console.processes.schedule"):
        from console.processes.schedule import BEAT_SCHEDULE

        sender.conf.beat_schedule = {**(sender.conf.beat_schedule or {}), **BEAT_SCHEDULE}

"""The Celery application: one queue per host, so that a process is started by the worker that lives beside it."""

import gc
import os
from importlib import import_module
from importlib.util import find_spec

import click
from celery import Celery
from celery.signals import worker_init
from django.conf import settings

from console.kit.common.data_directories import make_data_directories
from console.shell.launch.beat import BeatThread, FrugalScheduler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
# Who migrates checks, before anything else is started. Checks import every page: for the worker, and for everybody who
# sends it a task, 18 MB of which they use nothing.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.user_options["worker"].add(click.Option(["--with-beat"], is_flag=True, help="Run beat as a thread of this worker."))
app.steps["worker"].add(BeatThread)


@worker_init.connect
def make_directories(**_kwargs: object) -> None:
    """Create the directories: a worker may be the first on its host."""
    make_data_directories()


@worker_init.connect
def look_less(**_kwargs: object) -> None:
    """Freeze objects that exist from the start, so that garbage collection skips them."""
    gc.collect()
    gc.freeze()


@app.on_after_finalize.connect
def add_schedules(sender: Celery, **_kwargs: object) -> None:
    """Beat runs what the features ask for in a `schedule` module, and of that what is in `ONLY_IF` only if it holds."""
    for app_name in settings.INSTALLED_APPS:
        if find_spec(app_name) and find_spec(f"{app_name}.schedule"):
            schedule = import_module(f"{app_name}.schedule")
            sender.conf.beat_schedule = {**(sender.conf.beat_schedule or {}), **schedule.BEAT_SCHEDULE}
            FrugalScheduler.only_if.update(getattr(schedule, "ONLY_IF", {}))

"""`manage.py down`: end what runs here, whoever started it: a living `up` in order, else what a killed one left."""

import logging

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from console.processes.models import ManagedProcess
from console.processes.setup import SetupError
from console.shell.launch.progress import LaunchProgress, progress_of
from console.shell.launch.running import ask_to_stop, claim_data_dir, is_claimed
from console.shell.launch.stages import shut_down
from console.shell.launch.unrecorded import end_unrecorded
from console.shell.launch.up import end_services

UP_TIMEOUT_S = 90.0


class Command(BaseCommand):
    help = "End everything that runs on this data directory, in order. Harmless when nothing runs."
    requires_system_checks: list[str] = []

    def handle(self, *_args: object, **_options: object) -> None:
        logging.getLogger("console").setLevel(logging.ERROR)  # a page that misses a push is no news here
        progress = progress_of(self)
        if not settings.RUN_DIR.exists():
            progress.note("Nothing is running.")
            return
        try:
            if is_claimed(settings.RUN_DIR):
                with progress.doing("up, in another terminal", "stopping") as outcome:
                    ask_to_stop(settings.RUN_DIR, UP_TIMEOUT_S)
                    outcome.detail = "stopped"
            with claim_data_dir(settings.RUN_DIR):
                ended = end_managed(progress) + end_services(progress, never) + end_unrecorded(progress, never)
        except SetupError as error:
            raise CommandError(str(error)) from None
        progress.note(f"{ended} left over, ended." if ended else "Nothing is running.")


def never() -> bool:
    return False


def end_managed(progress: LaunchProgress) -> int:
    """Stop the processes in the database, or those of run files if it is unreadable; return how many."""
    try:
        rows = list(ManagedProcess.objects.filter(host=settings.HOST_NAME))
    except DatabaseError:
        return 0
    return shut_down(rows, progress, never)

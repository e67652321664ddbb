"""`manage.py down`: end what runs here, whoever started it: a living `up` in order, else what a killed one left."""

import logging

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from console.launch.house import end_services
from console.launch.progress import Progress
from console.launch.running import ask_to_stop, claim_house, is_claimed
from console.launch.stages import shut_down
from console.processes import os_process
from console.processes.facts import run_files_of_processes
from console.processes.models import ManagedProcess
from console.processes.run_files import read_run_file, remove_run_file, run_file_names
from console.processes.setup import SetupError

UP_TIMEOUT_S = 90.0


class Command(BaseCommand):
    help = "End everything that runs on this data directory, in order. Harmless when nothing runs."
    requires_system_checks = []

    def handle(self, *_args, **_options) -> None:
        logging.getLogger("console").setLevel(logging.ERROR)  # a page that misses a push is no news here
        progress = Progress(self.stdout._out)
        try:
            if is_claimed(settings.RUN_DIR):
                with progress.doing("up, in another terminal", "stopping") as outcome:
                    ask_to_stop(settings.RUN_DIR, UP_TIMEOUT_S)
                    outcome.detail = "stopped"
            with claim_house(settings.RUN_DIR):
                ended = end_managed(progress) + end_services(progress, never) + end_unrecorded()
        except SetupError as error:
            raise CommandError(str(error)) from None
        progress.note(f"{ended} left over, ended." if ended else "Nothing is running.")


def never() -> bool:
    return False


def end_managed(progress: Progress) -> int:
    """What the database knows of. Without one that can be read, the run files have to do."""
    try:
        rows = list(ManagedProcess.objects.filter(host=settings.HOST_NAME))
    except DatabaseError:
        return 0
    return shut_down(rows, progress, never)


def end_unrecorded() -> int:
    """What only a run file knows of: its row was lost, so it is ended by its token."""
    ended = 0
    for name in run_file_names(run_files_of_processes()):
        identity = read_run_file(run_files_of_processes(), name)
        if identity is not None and os_process.look(identity).alive:
            os_process.kill(identity)
            ended += 1
        remove_run_file(run_files_of_processes(), name)
    return ended

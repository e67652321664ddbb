"""The console's own processes started again with the settings of now; brokers, jobs and Redis go on.

A database that cannot be brought up to date keeps nobody from working: then they go on as they are, and are told why.
"""

from django.conf import settings
from django.db import DatabaseError

from console.kit.common.reloading import take_question
from console.shell.launch.interrupts import Interrupts
from console.shell.launch.migrating import migrate
from console.shell.launch.progress import LaunchProgress
from console.shell.launch.services import console_services
from console.shell.launch.supervisor import Supervisor

#: Not among the services that settings are for.
_STAYS = frozenset({"redis"})


def reload(supervisor: Supervisor, progress: LaunchProgress, interrupts: Interrupts) -> None:
    """Raises Interrupted when somebody wants to stop."""
    take_question(settings.RUN_DIR)
    try:
        migrate()
    except DatabaseError as error:
        progress.note(f"! The console goes on as it was: the database cannot be used: {str(error).strip()}")
        return
    interrupts.check()
    with progress.doing("console", "starting again") as outcome:
        names = [service.name for service in supervisor.services if service.name not in _STAYS]
        supervisor.ask_to_end(names)
        for name in names:
            supervisor.stop(name, lambda: interrupts.hurry)
        for service in console_services():
            supervisor.start(service)
        outcome.detail = "started again, as it is configured now"

"""Beat as a thread of the worker, which runs a task only if there is something for it to do.

As a process beat would carry all that the console imports once more. A worker that has lost its beat ends, and whoever
keeps it starts both anew: otherwise it would look well while nobody looks after any process.
"""

import logging
from collections.abc import Callable
from functools import partial
from threading import Thread
from time import monotonic

from celery import beat, bootsteps
from celery.worker import WorkController, state
from celery.worker.components import Pool, Timer
from django.conf import settings
from django.db import connection

from console.shell.launch.beat_runs import BeatRuns

LOOK_EVERY_S = 1.0
#: As after an error: it did not end because somebody asked it to.
EXIT_STATUS = 1

logger = logging.getLogger(__name__)


class FrugalScheduler(beat.Scheduler):
    """Its schedule is in the code, so nothing of it needs a file that a kill could leave half written.

    Each entry is an interval. Celery's own tick reckons with time zones and compares the whole schedule with itself for
    each of them, which was two fifths of what a worker at rest took.
    """

    #: Entries that are not always needed → whether they are now. Filled from the features' `schedule` modules.
    only_if: dict[str, Callable[[], bool]] = {}

    def __init__(
        self, *args: object, runs: BeatRuns, clock_s: Callable[[], float] = monotonic, **kwargs: object
    ) -> None:
        self._runs = runs
        self._clock_s = clock_s
        self._due_s: dict[str, float] = {}
        super().__init__(*args, **kwargs)

    def tick(self) -> float:
        """Begin what is due; seconds to the next time. What was missed while it slept is begun once."""
        now_s = self._clock_s()
        for name, entry in self.schedule.items():
            due_s = self._due_s.setdefault(name, now_s)
            if due_s <= now_s:
                every_s = entry.schedule.seconds
                self._due_s[name] = due_s + every_s if due_s + every_s > now_s else now_s + every_s
                self.apply_entry(entry)
        return max(0.0, min(self._due_s.values()) - self._clock_s())

    def apply_entry(self, entry: beat.ScheduleEntry, producer: object = None) -> None:
        if self.is_needed(entry.name):
            self._runs.begin(entry.name, self.app.tasks[entry.task], tuple(entry.args))

    def is_needed(self, name: str) -> bool:
        """Return whether the task is needed; True also where that cannot be read: the task itself looks again."""
        needed = self.only_if.get(name)
        try:
            return needed is None or needed()
        except Exception as error:
            logger.debug("whether %s is needed is not known: %s", name, error)
            connection.close()  # a database that went away is connected to anew
            return True


class BeatThread(bootsteps.StartStopStep):
    """Part of each worker; does nothing in one that is not started `--with-beat`."""

    requires = (Timer, Pool)

    def __init__(self, worker: WorkController, with_beat: bool = False, **kwargs: object) -> None:
        super().__init__(worker, **kwargs)
        self.enabled = with_beat

    def start(self, worker: WorkController) -> None:
        runs = BeatRuns(worker.pool, settings.CELERY_TASK_TIME_LIMIT)
        self.thread = beat.EmbeddedService(worker.app, thread=True, scheduler_cls=partial(FrugalScheduler, runs=runs))
        self.thread.start()
        worker.timer.call_repeatedly(LOOK_EVERY_S, end_without, (self.thread,))
        self.count_requests(worker)

    def count_requests(self, worker: WorkController) -> None:
        """Count requests of a worker. Imported here: processes that only send tasks read this file, too."""
        from console.kit.common.ticks import EVERY_S, tick
        from console.kit.gateway.connection.own_requests import begin

        begin("worker")
        worker.timer.call_repeatedly(EVERY_S, tick)

    def stop(self, worker: WorkController) -> None:
        self.thread.service.stop(wait=False)


def end_without(thread: Thread) -> None:
    if not thread.is_alive() and not state.should_stop:
        logger.error("beat has died: the worker ends")
        state.should_stop = EXIT_STATUS

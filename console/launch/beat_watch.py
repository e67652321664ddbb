"""A worker that has lost its beat ends, and whoever keeps it starts both anew.

Beat is a child of the worker. Celery starts another pool process for one that was killed, but no other beat: the worker
would live on, look well, and nobody would look after any process.
"""

import logging

from celery import bootsteps
from celery.worker import state
from celery.worker.components import Beat, Timer

LOOK_EVERY_S = 1.0
#: As after an error: it did not end because somebody asked it to.
EXIT_STATUS = 1

logger = logging.getLogger(__name__)


class BeatWatch(bootsteps.StartStopStep):
    """Part of each worker; looks at nothing in one that has no beat."""

    requires = (Timer, Beat)

    def start(self, worker) -> None:
        if worker.beat is not None:
            worker.timer.call_repeatedly(LOOK_EVERY_S, _end_without_beat, (worker.beat,))


def _end_without_beat(beat) -> None:
    if not beat.is_alive() and not state.should_stop:
        logger.error("beat has died: the worker ends")
        state.should_stop = EXIT_STATUS

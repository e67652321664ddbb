"""The Celery worker of this host: `python -m console.shell.launch.worker [--with-beat]`.

As `celery -A console worker -Q host.<name>` is, without the command line's own imports, a shell with completion and
colours among them: 10 MB that a worker would carry for ever.
"""

import argparse
import os
import sys

import django
from celery import current_app
from celery.apps.worker import Worker
from django.conf import settings

from console.kit.common.host_queue import host_queue

#: Tasks are short, and what one waits for another does not.
THREADS = 2


def make_worker(*, with_beat: bool) -> Worker:
    worker: Worker = current_app.Worker(
        hostname=f"barnabas@{settings.HOST_NAME}",
        queues=[host_queue(settings.HOST_NAME)],
        concurrency=THREADS,
        loglevel="WARNING",
        quiet=True,
        no_color=True,
        # There are no other workers to talk to.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        with_beat=with_beat,
    )
    return worker


def main() -> int:
    """Run until SIGTERM; the exit status tells whether the worker lost its beat."""
    parser = argparse.ArgumentParser(prog="python -m console.shell.launch.worker", description=__doc__)
    parser.add_argument("--with-beat", action="store_true", help="run beat as a thread of this worker")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    django.setup()
    worker = make_worker(with_beat=parser.parse_args().with_beat)
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())

"""A broker process in which calls raise what nobody foresaw; `--config FILE` is what it is given.

Its request handlers, listeners, chores and callbacks are wrapped. Once the file PLAN lies beside the configuration,
each of them raises at one of its next calls, instead of doing anything, and never again; which call that is follows
from the seed in PLAN. What was raised is noted in THROWN, a line each; a broker without PLAN is like any other.
"""

import dataclasses
import functools
import importlib
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from broker.cli import server
from broker.common.errors import StartupError
from broker.handlers import registry
from broker.server import dispatcher

PLAN, THROWN = "throw-plan", "thrown"
_LOOK_EVERY_S = 0.05
#: By what is called often: one of the first calls of each raises.
_CALLS_OFTEN, _CALLS_SELDOM = 40, 2
#: "module:Class.method" of what is called by nobody's request alone.
_OFTEN = (
    "broker.runtime.replication.delayed_produces:DelayedProduces._on_high_watermark",
    "broker.runtime.replication.follower_feeds:FollowerFeeds._on_append",
    "broker.runtime.replication.follower_feeds:FollowerFeeds._on_high_watermark",
    "broker.runtime.replication.follower_feeds:FollowerFeeds._answer",
    "broker.runtime.replication.replica_fetchers:ReplicaFetcher._take",
    "broker.replication.leader_link:LeaderLink.answered",
    "broker.replication.leader_link:LeaderLink.next_plan",
    "broker.runtime.replication.isr_updater:IsrUpdater.consider",
    "broker.runtime.coordinators.coordinator_runtime:CoordinatorRuntime._on_high_watermark",
    "broker.runtime.delayed_fetches:DelayedFetches.wake",
)
_SELDOM = (
    "broker.runtime.replication.replica_fetchers:ReplicaFetchers._on_role",
    "broker.runtime.coordinators.coordinator_runtime:CoordinatorRuntime._on_role",
    "broker.runtime.replication.delayed_produces:DelayedProduces._on_role",
    "broker.runtime.replication.delayed_produces:DelayedProduces._sweep",
    "broker.runtime.replication.record_deletions:RecordDeletions.on_news",
    "broker.runtime.replication.repacking:Repacking._on_change",
    "broker.runtime.replication.isr_updater:IsrUpdater._decided",
    "broker.replication.partition:ReplicaPartition.isr_without_laggards",
    "broker.coordinator.group.coordinator:GroupCoordinator.tick",
    "broker.controller.controller:Controller.step",
    "broker.runtime.housekeeping:Housekeeping._flush_and_purge",
    "broker.runtime.housekeeping:Housekeeping._checkpoint",
    "broker.runtime.housekeeping:Housekeeping._note_high_watermarks",
    "broker.runtime.housekeeping:Housekeeping._retain",
    "broker.runtime.housekeeping:Housekeeping._expire_producers",
)


def message(site: str) -> str:
    """What is raised says where."""
    return f"thrown by a test at {site}"


class Throwing:
    """Wraps functions; looks for PLAN on a thread of its own."""

    def __init__(self, directory: Path):
        self._plan, self._thrown = directory / PLAN, directory / THROWN
        self._calls_left: dict[str, int] = {}
        self._lock = threading.Lock()
        self._sites: dict[str, int] = {}

    def start(self) -> None:
        threading.Thread(target=self._look, daemon=True, name="throw-plan").start()

    def wrap(self, site: str, function: Callable, calls: int) -> Callable:
        self._sites[site] = calls

        @functools.wraps(function)
        def wrapped(*arguments, **more):
            if self._calls_left and self._is_due(site):
                raise RuntimeError(message(site))
            return function(*arguments, **more)

        return wrapped

    def _look(self) -> None:
        while not self._plan.exists():
            time.sleep(_LOOK_EVERY_S)
        randomly = random.Random(self._plan.read_text())
        self._calls_left = {site: randomly.randint(1, calls) for site, calls in sorted(self._sites.items())}

    def _is_due(self, site: str) -> bool:
        with self._lock:
            left = self._calls_left[site] = self._calls_left[site] - 1
        if left or not self._plan.exists():
            return False
        with self._thrown.open("a") as thrown:
            thrown.write(site + "\n")
        return True


def _wrap_all(throwing: Throwing) -> None:
    handlers = [
        dataclasses.replace(
            handler, handle=throwing.wrap(f"handler of {handler.api.name}", handler.handle, _CALLS_OFTEN)
        )
        for handler in registry.HANDLERS
    ]
    dispatcher.HANDLERS = handlers
    for sites, calls in ((_OFTEN, _CALLS_OFTEN), (_SELDOM, _CALLS_SELDOM)):
        for site in sites:
            module, _, path = site.partition(":")
            class_name, _, method = path.partition(".")
            owner = getattr(importlib.import_module(module), class_name)
            setattr(owner, method, throwing.wrap(path, getattr(owner, method), calls))


def main() -> int:
    throwing = Throwing(Path(sys.argv[sys.argv.index("--config") + 1]).parent)
    _wrap_all(throwing)
    throwing.start()
    try:
        return server.main(sys.argv[1:])
    except StartupError as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())

"""Makes what runs on this worker what the configurations and its group say, and changes configurations when asked.

One thread decides, and waits for no plugin: they run on threads of their own.
"""

import functools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import ExitStack
from typing import Any

from broker.common.logs import logger
from broker.connect.api import SinkConnector
from broker.connect.group.wire import CONNECTOR, Unit
from broker.connect.herder.collaborators import Alone, Fences, Signs, WorkerMembership
from broker.connect.herder.connector import RunningConnector
from broker.connect.herder.descriptions import connector_info, connector_status
from broker.connect.herder.errors import ChangedMeanwhile, Conflict, NotFound, NotGroupLeader, RequestRefused
from broker.connect.herder.offset_stores import OffsetStores
from broker.connect.herder.task_configs import published, translated
from broker.connect.herder.validation import connector_class
from broker.connect.levels import Levels
from broker.connect.redaction import Redaction, redacting
from broker.connect.settings import WorkerSettings
from broker.connect.storage import records
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.leader_writer import LeaderWriter
from broker.connect.storage.logs import StorageLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.records import Record
from broker.connect.storage.states import States
from broker.connect.tasks.exactly_once_source import RunningExactlyOnceSource
from broker.connect.tasks.sink_task import RunningSink
from broker.connect.tasks.source_task import RunningSource
from broker.connect.tasks.unit import RunningUnit
from broker.connect.traces import error_text

#: How long a request may take (A1).
REQUEST_TIMEOUT_S = 90.0
_log = logger("broker.connect")


class Herder:
    def __init__(
        self,
        settings: WorkerSettings,
        worker_id: str,
        configurations: Configurations,
        states: States,
        offsets: StoredOffsets,
    ):
        self.settings = settings
        self.worker_id = worker_id
        #: How workers of the group ask one another.
        self.scheme = "http"
        self.configurations, self.states, self.offsets = configurations, states, offsets
        self.group: WorkerMembership = Alone()
        self.fencing: Fences
        #: None: there are no other workers.
        self.sessions: Signs | None = None
        self.levels = Levels()
        self.publish_to_leader: Callable[[str, str, list[dict[str, str]]], None] | None = None
        self.config_log: StorageLog
        #: Writes what only the leader writes; None where sources are not exactly once, and `config_log` does.
        self.leader_writer: LeaderWriter | None = None
        self.state_log: StorageLog
        self.offset_log: StorageLog
        self.offset_stores = OffsetStores(settings, offsets, lambda: self.offset_log)
        self._assigned: frozenset[Unit] | None = None
        self._running: dict[Unit, tuple[Any, RunningUnit]] = {}
        self._waits_for_group = False
        self._queue: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="herder", daemon=True)

    # --- its thread

    def start(self, assigned: Iterable[Unit] | None = None) -> None:
        """Start the assigned units; None: everything that is configured, always."""
        self._assigned = None if assigned is None else frozenset(assigned)
        self._thread.start()
        self.submit(self._reconcile)

    def stop(self) -> None:
        """Stop every unit; those that hang are left behind."""
        self.submit(lambda: self._stop(list(self._running)))
        self._queue.put(None)
        self._thread.join()

    def submit(self, call: Callable[[], Any]) -> "Future[Any]":
        done: Future[Any] = Future()
        self._queue.put((call, done))
        return done

    def call(self, call: Callable[[], Any]) -> Any:
        """Run `call` on the herder's thread. Raises what it raises, or Refused when the thread is busy for too long."""
        try:
            return self.submit(call).result(REQUEST_TIMEOUT_S)
        except NotInTime:
            raise RequestRefused("Request timed out. The worker is busy with another operation") from None

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            call, done = item
            try:
                done.set_result(call())
            except Exception as error:  # whoever asked is told, and the herder lives on
                if not isinstance(error, RequestRefused):
                    _log.exception("herder's operation failed")
                done.set_exception(error)

    # --- what the logs and the group tell

    def on_config(self, key: bytes | None, value: bytes | None, offset: int) -> None:
        """Take over a record on the log's thread. Added or removed units concern the whole group."""
        is_live = self._thread.is_alive()
        if is_live and (restart := records.restart_asked(key, value)):
            self.submit(lambda: self._restart_here(*restart))
        if is_live and (level := records.logger_level(key, value)):
            self.levels.set(*level)
        before = self.configurations.units()
        if self.configurations.apply(key, value, offset) is None:
            return
        if self.configurations.units() != before:
            self.group.rejoin()
        self.submit(self._reconcile)

    def run_only(self, units: frozenset[Unit]) -> "Future[Any]":
        """Stop all units but these. The future completes when they have stopped."""

        def change() -> None:
            self._assigned = units
            self._reconcile()

        return self.submit(change)

    def heard(self) -> None:
        """Called when the group has answered: units that waited for it begin."""
        if self._waits_for_group:
            self.submit(self._reconcile)

    # --- units

    def _reconcile(self) -> None:
        wanted = {unit: self._signature(unit) for unit in self._mine()}
        gone = [unit for unit, (signature, _) in self._running.items() if wanted.get(unit) != signature]
        self._stop(gone)
        self._waits_for_group = not self.group.holds()
        if self._waits_for_group:
            return
        for unit, signature in wanted.items():
            target = self.configurations.target(unit.connector)
            if unit not in self._running:
                if target == "STOPPED":
                    continue
                self._begin(unit, signature, target == "PAUSED")
            else:
                running = self._running[unit][1]
                if running.is_paused is not (target == "PAUSED") and not running.failed:
                    running.pause() if target == "PAUSED" else running.resume()

    def _mine(self) -> Iterable[Unit]:
        units = self.configurations.units()
        mine = units if self._assigned is None else units & self._assigned
        stopped = {unit for unit in mine if self.configurations.target(unit.connector) == "STOPPED"}
        for unit in stopped:
            if unit.is_connector:
                known = self.states.states.get((unit.connector, None))
                if unit in self._running or known is None or known.state != "STOPPED":
                    self._stop([unit])
                    self.tell(unit, "STOPPED", None)
        return sorted(mine - stopped)

    def _signature(self, unit: Unit) -> Any:
        config = self.configurations.connectors.get(unit.connector)
        if unit.is_connector:
            return config
        own = self.configurations.tasks[unit.connector][unit.task]
        # Once: a new configuration fences all producers of the one before, also of tasks that are as they were.
        count = self.configurations.generations.get(unit.connector) if self.settings.is_exactly_once else None
        return config, own, count

    def _begin(self, unit: Unit, signature: Any, is_paused: bool) -> None:
        with ExitStack() as stack:
            try:
                redaction = self.redaction_of(*unit)
                stack.enter_context(redacting(redaction))
                running = self._make(unit, is_paused, redaction)
            except Exception as error:  # a plugin that cannot be found or made: this unit's failure alone
                self.tell(unit, "FAILED", error_text(error))
                return
        self._running[unit] = signature, running
        running.begin()

    def redaction_of(self, name: str, task: int = CONNECTOR) -> Redaction:
        """Return what hides the values of the references of a connector and one of its tasks. Raises ConfigError."""
        of_task = self.configurations.tasks[name][task] if task != CONNECTOR else {}
        return Redaction(self.settings.providers.resolve, self.configurations.connectors.get(name, {}), of_task)

    def _make(self, unit: Unit, is_paused: bool, redaction: Redaction) -> RunningUnit:
        resolve = self.settings.providers.resolve
        raw = self.configurations.connectors[unit.connector]
        props = resolve(raw)
        if unit.is_connector:
            return RunningConnector(
                unit, self.tell, is_paused, props=translated(props), redaction=redaction,
                publish=lambda name, tasks: self.publish_tasks(name, published(tasks, raw, props)),
            )  # fmt: skip
        cls = connector_class(props)
        of_task = self.configurations.tasks[unit.connector][unit.task]
        own = translated({**props, **resolve(of_task)})
        settings = self.settings
        common: dict[str, Any] = {
            "task": cls.task_class,
            "props": own,
            "redaction": redaction,
            "worker_props": settings.props,
            "producer": settings.producer(unit.connector, unit.task, props),
            "admin": settings.admin(unit.connector, unit.task, props),
            "holds": self.group.holds,
            "used": self._used,
            "flush_interval_s": settings.offset_flush_interval_ms / 1000,
        }
        if issubclass(cls, SinkConnector):
            consumer = settings.consumer(unit.connector, unit.task, props)
            connect = functools.partial(settings.cluster_of, "consumer", props)
            return RunningSink(unit, self.tell, is_paused, consumer=consumer, connect=connect, **common)
        common |= {
            "offsets": self.offset_stores.of(unit.connector, props),
            "makes_topics": settings.topic_creation_enable,
            "flush_timeout_s": settings.offset_flush_timeout_ms / 1000,
        }
        if settings.is_exactly_once:
            generation = self.configurations.generations.get(unit.connector, 0)
            common |= {
                "producer": settings.transactional_producer(unit.connector, unit.task, props),
                "fence": self.fencing.ask,
                "is_current": lambda: self.fencing.require_current(unit, generation),
            }
            return RunningExactlyOnceSource(unit, self.tell, is_paused, **common)
        return RunningSource(unit, self.tell, is_paused, **common)

    def _stop(self, units: list[Unit]) -> None:
        stopping = [self._running.pop(unit)[1] for unit in units if unit in self._running]
        for running in stopping:
            running.ask_to_stop()
        deadline = time.monotonic() + self.settings.task_shutdown_graceful_timeout_ms / 1000
        for running in stopping:
            running.await_stop(max(deadline - time.monotonic(), 0))

    def tell(self, unit: Unit, state: str, trace: str | None) -> None:
        """Note a state. Safe to call from any thread."""
        task = None if unit.is_connector else unit.task
        generation = self.group.generation
        is_ending = state in ("UNASSIGNED", "FAILED")
        if unit.connector not in self.configurations.connectors:
            return
        if is_ending and not self.states.may_write((unit.connector, task), self.worker_id, generation):
            return
        self.state_log.post([records.status_record(unit.connector, task, state, self.worker_id, generation, trace)])

    def _used(self, unit: Unit, topic: str) -> None:
        if self.settings.topic_tracking_enable and topic not in self.states.topics.get(unit.connector, ()):
            now_ms = int(time.time() * 1000)
            self.state_log.post([records.topic_record(topic, unit.connector, unit.task, now_ms)])

    # --- changes, asked by REST

    def require(self, name: str, missing: str = "Connector {} not found") -> dict[str, str]:
        """Raises NotFound."""
        if (config := self.configurations.connectors.get(name)) is None:
            raise NotFound(missing.format(name))
        return config

    def resolved(self, name: str) -> dict[str, str]:
        """Return the configuration that plugins get, references resolved. Raises NotFound, ConfigError."""
        return self.settings.providers.resolve(self.require(name))

    def _require_leader(self) -> None:
        if not self.group.is_leader:
            raise NotGroupLeader(self.group.leader_url)

    def write_as_leader(self, written: list[Record]) -> None:
        """Keep what only the group's leader writes, and apply it here. Raises NotGroupLeader, StorageError."""
        self._require_leader()
        if self.leader_writer is None:
            self.config_log.put(written)
            return
        self.leader_writer.put(written, self._require_leader)
        self.config_log.read_to_end(waits_for_open=True)

    def put_config(
        self,
        name: str,
        config: dict[str, str],
        *,
        target: str | None,
        may_exist: bool,
        base: Mapping[str, str] | None = None,
    ) -> bool:
        """Return whether it is new. Validated by whoever asks.

        base: the configuration that `config` was derived from, if it was. Raises ChangedMeanwhile for another one.
        """

        def change() -> bool:
            self._require_leader()
            if base is not None and self.configurations.connectors.get(name) != base:
                raise ChangedMeanwhile(name)
            is_new = name not in self.configurations.connectors
            if not is_new and not may_exist:
                raise Conflict(f"Connector {name} already exists")
            written = [records.target_record(name, target)] if target else []
            self.write_as_leader([*written, records.connector_record(name, config)])
            return is_new

        return bool(self.call(change))

    def delete(self, name: str) -> None:
        def change() -> None:
            self._require_leader()
            self.require(name)
            self.write_as_leader([records.connector_record(name, None), records.target_record(name, None)])
            gone = [who for who in list(self.states.states) if who[0] == name]
            self._reconcile()
            self.state_log.post([records.status_record(n, task, "DESTROYED", "", 0) for n, task in gone])
            self.forget_topics(name)

        self.call(change)

    def set_target(self, name: str, target: str) -> None:
        """Set the target state, PAUSED or STARTED; any worker may write it."""
        self.require(name, "Unknown connector {}")
        self.config_log.put([records.target_record(name, target)])

    def stop_connector(self, name: str) -> None:
        """Delete the task configurations, then set the state, so that no worker runs a stopped connector (KIP-875)."""

        def change() -> None:
            self._require_leader()
            self.require(name, "Unknown connector {}")
            self.write_as_leader([*records.task_records(name, []), records.target_record(name, "STOPPED")])

        self.call(change)

    def publish_tasks(self, name: str, configs: list[dict[str, str]]) -> "Future[Any] | None":
        """Write changed task configurations; called on a connector's thread. None: it is done.

        A future is not waited for: the herder may be waiting for this very thread to end.
        """
        if configs == self.configurations.tasks.get(name) and name not in self.configurations.inconsistent:
            return None
        if not self.group.is_leader and self.publish_to_leader is not None:
            self.publish_to_leader(self.group.leader_url, name, configs)
            return None
        return self.put_tasks(name, configs)

    def put_tasks(self, name: str, configs: list[dict[str, str]]) -> "Future[Any]":
        def change() -> None:
            self._require_leader()
            self.require(name)
            if self.configurations.target(name) != "STOPPED":
                self.write_as_leader(records.task_records(name, configs))

        return self.submit(change)

    def restart(self, name: str, *, includes_tasks: bool, only_failed: bool) -> None:
        """Request a restart; every worker reads that and restarts its own units."""
        self.require(name, "Unknown connector: {}")
        if not includes_tasks and not only_failed:
            self._restart_one(Unit(name, CONNECTOR))
            return
        self.config_log.put([records.restart_record(name, includes_tasks=includes_tasks, only_failed=only_failed)])
        self.call(lambda: None)

    def restart_task(self, name: str, task: int) -> None:
        self.require(name, "Unknown connector: {}")
        if Unit(name, task) not in self.configurations.units():
            raise NotFound(f"Unknown task: {name}-{task}")
        self._restart_one(Unit(name, task))

    def _restart_one(self, unit: Unit) -> None:
        """Raises NotLeader with the address of the worker that runs it."""

        def change() -> None:
            if unit not in self._running and self._assigned is not None and unit not in self._assigned:
                known = self.states.states.get((unit.connector, None if unit.is_connector else unit.task))
                raise NotGroupLeader(
                    f"{self.scheme}://{known.worker_id}/" if known and known.worker_id != self.worker_id else ""
                )
            self._restart([unit])

        self.call(change)

    def _restart_here(self, name: str, includes_tasks: bool, only_failed: bool) -> None:
        units = [u for u in self._running if u.connector == name and (u.is_connector or includes_tasks)]
        self._restart([u for u in units if not only_failed or self._running[u][1].failed])

    def _restart(self, units: list[Unit]) -> None:
        for unit in units:
            _log.info("restarted", connector=unit.connector, task=unit.task)
            self.tell(unit, "RESTARTING", None)
        self._stop(units)
        self._reconcile()

    def forget_topics(self, name: str) -> None:
        topics = sorted(self.states.topics.get(name, ()))
        self.state_log.post([(f"status-topic-{topic}:connector-{name}".encode(), None) for topic in topics])

    # --- what is told

    def info(self, name: str) -> dict[str, Any]:
        return connector_info(name, self.require(name), self.configurations)

    def status(self, name: str) -> dict[str, Any]:
        config = self.require(name, "No status found for connector {}")
        return connector_status(name, config, self.configurations, self.states)

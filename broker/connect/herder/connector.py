"""A connector on its thread: started, asked for its tasks' configurations, and asked again when it says so."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http.client import HTTPException
from typing import Any

from broker.common.backoff import Backoff
from broker.common.logs import logger
from broker.common.security_limits import CONNECTOR_TASKS_MAX
from broker.connect.api import ConnectError, SinkConnector
from broker.connect.group.wire import Unit
from broker.connect.herder.validation import connector_class
from broker.connect.plugins import task_name
from broker.connect.redaction import NO_REFERENCES, Redaction
from broker.connect.tasks.unit import RunningUnit, Tell
from broker.connect.traces import error_text

#: Between two attempts to tell the leader (A6).
_PAUSE_FIRST_S, _PAUSE_MAX_S = 0.25, 60.0
_log = logger("broker.connect")


class RunningConnector(RunningUnit):
    """The context of its connector, too. `publish` is told its tasks' configurations, on this thread."""

    def __init__(
        self,
        unit: Unit,
        tell: Tell,
        is_paused: bool,
        *,
        props: Mapping[str, str],
        publish: Callable[[str, list[dict[str, str]]], "Future[Any] | None"],
        redaction: Redaction = NO_REFERENCES,
    ):
        super().__init__(unit, tell, is_paused, redaction)
        self._props = props
        self._publish = publish
        self._wanted = threading.Event()
        self._error: Exception | None = None
        self._unpublished: BaseException | None = None
        self._backoff = Backoff(_PAUSE_FIRST_S, _PAUSE_MAX_S)

    def request_task_reconfiguration(self) -> None:
        self._wanted.set()

    def raise_error(self, error: Exception) -> None:
        self._error = error
        self._wanted.set()

    def interrupt(self) -> None:
        self._wanted.set()

    def run(self) -> None:
        self._error = None
        cls = connector_class(self._props)
        connector = cls()
        connector.start(self._props, self)
        try:
            self.say("PAUSED" if self.is_paused else "RUNNING")
            self._wanted.set()
            self._watch(connector, cls)
        finally:
            connector.stop()
        self.say("UNASSIGNED")

    def pause(self) -> None:
        super().pause()
        self._wanted.set()

    def resume(self) -> None:
        super().resume()
        self._wanted.set()

    def _watch(self, connector: object, cls: type) -> None:
        while not self.stopping.is_set():
            self._wanted.wait()
            self._wanted.clear()
            if self._error is not None:
                raise self._error
            self._rest_if_unpublished()
            if self.stopping.is_set():
                return
            if self.is_paused:
                self.wait_while_paused()
                continue
            # One that was stored before there was a bound would end every worker that runs it.
            at_most = min(int(self._props.get("tasks.max", "1")), CONNECTOR_TASKS_MAX)
            configs = connector.task_configs(at_most)  # type: ignore[attr-defined]  # each connector has it
            if len(configs) > at_most and self._props.get("tasks.max.enforce", "true").lower() != "false":
                raise ConnectError(
                    f"The connector {self.unit.connector} has generated {len(configs)} tasks, which is greater than "
                    f"{at_most}, the maximum number of tasks it is configured to create."
                )
            named = (
                {}
                if not issubclass(cls, SinkConnector)
                else {key: self._props[key] for key in ("topics", "topics.regex") if key in self._props}
            )
            self._publish_or_try_again([{**config, **named, "task.class": task_name(cls)} for config in configs])

    def _publish_or_try_again(self, configs: list[dict[str, str]]) -> None:
        """Publish task configs, or schedule another try: a changed leader or brokers that are away are no failure of
        the connector.
        """
        try:
            done = self._publish(self.unit.connector, configs)
        except (ConnectError, OSError, HTTPException) as error:
            self._is_unpublished(error)
            return
        if done is None:
            self._backoff.succeed()
        else:
            done.add_done_callback(self._published)

    def _published(self, done: "Future[Any]") -> None:
        """On the thread of whoever writes."""
        if (error := done.exception()) is None:
            self._backoff.succeed()
        else:
            self._is_unpublished(error)

    def _is_unpublished(self, error: BaseException) -> None:
        self._unpublished = error
        self._wanted.set()

    def _rest_if_unpublished(self) -> None:
        error, self._unpublished = self._unpublished, None
        if error is not None and not self.stopping.is_set():
            _log.warning("tasks not published yet", connector=self.unit.connector, reason=error_text(error))
            self.stopping.wait(self._backoff.fail())

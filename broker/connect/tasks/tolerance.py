"""What becomes of a record that cannot be handled: retried, left out, or the end of its task (`errors.*`)."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

from broker.common.backoff import Backoff
from broker.common.logs import logger
from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectError, Importance, RetriableError
from broker.connect.api.config import OneOf
from broker.connect.traces import error_text

_log = logger("broker.connect")
_RETRY_FIRST_MS = 300
ERROR_KEYS = ConfigDef(
    ConfigKey("errors.retry.timeout", ConfigType.LONG, 0, Importance.MEDIUM, "How long to retry, ms; -1: for ever."),
    ConfigKey("errors.retry.delay.max.ms", ConfigType.LONG, 60_000, Importance.MEDIUM, "Longest pause of retries."),
    ConfigKey(
        "errors.tolerance",
        ConfigType.STRING,
        "none",
        Importance.MEDIUM,
        "Whether records that cannot be handled are left out (all) or end their task (none).",
        OneOf("none", "all", is_exact=True),
    ),
    ConfigKey("errors.log.enable", ConfigType.BOOLEAN, False, Importance.MEDIUM, "Whether each is logged."),
    ConfigKey("errors.log.include.messages", ConfigType.BOOLEAN, False, Importance.MEDIUM, "With its place."),
)


@dataclass(frozen=True)
class RecordFailure:
    """One record's own, never shared (KAFKA-16087)."""

    stage: str
    executing: str
    error: Exception


class Tolerance:
    def __init__(self, props: Mapping[str, Any], stopping: Event):
        """Raises ConfigError."""
        values = ERROR_KEYS.parse(props)
        self.tolerates = values["errors.tolerance"].lower() == "all"
        self.logs = values["errors.log.enable"]
        self._timeout_ms = values["errors.retry.timeout"]
        self._delay_max_ms = values["errors.retry.delay.max.ms"]
        self._stopping = stopping

    def retry(self, call: Callable[[], Any], error: RetriableError) -> Any:
        """Retry `call` and return its result; re-raise its last error when time is up or the task is stopped."""
        deadline = time.monotonic() + self._timeout_ms / 1000
        backoff = Backoff(_RETRY_FIRST_MS, self._delay_max_ms, spreads=True)
        while not self._stopping.is_set() and (self._timeout_ms < 0 or time.monotonic() < deadline):
            self._stopping.wait(backoff.fail() / 1000)
            try:
                return call()
            except RetriableError as again:
                error = again
        raise error

    def leave_out(
        self, connector: str, task: int, place: str, failure: RecordFailure, ends: type[ConnectError] = ConnectError
    ) -> None:
        """Skip the record at `place`. Raises `ends` if its error fails the task."""
        if not self.tolerates:
            raise ends(
                f"Tolerance exceeded in error handler: {failure.stage} by {failure.executing} of the record at {place}"
            ) from failure.error
        if self.logs:
            _log.error(
                "record left out", connector=connector, task=task, stage=failure.stage, place=place,
                reason=error_text(failure.error),
            )  # fmt: skip

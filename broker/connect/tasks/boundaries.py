"""Where the transactions of an exactly-once source end (KIP-618). Pure: the clock's time is told."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from broker.common.topic_names import is_topic_name
from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, Importance, SourceRecord
from broker.connect.api.config import OneOf, between, not_empty

BOUNDARY = "transaction.boundary"
INTERVAL = "transaction.boundary.interval.ms"
OWN_TOPIC = "offsets.storage.topic"


def _is_topic(name: str, value: str) -> None:
    not_empty(name, value)
    if not is_topic_name(value):
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: no name of a topic")


KEYS = ConfigDef(
    ConfigKey(
        "exactly.once.support",
        ConfigType.STRING,
        "requested",
        Importance.MEDIUM,
        "Whether the connector is refused if it cannot promise that each record is written once.",
        OneOf("REQUIRED", "REQUESTED"),
    ),
    ConfigKey(
        BOUNDARY,
        ConfigType.STRING,
        "poll",
        Importance.MEDIUM,
        "What a transaction holds: a poll, all of an interval, or what the connector says.",
        OneOf("INTERVAL", "POLL", "CONNECTOR"),
    ),
    ConfigKey(INTERVAL, ConfigType.LONG, None, Importance.LOW, "That interval; offset.flush.interval.ms.", between(1)),
    ConfigKey(OWN_TOPIC, ConfigType.STRING, None, Importance.LOW, "A topic of its own for source offsets.", _is_topic),
)


class TransactionEnd(Enum):
    NOT_YET = 0
    COMMIT = 1
    #: The records are gone, and their source offsets are kept all the same.
    ABORT = 2


class Boundaries:
    """What a connector with `transaction.boundary=connector` is handed, too: its `transaction_context`."""

    def __init__(self, props: Mapping[str, Any], flush_interval_s: float):
        """Raises ConfigError."""
        values = KEYS.parse(props)
        self._kind: str = values[BOUNDARY].lower()
        interval_ms = values[INTERVAL]
        self._interval_s = flush_interval_s if interval_ms is None else interval_ms / 1000
        self._due_at: float | None = None
        self._of_batch = TransactionEnd.NOT_YET
        self._of_records: dict[int, TransactionEnd] = {}

    @property
    def context(self) -> "Boundaries | None":
        return self if self._kind == "connector" else None

    @property
    def ends_with_task(self) -> bool:
        """Whether what is open is committed when the task stops; else the connector has not finished it."""
        return self._kind != "connector"

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        self._say(TransactionEnd.COMMIT, record)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        self._say(TransactionEnd.ABORT, record)

    def _say(self, end: TransactionEnd, record: SourceRecord | None) -> None:
        if record is None:
            self._of_batch = end
        else:
            self._of_records[id(record)] = end

    def behind(self, record: SourceRecord) -> TransactionEnd:
        return self._of_records.pop(id(record), TransactionEnd.NOT_YET)

    def behind_batch(self, now_s: float) -> TransactionEnd:
        """Return how the transaction ends after a batch, which may be empty."""
        if self._kind == "poll":
            return TransactionEnd.COMMIT
        if self._kind == "connector":
            end, self._of_batch = self._of_batch, TransactionEnd.NOT_YET
            self._of_records.clear()
            return end
        if self._due_at is None:
            self._due_at = now_s + self._interval_s
        if now_s < self._due_at:
            return TransactionEnd.NOT_YET
        self._due_at = now_s + self._interval_s
        return TransactionEnd.COMMIT

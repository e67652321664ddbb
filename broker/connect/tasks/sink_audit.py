"""What a sink has put and flushed, told to the message audit: which offsets, and how each record of them ended.

Told before the offsets are committed, as consumers do: whoever is killed in between reads them again, and what it tells
replaces this. That the audit is in trouble is never the sink's: what cannot be told now is told with the next, and
what cannot be kept until then is unknown to the verdict, and not lost.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from broker.audit.hook import counted, now_ms
from broker.audit.increment import AUDIT_TOPIC, DEAD, FILTERED, LEFT_OUT, Increment, Tier
from broker.audit.pending import ARRIVED, Pending
from broker.audit.reporter import Reporter
from broker.audit.tally import WINDOW_MS
from broker.common.logs import logger
from broker.common.types import TopicPartition as CountedPartition
from broker.connect.api import ConfigDef, ConfigKey, ConfigType, Importance, TopicPartition
from broker.connect.tasks.tolerance import Failure

_log = logger("broker.connect")
ENABLED = "audit.enable"
KEYS = ConfigDef(
    ConfigKey(
        ENABLED,
        ConfigType.BOOLEAN,
        None,
        Importance.LOW,
        "Whether what is put and flushed is told to the message audit; as the worker says.",
    ),
)
#: Increments that wait for their acknowledgement; each has 100 bytes for a window of its records.
_UNSENT_MAX = 500
_FLUSH_S = 5.0
_WARN_EVERY_S = 60.0


class SinkAudit:
    """Of one task, on its thread. `has_dead_letters`: records that are given up go into a topic of their own."""

    def __init__(self, connector: str, producer: Mapping[str, Any], *, has_dead_letters: bool):
        self._reporter = Reporter(Tier.SUNK, connector, uuid.uuid4().hex, WINDOW_MS)
        self._pending = Pending()
        self._given_up = DEAD if has_dead_letters else LEFT_OUT
        self._producer = Producer({**producer, "message.timeout.ms": 60_000})
        #: Where the next increment of a partition begins.
        self._starts: dict[TopicPartition, int] = {}
        self._unsent: dict[bytes, Increment] = {}
        self._warn_at = 0.0

    def assigned(self, committed: Mapping[TopicPartition, int]) -> None:
        """Where the group is, of partitions that have come."""
        self._starts |= {partition: offset for partition, offset in committed.items() if offset >= 0}

    def read(self, message: Any, outcome: object) -> None:
        """`outcome`: what the pipeline made of it; a record, a failure, or None of one that a transform left out."""
        partition = CountedPartition(message.topic(), message.partition())
        kind = FILTERED if outcome is None else self._given_up if isinstance(outcome, Failure) else ARRIVED
        self._starts.setdefault(TopicPartition(*partition), message.offset())
        self._pending.add(partition, counted(message), kind)

    def reported(self, message: Any) -> None:
        """The task itself gave it up, when it was put."""
        self._pending.mark(CountedPartition(message.topic(), message.partition()), message.offset(), self._given_up)

    def went_back(self, partition: TopicPartition, offset: int) -> None:
        """The task goes on from there, wherever it was; what it leaves out is missing."""
        self._pending.rewind(CountedPartition(*partition), offset)
        if offset < self._starts.get(partition, offset):
            self._starts[partition] = offset

    def tell(self, safe: Mapping[TopicPartition, int]) -> None:
        """All before these offsets has come to its end."""
        at_ms = now_ms()
        for partition, offset in safe.items():
            told = self._pending.take(CountedPartition(*partition), offset, at_ms)
            if told is not None:
                increment = self._reporter.tell(
                    CountedPartition(*partition),
                    told.windows,
                    at_ms,
                    offsets=(self._starts[partition], told.end),
                    aside=told.aside,
                    latencies=told.latencies,
                )
                self._starts[partition] = told.end
                self._unsent[increment.to_bytes()] = increment
        self._send()

    def gone(self, partition: TopicPartition) -> None:
        self._pending.forget(CountedPartition(*partition))
        self._starts.pop(partition, None)

    def close(self) -> None:
        self._producer.flush(_FLUSH_S)

    def _send(self) -> None:
        while len(self._unsent) > _UNSENT_MAX:
            del self._unsent[next(iter(self._unsent))]
        try:
            for data, increment in list(self._unsent.items()):
                self._producer.produce(AUDIT_TOPIC, data, increment.key(), on_delivery=self._settling(data))
            self._producer.flush(_FLUSH_S)
        except (BufferError, KafkaException) as error:
            self._warn(str(error))
        if self._unsent:
            self._warn(f"{len(self._unsent)} increments are not acknowledged")

    def _settling(self, data: bytes) -> Callable[[Any, Any], None]:
        def settle(error: Any, _message: Any) -> None:
            if error is None:
                self._unsent.pop(data, None)

        return settle

    def _warn(self, reason: str) -> None:
        if time.monotonic() >= self._warn_at:
            self._warn_at = time.monotonic() + _WARN_EVERY_S
            _log.warning("audit not told", reason=reason)

"""What a sink has put and flushed, told to the message audit: which offsets, and how each record of them ended.

Told before the offsets are committed, as consumers do: whoever is killed in between reads them again, and what it tells
replaces this. That the audit is in trouble is never the sink's: what cannot be told now is told with the next, and
what cannot be kept until then is unknown to the verdict, and not lost.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from broker.audit.hook import counted, now_ms
from broker.audit.increment import DEAD, FILTERED, LEFT_OUT, AuditTier
from broker.audit.pending import ARRIVED, Pending
from broker.audit.reporter import SourceReporter
from broker.audit.sender import IncrementSender
from broker.audit.tally import WINDOW_MS
from broker.common.types import TopicPartition as CountedPartition
from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectPartition, Importance
from broker.connect.tasks.tolerance import RecordFailure

ENABLED = "audit.enable"
KEYS = ConfigDef(
    ConfigKey(
        ENABLED,
        ConfigType.BOOLEAN,
        None,
        Importance.LOW,
        "Whether put and flushed records are counted for the message audit; default: the worker's setting.",
    ),
)


def is_enabled(props: Mapping[str, Any], worker_props: Mapping[str, Any]) -> bool:
    """Return the connector's setting, else the worker's. Raises ConfigError."""
    switches = (KEYS.parse(mapping)[ENABLED] for mapping in (props, worker_props))
    return bool(next((value for value in switches if value is not None), False))


class SinkAudit:
    """Counts records of one task, on its thread. `has_dead_letters`: failed records go into a topic of their own."""

    def __init__(self, connector: str, producer: Mapping[str, Any], *, has_dead_letters: bool):
        self._reporter = SourceReporter(AuditTier.SUNK, connector, uuid.uuid4().hex, WINDOW_MS)
        self._pending = Pending()
        self._given_up = DEAD if has_dead_letters else LEFT_OUT
        self._sender = IncrementSender(producer)
        #: Where the next increment of a partition begins.
        self._starts: dict[ConnectPartition, int] = {}

    def assigned(self, committed: Mapping[ConnectPartition, int]) -> None:
        """Note the group's committed offsets of newly assigned partitions."""
        self._starts |= {partition: offset for partition, offset in committed.items() if offset >= 0}

    def read(self, message: Any, outcome: object) -> None:
        """Note a read record. `outcome`: what the pipeline made of it; a record, a failure, or None if a transform left
        it out.
        """
        partition = CountedPartition(message.topic(), message.partition())
        kind = FILTERED if outcome is None else self._given_up if isinstance(outcome, RecordFailure) else ARRIVED
        self._starts.setdefault(ConnectPartition(*partition), message.offset())
        self._pending.add(partition, counted(message), kind)

    def reported(self, message: Any) -> None:
        """Note that the task itself reported the record as failed."""
        self._pending.mark(CountedPartition(message.topic(), message.partition()), message.offset(), self._given_up)

    def went_back(self, partition: ConnectPartition, offset: int) -> None:
        """Note that the task goes on from `offset`; records it skips count as missing."""
        self._pending.rewind(CountedPartition(*partition), offset)
        if offset < self._starts.get(partition, offset):
            self._starts[partition] = offset

    def tell(self, safe: Mapping[ConnectPartition, int]) -> None:
        """Report all records before these offsets as processed."""
        at_ms, increments = now_ms(), []
        for partition, offset in safe.items():
            report = self._pending.take(CountedPartition(*partition), offset, at_ms)
            if report is not None:
                increment = self._reporter.tell(
                    CountedPartition(*partition),
                    report.windows,
                    at_ms,
                    offsets=(self._starts[partition], report.end),
                    aside=report.aside,
                    latencies=report.latencies,
                )
                self._starts[partition] = report.end
                increments.append(increment)
        self._sender.send(increments)

    def gone(self, partition: ConnectPartition) -> None:
        self._pending.forget(CountedPartition(*partition))
        self._starts.pop(partition, None)

    def close(self) -> None:
        self._sender.close()

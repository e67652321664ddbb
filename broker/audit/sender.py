"""Sends increments for a busy caller: what is not acknowledged is sent again with the next, within bounds.

Whoever copies or writes records must not stand still because the audit does. What cannot be kept until it is taken is
dropped: its offsets are a gap then, of which the verdict says UNKNOWN and never MISSING.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from broker.audit.increment import AUDIT_TOPIC, Increment
from broker.common.logs import logger
from broker.common.quiet_clients import with_quiet_logging

_log = logger("broker.audit")
#: Increments that wait to be sent again; each has 100 bytes for a window of its records.
_UNSENT_MAX = 500
_GIVEN_UP_MS = 30_000
#: How long the sender waits; rather less than anybody's patience with who calls it.
_FLUSH_S = 5.0
_WARN_EVERY_S = 60.0


class IncrementSender:
    """Sends from one thread. An increment whose delivery is unknown is sent again under its id: it counts once."""

    def __init__(self, config: Mapping[str, Any]):
        self._producer = Producer(with_quiet_logging({**config, "acks": "all", "message.timeout.ms": _GIVEN_UP_MS}))
        self._waiting: dict[bytes, Increment] = {}
        self._under_way: dict[bytes, Increment] = {}
        self._warn_at = 0.0

    def send(self, increments: Iterable[Increment]) -> None:
        """Returns when they are acknowledged, or some seconds later; at once while others have not been yet."""
        self._producer.poll(0)
        is_well = not self._under_way and not self._waiting
        self._waiting |= {increment.to_bytes(): increment for increment in increments}
        while len(self._waiting) > _UNSENT_MAX:
            del self._waiting[next(iter(self._waiting))]
        try:
            for data, increment in list(self._waiting.items()):
                self._producer.produce(AUDIT_TOPIC, data, increment.key(), on_delivery=self._settling(data))
                self._under_way[data] = self._waiting.pop(data)
        except (BufferError, KafkaException) as error:
            self._warn(str(error))
        if self._under_way and self._producer.flush(_FLUSH_S if is_well else 0):
            self._warn(f"{len(self._under_way)} increments are not acknowledged")

    def close(self) -> None:
        self._producer.flush(_FLUSH_S)

    def _settling(self, data: bytes) -> Callable[[Any, Any], None]:
        def settle(error: Any, _message: Any) -> None:
            increment = self._under_way.pop(data)
            if error is not None:
                self._waiting[data] = increment
                self._warn(error.str())

        return settle

    def _warn(self, reason: str) -> None:
        if time.monotonic() >= self._warn_at:
            self._warn_at = time.monotonic() + _WARN_EVERY_S
            _log.warning("audit increments not sent", reason=reason)
